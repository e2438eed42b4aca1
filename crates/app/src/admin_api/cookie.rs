//! The refresh token as a cookie, for browsers.

use actix_web::HttpRequest;
use actix_web::http::header::{COOKIE, HOST, HeaderValue, ORIGIN};
use chrono::TimeDelta;

use crate::problem::ApiError;

const NAME: &str = "signpost_refresh";
const PATH: &str = "/api/v1/admin/sessions";

/// A `Set-Cookie` value that keeps a token where no script can read it.
pub(super) fn keep(
    token: &str,
    lifetime: TimeDelta,
    secure: bool,
) -> Result<HeaderValue, ApiError> {
    let secure = if secure { "; Secure" } else { "" };
    let text = format!(
        "{NAME}={token}; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age={}{secure}",
        lifetime.num_seconds()
    );
    HeaderValue::from_str(&text).map_err(ApiError::internal)
}

/// A `Set-Cookie` value that forgets the token.
pub(super) fn forget() -> HeaderValue {
    HeaderValue::from_static(
        "signpost_refresh=; HttpOnly; SameSite=Strict; Path=/api/v1/admin/sessions; Max-Age=0",
    )
}

/// The token in a request's cookies.
pub(super) fn token(request: &HttpRequest) -> Option<String> {
    let headers = request.headers().get_all(COOKIE).filter_map(|value| value.to_str().ok());
    headers
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == NAME)
        .map(|(_, value)| value.to_owned())
}

/// True when the page that sent the request came from this very host.
///
/// A cookie travels with requests that other pages cause; the `Origin` header, which pages can't
/// set, tells them apart.
pub(super) fn is_same_origin(request: &HttpRequest, base_url: &str) -> bool {
    let text = |name| request.headers().get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let Some(origin) = text(ORIGIN) else { return false };
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    origin == base_url || text(HOST).is_some_and(|asked| asked == host)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn only_a_page_of_this_host_counts_as_same_origin() {
        let from = |origin: &str| {
            let request = TestRequest::default()
                .insert_header((HOST, "dash.example:8080"))
                .insert_header((ORIGIN, origin))
                .to_http_request();
            is_same_origin(&request, "https://go.example")
        };
        assert!(from("http://dash.example:8080"));
        assert!(from("https://go.example"));
        assert!(!from("https://evil.example"));
        assert!(!from("null"));
        assert!(!is_same_origin(&TestRequest::default().to_http_request(), "https://go.example"));
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let request = TestRequest::default()
            .insert_header((COOKIE, "a=b; signpost_refresh=xyz; c=d"))
            .to_http_request();
        assert_eq!(token(&request).as_deref(), Some("xyz"));
    }
}
