//! Who is asking.

pub(crate) mod admin;
pub(crate) mod api_key;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};

use crate::problem::ApiError;

/// 401 with the challenge that RFC 9110 asks for.
pub(crate) fn unauthorized(code: &'static str, detail: &str) -> ApiError {
    let challenge = match code {
        "missing_credentials" => "Bearer",
        _ => "Bearer error=\"invalid_token\"",
    };
    ApiError::new(StatusCode::UNAUTHORIZED, code, detail)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

/// The one credential of a request, from `Authorization: Bearer` or, where `key_header` names
/// one, from that header.
///
/// Two credentials are refused: which one counts would be a guess, and proxies guess differently.
pub(crate) fn credential(
    request: &HttpRequest,
    key_header: Option<&str>,
) -> Result<String, ApiError> {
    let headers = request.headers();
    let bearer = headers.get_all(AUTHORIZATION);
    let keys = key_header.into_iter().flat_map(|name| headers.get_all(name));
    let mut found: Vec<(bool, &HeaderValue)> = bearer.map(|value| (true, value)).collect();
    found.extend(keys.map(|value| (false, value)));
    let (is_bearer, value) = match found.as_slice() {
        [] => return Err(unauthorized("missing_credentials", "the request names no credential")),
        [one] => *one,
        _ => {
            return Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "ambiguous_credentials",
                "the request names more than one credential",
            ));
        }
    };
    let invalid = || unauthorized("invalid_credentials", "the credential can't be read");
    let text = value.to_str().map_err(|_| invalid())?.trim();
    if !is_bearer {
        return Ok(text.to_owned());
    }
    let (scheme, token) = text.split_once(' ').ok_or_else(invalid)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim().to_owned()) } else { Err(invalid()) }
}
