//! Where a link leads, for people who want to know before they follow it: `/{shortCode}+`.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde::Serialize;
use signpost_domain::click::Platform;
use signpost_domain::service::{Found, Inspection};

use crate::pages;
use crate::public_api::view::{time, to_json};
use crate::visit::Context;
use crate::visit::wants_json;

/// Where a link leads, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InspectionView<'a> {
    short_code: &'a str,
    url: &'a str,
    platforms: PlatformsView<'a>,
    expires_at: Option<String>,
    is_expired: bool,
}

/// The URL for each platform; `null` where visitors get a page instead.
#[derive(Serialize)]
struct PlatformsView<'a> {
    ios: Option<&'a str>,
    android: Option<&'a str>,
    web: Option<&'a str>,
}

/// The code in a path that asks for an inspection. No code has a plus, and some clients encode it.
pub(crate) fn inspected(code: &str) -> Option<&str> {
    ["+", "%2B", "%2b"].into_iter().find_map(|plus| code.strip_suffix(plus))
}

/// A page, or JSON for a program that asks for it. Nothing is counted, and the payload stays here.
pub(crate) fn answer(request: &HttpRequest, context: &Context, found: &Found) -> HttpResponse {
    let inspection = context.visits.inspect(found);
    let url = context.services.views.url(&found.app, &found.route.code);
    if wants_json(request) {
        return HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, pages::NO_STORE))
            .insert_header(pages::NO_INDEX)
            .content_type("application/json")
            .body(to_json(&view(found, &inspection, &url)));
    }
    let rows = inspection.targets.iter().map(|(platform, target)| pages::Row {
        platform: match platform {
            Platform::Ios => "iPhone and iPad",
            Platform::Android => "Android",
            Platform::Web => "Everything else",
        },
        target: target.as_ref().map(|target| target.as_str()),
    });
    let expiry = found.route.expires_at.map(in_words);
    pages::inspection(&found.app, &url, rows.collect(), expiry.as_deref(), inspection.is_expired)
}

fn view<'a>(found: &'a Found, inspection: &'a Inspection<'_>, url: &'a str) -> InspectionView<'a> {
    let target = |wanted| {
        let mut targets = inspection.targets.iter();
        let (_, target) = targets.find(|(platform, _)| *platform == wanted)?;
        target.as_ref().map(|target| target.as_str())
    };
    InspectionView {
        short_code: found.route.code.as_str(),
        url,
        platforms: PlatformsView {
            ios: target(Platform::Ios),
            android: target(Platform::Android),
            web: target(Platform::Web),
        },
        expires_at: found.route.expires_at.map(time),
        is_expired: inspection.is_expired,
    }
}

fn in_words(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_behind_the_code_asks_for_an_inspection() {
        for path in ["abc+", "abc%2B", "abc%2b"] {
            assert_eq!(inspected(path), Some("abc"));
        }
        assert_eq!(inspected("abc"), None);
    }
}
