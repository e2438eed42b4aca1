//! Browsers on other origins.

use actix_cors::Cors;
use actix_web::http::header;

/// Other origins may call the Admin API when they are listed; nothing else is for browsers.
pub(crate) fn listed(origins: &[String]) -> Cors {
    let listed = origins.to_vec();
    Cors::default()
        .allowed_origin_fn(move |origin, head| {
            head.uri.path().starts_with("/api/v1/admin")
                && listed.iter().any(|listed| origin.as_bytes() == listed.as_bytes())
        })
        .block_on_origin_mismatch(false)
        .allowed_methods(vec!["GET", "POST", "PUT", "PATCH", "DELETE"])
        .allowed_headers(vec![header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_MATCH])
        .expose_headers(vec!["etag", "link", "x-total-count", "x-request-id", "retry-after"])
        .supports_credentials()
        .max_age(600)
}
