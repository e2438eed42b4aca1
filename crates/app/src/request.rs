//! What is common to all requests: an id, the client's address, the host, problem answers.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{StatusCode, Uri};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use signpost_domain::{Invalid, InvalidCode};
use tracing::{error, warn};
use uuid::{NoContext, Timestamp, Uuid};

use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::rate_limit::RateState;

/// The header that carries a request's id.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request's id: the client's, when it is a decent one, else a new UUID of version 7.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

impl RequestId {
    fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(X_REQUEST_ID).filter(|value| {
            (8..=64).contains(&value.len())
                && value.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        });
        Self(sent.cloned().unwrap_or_else(|| {
            let mut buffer = Uuid::encode_buffer();
            let id = Uuid::new_v7(Timestamp::now(NoContext));
            let text = id.hyphenated().encode_lower(&mut buffer);
            HeaderValue::from_str(text).expect("a UUID is a header value")
        }))
    }

    /// The id that [`common`] gave, else a new one.
    fn given_to(request: &HttpRequest) -> Self {
        let given = request.extensions().get::<Self>().cloned();
        given.unwrap_or_else(|| Self::of(request.headers()))
    }

    /// The id of a request, given by [`common`].
    pub(crate) fn get(request: &HttpRequest) -> String {
        let extensions = request.extensions();
        extensions.get::<Self>().map_or_else(String::new, |id| id.as_str().to_owned())
    }

    fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// The client's address of a request.
pub(crate) fn client_of(request: &HttpRequest) -> IpAddr {
    let peer = request.peer_addr().map(|a| a.ip());
    match request.app_data::<web::Data<TrustedProxies>>() {
        Some(proxies) => proxies.client(peer, request.headers()),
        None => peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
    }
}

/// The middleware around everything but visits: gives the request an id, refuses U+0000, writes
/// problem answers and logs their causes once.
pub(crate) async fn common<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    if let Some(refused) = refuse_nul(request.uri()) {
        let answer = answer_problem(&refused, request.request(), &id);
        return Ok(request.into_response(answer).map_into_right_body());
    }
    let response = next.call(request).await?;
    if response.response().error().is_none() {
        let mut response = response.map_into_left_body();
        let rate = response.request().extensions().get::<RateState>().copied();
        finish(response.headers_mut(), &id, rate);
        return Ok(response);
    }
    let (request, failed) = response.into_parts();
    let answer = match failed.error().and_then(|error| error.as_error::<ApiError>()) {
        Some(known) => answer_problem(known, &request, &id),
        None => answer_problem(&of_actix(failed.status()), &request, &id),
    };
    Ok(ServiceResponse::new(request, answer).map_into_right_body())
}

/// What [`common`] does, for a visit: its path is too short for a middleware.
pub(crate) async fn answered(
    request: &HttpRequest,
    answer: impl Future<Output = Result<HttpResponse, ApiError>>,
) -> HttpResponse {
    let id = RequestId::given_to(request);
    let result = match refuse_nul(request.uri()) {
        Some(refused) => Err(refused),
        None => answer.await,
    };
    match result {
        Ok(mut response) => {
            finish(response.headers_mut(), &id, None);
            response
        }
        Err(problem) => answer_problem(&problem, request, &id),
    }
}

/// Answers with a problem and logs its cause.
fn answer_problem(problem: &ApiError, request: &HttpRequest, id: &RequestId) -> HttpResponse {
    log(problem, request, id.as_str());
    let mut answer = problem.respond(id.as_str(), request.method());
    let rate = request.extensions().get::<RateState>().copied();
    finish(answer.headers_mut(), id, rate);
    answer
}

/// An error that the web server itself found, in our words.
fn of_actix(status: StatusCode) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => ApiError::not_found(),
        status if status.is_client_error() => {
            ApiError::new(status, "bad_request", "the request can't be understood")
        }
        _ => ApiError::internal("an error of the web server"),
    }
}

fn refuse_nul(uri: &Uri) -> Option<ApiError> {
    let holds = |text: &str| text.contains("%00");
    let field = if holds(uri.path()) {
        "path"
    } else if uri.query().is_some_and(holds) {
        "query"
    } else {
        return None;
    };
    let nul = Invalid::new(InvalidCode::InvalidCharacter, "holds U+0000");
    Some(ApiError::invalid_field(field, &nul))
}

fn finish(headers: &mut HeaderMap, id: &RequestId, rate: Option<RateState>) {
    headers.insert(X_REQUEST_ID, id.0.clone());
    if let Some(rate) = rate {
        rate.write(headers);
    }
}

fn log(problem: &ApiError, request: &HttpRequest, id: &str) {
    let Some(cause) = &problem.cause else { return };
    let mut chain = cause.to_string();
    let mut source = cause.source();
    while let Some(next) = source {
        let _ = write!(chain, ": {next}");
        source = next.source();
    }
    let route = request.match_pattern().unwrap_or_default();
    if problem.status == StatusCode::SERVICE_UNAVAILABLE {
        warn!(request_id = id, route, cause = chain, "unavailable");
    } else {
        error!(request_id = id, route, cause = chain, "internal error");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(sent: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_str(sent).unwrap());
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn a_decent_request_id_is_kept_and_any_other_replaced() {
        assert_eq!(id("abc-12345"), "abc-12345");
        for sent in ["short", "has blanks in it", "a\"quote-in-it", &"x".repeat(65)] {
            let given = id(sent);
            assert_ne!(given, sent);
            assert_eq!(given.len(), 36);
        }
    }
}
