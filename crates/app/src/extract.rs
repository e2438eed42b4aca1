//! Reading bodies and queries.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpRequest, web};
use signpost_domain::page::PageRequest;
use signpost_domain::{Invalid, InvalidCode};

use crate::problem::ApiError;

/// Longest body of most requests.
pub(crate) const BODY_LIMIT: usize = 128 * 1024;
/// Longest body of a bulk request.
pub(crate) const BULK_LIMIT: usize = 2 * 1024 * 1024;
/// Longest time a body may take to arrive; the web server itself would wait for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a JSON body of at most `limit` bytes.
pub(crate) async fn json_body(
    request: &HttpRequest,
    payload: web::Payload,
    limit: usize,
) -> Result<Bytes, ApiError> {
    require_json(request)?;
    let too_large = || {
        ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format!("the body is longer than {limit} bytes"),
        )
    };
    let declared = request.headers().get("content-length");
    if declared.and_then(|v| v.to_str().ok()?.parse::<u64>().ok()).is_some_and(|n| n > limit as u64)
    {
        return Err(too_large());
    }
    let read = read_up_to(payload, limit);
    match tokio::time::timeout(BODY_TIMEOUT, read).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => Err(too_large()),
        Ok(Err(())) => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "incomplete_body",
            "the body ended before its time",
        )),
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "request_timeout",
            "the body took too long to arrive",
        )),
    }
}

async fn read_up_to(mut payload: web::Payload, limit: usize) -> Result<Option<Bytes>, ()> {
    let mut body = BytesMut::new();
    while let Some(chunk) = next_chunk(&mut payload).await {
        let chunk = chunk.map_err(drop)?;
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body.freeze()))
}

async fn next_chunk(
    payload: &mut web::Payload,
) -> Option<Result<Bytes, actix_web::error::PayloadError>> {
    use std::pin::Pin;
    std::future::poll_fn(|context| {
        futures_core::Stream::poll_next(Pin::new(&mut *payload), context)
    })
    .await
}

fn require_json(request: &HttpRequest) -> Result<(), ApiError> {
    let unsupported = |detail: &str| {
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    };
    if request.headers().contains_key("content-encoding") {
        return Err(unsupported("the body must not be compressed"));
    }
    let sent = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = sent.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(unsupported("the body must be application/json"))
    }
}

/// The parameters of a query, percent-decoded, in order.
pub(crate) struct QueryParameters(Vec<(String, String)>);

impl QueryParameters {
    /// Reads a request's query.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The one value of a parameter; twice the same is refused, because readers would disagree
    /// which one counts.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            let twice = Invalid::new(InvalidCode::InvalidFormat, "is given more than once");
            return Err(ApiError::invalid_field(name, &twice));
        }
        Ok(first)
    }

    /// All values of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All parameters.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// `page` and `limit`.
    pub(crate) fn page(&self, default_limit: u32, max_limit: u32) -> Result<PageRequest, ApiError> {
        let page = self.number("page", 1)?;
        let limit = self.number("limit", default_limit)?;
        Ok(PageRequest::new(page, limit, max_limit)?)
    }

    /// A number in plain digits, or its default.
    pub(crate) fn number(&self, name: &str, default: u32) -> Result<u32, ApiError> {
        let Some(text) = self.one(name)? else { return Ok(default) };
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| digits).ok_or_else(|| {
            let code = if digits { InvalidCode::OutOfRange } else { InvalidCode::InvalidFormat };
            ApiError::invalid_field(name, &Invalid::new(code, "is not a number in range"))
        })
    }

    /// `true` or `false`; absent is false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ApiError> {
        match self.one(name)? {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(ApiError::invalid_field(
                name,
                &Invalid::new(InvalidCode::UnknownValue, "must be true or false"),
            )),
        }
    }
}
