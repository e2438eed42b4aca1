//! Versions of links in `ETag`, `If-Match` and `If-None-Match` (RFC 9110, section 13).

use actix_web::HttpRequest;
use actix_web::http::header::{IF_MATCH, IF_NONE_MATCH};
use chrono::{DateTime, Utc};
use signpost_domain::link::{Link, LinkVersion};

/// The tag of a link at `now`: its version, with a mark when expired, because expiry changes the
/// answer without anybody writing.
pub(crate) fn of(link: &Link, now: DateTime<Utc>) -> String {
    let mark = if link.is_expired(now) { "x" } else { "" };
    format!("\"{}{mark}\"", link.version.0)
}

/// True when `If-None-Match` names the tag.
pub(super) fn none_match(request: &HttpRequest, tag: &str) -> bool {
    tags(request, &IF_NONE_MATCH)
        .is_some_and(|tags| tags.iter().any(|t| t == "*" || t.trim_start_matches("W/") == tag))
}

/// The versions that `If-Match` allows; `None` when it allows all.
///
/// The mark of expiry is passed over: a link that expired since it was read has not been changed
/// by anybody. A weak tag allows nothing, as the RFC has it.
pub(super) fn expected(request: &HttpRequest) -> Option<Vec<LinkVersion>> {
    let tags = tags(request, &IF_MATCH)?;
    if tags.iter().any(|tag| tag == "*") {
        return None;
    }
    let version = |tag: &String| {
        let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
        inner.strip_suffix('x').unwrap_or(inner).parse().ok().map(LinkVersion)
    };
    Some(tags.iter().filter_map(version).collect())
}

fn tags(request: &HttpRequest, name: &actix_web::http::header::HeaderName) -> Option<Vec<String>> {
    let values: Vec<&str> =
        request.headers().get_all(name).map(|v| v.to_str().unwrap_or_default()).collect();
    if values.is_empty() {
        return None;
    }
    Some(values.iter().flat_map(|v| v.split(',')).map(|t| t.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn expected_of(header: &str) -> Option<Vec<i64>> {
        let request = TestRequest::default().insert_header((IF_MATCH, header)).to_http_request();
        expected(&request).map(|versions| versions.into_iter().map(|v| v.0).collect())
    }

    #[test]
    fn if_match_lists_versions_and_a_star_allows_all() {
        assert_eq!(expected(&TestRequest::default().to_http_request()), None);
        assert_eq!(expected_of("*"), None);
        assert_eq!(expected_of("\"3\", \"4x\""), Some(vec![3, 4]));
        assert_eq!(expected_of("W/\"3\""), Some(vec![]));
        assert_eq!(expected_of("nonsense"), Some(vec![]));
    }

    #[test]
    fn if_none_match_compares_weakly() {
        let matches = |header: &str| {
            let request =
                TestRequest::default().insert_header((IF_NONE_MATCH, header)).to_http_request();
            none_match(&request, "\"3\"")
        };
        assert!(matches("\"3\""));
        assert!(matches("W/\"3\", \"9\""));
        assert!(matches("*"));
        assert!(!matches("\"3x\""));
    }
}
