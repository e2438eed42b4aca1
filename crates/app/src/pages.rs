//! The few pages that visitors see, and the redirect that most see instead.

mod preview;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use askama::Template;
use signpost_domain::app::App;
use signpost_domain::link::{Route, Stores, Target};

pub(crate) use preview::preview;

/// The answer depends on the visitor, so nobody may keep it.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
/// Links are no content of their own; search engines shall follow, not list them.
pub(crate) const NO_INDEX: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
/// Nothing runs, nothing is loaded but pictures and the page's own style.
const POLICY: &str = "default-src 'none'; img-src https: http:; style-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "landing.html")]
struct Landing<'a> {
    title: &'a str,
    description: Option<&'a str>,
    image: Option<&'a str>,
    /// Label and URL of each button.
    buttons: Vec<(&'static str, &'a str)>,
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct Refusal {
    title: &'static str,
    text: &'static str,
}

#[derive(Template)]
#[template(path = "inspection.html")]
struct Inspection<'a> {
    app: &'a str,
    url: &'a str,
    rows: Vec<Row<'a>>,
    expiry: Option<&'a str>,
    is_expired: bool,
}

/// A platform and the URL its visitors get.
pub(crate) struct Row<'a> {
    pub(crate) platform: &'static str,
    pub(crate) target: Option<&'a str>,
}

impl Row<'_> {
    /// Only the web is reached by a click here; the schemes of apps and stores are text.
    fn is_web(&self) -> bool {
        self.target.is_some_and(|t| t.starts_with("https://") || t.starts_with("http://"))
    }
}

/// 302: the target depends on the visitor and may change, so nobody may keep it.
pub(crate) fn redirect(target: &Target<'_>) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, target.as_str()))
        .insert_header((header::CACHE_CONTROL, NO_STORE))
        .insert_header(NO_INDEX)
        .finish()
}

/// The page of a link that has no place to redirect to, or of an app's host without a link.
pub(crate) fn landing(
    app: &App,
    route: Option<&Route>,
    target: Option<&Target<'_>>,
    stores: &Stores<'_>,
) -> HttpResponse {
    let buttons = [
        ("Open in the app", target),
        ("App Store", stores.app_store.as_ref()),
        ("Google Play", stores.google_play.as_ref()),
    ];
    let title = route.and_then(|route| route.og_title.as_ref());
    page(
        StatusCode::OK,
        &Landing {
            title: title.map_or(app.name.as_str(), |title| title.as_str()),
            description: route.and_then(|r| r.og_description.as_ref()).map(|d| d.as_str()),
            image: route.and_then(|r| r.og_image_url.as_ref()).map(|u| u.as_str()),
            buttons: buttons
                .into_iter()
                .filter_map(|(label, target)| Some((label, target?.as_str())))
                .collect(),
        },
    )
}

/// The page that tells where a link leads.
pub(crate) fn inspection(
    app: &App,
    url: &str,
    rows: Vec<Row<'_>>,
    expiry: Option<&str>,
    is_expired: bool,
) -> HttpResponse {
    page(StatusCode::OK, &Inspection { app: app.name.as_str(), url, rows, expiry, is_expired })
}

/// The page of a link that isn't there, or isn't any more.
pub(crate) fn refusal(status: StatusCode) -> HttpResponse {
    let (title, text) = if status == StatusCode::GONE {
        ("This link has expired", "Whoever published it set an end to it, and that has passed.")
    } else {
        ("This link leads nowhere", "It may be mistyped, or it has been deleted.")
    };
    page(status, &Refusal { title, text })
}

fn page(status: StatusCode, template: &impl Template) -> HttpResponse {
    match template.render() {
        Ok(html) => send(status, html),
        Err(_) => HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn send(status: StatusCode, html: String) -> HttpResponse {
    HttpResponse::build(status)
        .insert_header((header::CACHE_CONTROL, NO_STORE))
        .insert_header(NO_INDEX)
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "origin"))
        .content_type("text/html; charset=utf-8")
        .body(html)
}
