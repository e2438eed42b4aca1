//! The page that messengers and networks read to show a link with title, text and picture.

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use signpost_domain::app::App;
use signpost_domain::link::Route;

use super::send;

/// Crawlers read the beginning of a page only; this much is safe with all of them.
const MAX_BYTES: usize = 32 * 1024;
/// What X shows of a description, and about what everybody else does.
const SHORT: usize = 200;

#[derive(Template)]
#[template(path = "preview.html")]
struct Preview<'a> {
    url: &'a str,
    site: &'a str,
    title: &'a str,
    /// Whole, as far as there is room.
    description: Option<Cow<'a, str>>,
    short_description: Option<Cow<'a, str>>,
    image: Option<&'a str>,
    /// Whether the picture is named a second time, for X, which reads the first one too.
    repeats_image: bool,
}

/// The preview of a link whose public URL is `url`.
///
/// It names that URL, never a target: what is shown is what is shared, and a crawler that follows
/// a target would show the target's page. A person who is taken for a crawler finds a way on in
/// the link's inspection.
pub(crate) fn preview(app: &App, route: &Route, url: &str) -> HttpResponse {
    match render(app, route, url) {
        Ok(html) => send(StatusCode::OK, html),
        Err(_) => HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn render(app: &App, route: &Route, url: &str) -> askama::Result<String> {
    let site = app.name.as_str();
    let description = route.og_description.as_ref().map(|text| text.as_str());
    let mut preview = Preview {
        url,
        site,
        title: route.og_title.as_ref().map_or(site, |title| title.as_str()),
        description: description.map(Cow::Borrowed),
        short_description: description.map(shortened),
        image: route.og_image_url.as_ref().map(|url| url.as_str()),
        repeats_image: true,
    };
    let html = preview.render()?;
    if html.len() < MAX_BYTES {
        return Ok(html);
    }
    // Only a long text of characters that must be escaped, or a very long URL, comes to this.
    preview.description.clone_from(&preview.short_description);
    preview.repeats_image = false;
    preview.render()
}

/// The beginning of a text, with a mark where it was cut.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.chars().nth(SHORT).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(SHORT - 1).collect();
    Cow::Owned(format!("{}…", kept.trim_end()))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use signpost_domain::app::{AppId, AppName, AppSettings, Slug};
    use signpost_domain::link::{ImageUrl, LinkId, OgDescription, OgTitle, Redirects, ShortCode};

    use super::*;

    const URL: &str = "https://go.example/abc";

    fn app(name: &str) -> App {
        let at = DateTime::from_timestamp(0, 0).unwrap();
        App {
            id: AppId(1),
            slug: Slug::parse("shop").unwrap(),
            name: AppName::parse(name).unwrap(),
            hosts: Vec::new(),
            shares_host: false,
            settings: AppSettings::default(),
            created_at: at,
            updated_at: at,
        }
    }

    fn html(name: &str, title: Option<&str>, text: Option<&str>, image: Option<&str>) -> String {
        let route = Route {
            link_id: LinkId(1),
            app_id: AppId(1),
            code: ShortCode::parse("abc").unwrap(),
            redirects: Redirects::default(),
            expires_at: None,
            og_title: title.map(|text| OgTitle::parse(text).unwrap()),
            og_description: text.map(|text| OgDescription::parse(text).unwrap()),
            og_image_url: image.map(|text| ImageUrl::parse(text).unwrap()),
            channel: None,
            campaign: None,
        };
        render(&app(name), &route, URL).unwrap()
    }

    #[test]
    fn a_bare_link_shows_its_app_and_has_no_empty_tag() {
        let html = html("Shop", None, None, None);
        assert!(html.contains(r#"<meta property="og:title" content="Shop">"#));
        assert!(html.contains(r#"<meta name="twitter:card" content="summary">"#));
        assert!(!html.contains(r#"content="""#) && !html.contains("description"));
        assert!(!html.contains("og:image") && !html.contains("twitter:image"));
    }

    #[test]
    fn a_whole_link_shows_everything_twice() {
        let html = html("Shop", Some("Sale"), Some("Half\nprice"), Some("https://c.example/a.png"));
        for tag in [
            r#"<meta property="og:url" content="https://go.example/abc">"#,
            r#"<meta property="og:description" content="Half
price">"#,
            r#"<meta property="og:image" content="https://c.example/a.png">"#,
            r#"<meta property="og:image:alt" content="Sale">"#,
            r#"<meta property="og:site_name" content="Shop">"#,
            r#"<meta name="twitter:card" content="summary_large_image">"#,
            r#"<meta name="twitter:image" content="https://c.example/a.png">"#,
            r#"<link rel="canonical" href="https://go.example/abc">"#,
            r#"<meta name="robots" content="noindex">"#,
        ] {
            assert!(html.contains(tag), "{tag}: {html}");
        }
        assert!(!html.contains("<script") && !html.contains("http-equiv"));
    }

    #[test]
    fn a_long_text_is_whole_where_there_is_room_and_cut_for_x() {
        let html = html("Shop", None, Some(&"ä".repeat(2000)), None);
        let whole = format!(r#"<meta property="og:description" content="{}">"#, "ä".repeat(2000));
        let cut = format!(r#"<meta name="twitter:description" content="{}…">"#, "ä".repeat(199));
        assert!(html.contains(&whole) && html.contains(&cut));
        assert_eq!(shortened(&"x".repeat(200)), "x".repeat(200));
    }

    #[test]
    fn the_largest_page_stays_below_what_crawlers_read() {
        let image = |letter: &str| {
            let start = "https://c.example/?";
            format!("{start}{}", letter.repeat(2048 - start.len()))
        };
        for letter in ["&", "\"", "𝄞"] {
            let html = html(
                &letter.repeat(100),
                Some(&letter.repeat(255)),
                Some(&letter.repeat(2000)),
                Some(&image(letter)),
            );
            assert!(html.len() < MAX_BYTES, "{letter} {}", html.len());
            assert!(html.contains("og:image") && html.ends_with("</html>"));
        }
    }
}
