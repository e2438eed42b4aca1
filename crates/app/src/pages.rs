//! The few pages that visitors see.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use askama::Template;
use signpost_domain::app::App;
use signpost_domain::link::{Route, Target};

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

/// The page of a link that has no place to redirect to.
pub(crate) fn landing(route: &Route, app: &App, target: Option<&Target>) -> HttpResponse {
    let mut buttons: Vec<(&'static str, &str)> = Vec::new();
    if let Some(target) = target {
        buttons.push(("Open in the app", target.as_str()));
    }
    let stores = [
        ("App Store", app.settings.ios_store_url.as_ref()),
        ("Google Play", app.settings.android_store_url.as_ref()),
    ];
    for (label, url) in stores {
        buttons.extend(url.map(|url| (label, url.as_str())));
    }
    page(
        StatusCode::OK,
        &Landing {
            title: route.og_title.as_ref().map_or(app.name.as_str(), |t| t.as_str()),
            description: route.og_description.as_ref().map(|d| d.as_str()),
            image: route.og_image_url.as_ref().map(|u| u.as_str()),
            buttons,
        },
    )
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
        Ok(html) => HttpResponse::build(status)
            .insert_header((header::CACHE_CONTROL, NO_STORE))
            .insert_header(NO_INDEX)
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::REFERRER_POLICY, "origin"))
            .content_type("text/html; charset=utf-8")
            .body(html),
        Err(_) => HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR),
    }
}
