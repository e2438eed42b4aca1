//! Problem answers: RFC 9457, `application/problem+json`.

mod from_domain;

use std::error::Error;
use std::fmt;

use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use signpost_domain::{Invalid, InvalidCode};
use utoipa::ToSchema;

/// An answer that is not what the client hoped for.
///
/// It says what the client may know. What only the operator may know is the `cause`, which is
/// logged once, where the answer leaves (see [`crate::request`]), and never sent.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    pub(crate) errors: Vec<FieldError>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) cause: Option<Box<dyn Error + Send + Sync>>,
}

/// A field that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// Where: a JSON pointer into the body (RFC 6901), or the name of a parameter or header.
    #[schema(example = "/ogTitle")]
    pub(crate) field: String,
    /// What kind of mistake, for a program.
    #[schema(example = "too_long")]
    pub(crate) code: String,
    /// What is wrong, for a person.
    #[schema(example = "is longer than 255 characters")]
    pub(crate) message: String,
}

impl FieldError {
    /// A refused value at `field`.
    pub(crate) fn new(field: impl Into<String>, invalid: &Invalid) -> Self {
        Self {
            field: field.into(),
            code: invalid.code.as_str().to_owned(),
            message: invalid.message.clone(),
        }
    }
}

/// The body of a problem answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub(crate) struct ProblemView<'a> {
    /// Identifies the kind of problem; stable over versions.
    #[serde(rename = "type")]
    #[schema(example = "urn:signpost:problem:validation_failed")]
    kind: String,
    /// The status in words.
    #[schema(example = "Bad Request")]
    title: &'a str,
    /// The HTTP status.
    #[schema(example = 400)]
    status: u16,
    /// What happened, for a person.
    #[schema(example = "1 field is not valid")]
    detail: &'a str,
    /// What happened, for a program.
    #[schema(example = "validation_failed")]
    code: &'a str,
    /// The request's id, as in the header `X-Request-Id`.
    #[schema(example = "01938f0e-7d2c-7cc0-b2c8-1d1f0a9a4c11")]
    request_id: &'a str,
    /// All refused fields, not just the first.
    errors: &'a [FieldError],
}

impl ApiError {
    /// An answer with a status, a code and a sentence.
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            errors: Vec::new(),
            headers: Vec::new(),
            cause: None,
        }
    }

    /// 400, with all refused fields.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        // A client that looks at the top code alone still learns of the two mistakes that have one.
        let all = |code: InvalidCode| errors.iter().all(|e| e.code == code.as_str());
        let code = if all(InvalidCode::InvalidCharacter) {
            "invalid_character"
        } else if all(InvalidCode::Immutable) {
            "immutable"
        } else {
            "validation_failed"
        };
        let detail = match errors.len() {
            1 => format!("1 field is not valid: {} {}", errors[0].field, errors[0].message),
            n => format!("{n} fields are not valid"),
        };
        Self { errors, ..Self::new(StatusCode::BAD_REQUEST, code, detail) }
    }

    /// 400 for one field or parameter.
    pub(crate) fn invalid_field(field: &str, invalid: &Invalid) -> Self {
        Self::invalid(vec![FieldError::new(field, invalid)])
    }

    /// 404 for a link.
    pub(crate) fn link_not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "link_not_found", "there is no such link")
    }

    /// 404 for anything else.
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is nothing here")
    }

    /// 405, naming what is allowed.
    pub(crate) fn method_not_allowed(allowed: &'static str) -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            format!("allowed here: {allowed}"),
        )
        .with_header(header::ALLOW, HeaderValue::from_static(allowed))
    }

    /// 500: fixed text, the cause for the log.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "something went wrong here")
        }
    }

    /// 503: fixed text, the cause for the log.
    pub(crate) fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "the service can't answer this now; try again",
            )
        }
        .with_header(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The body, as it is sent for the request with this id.
    pub(crate) fn body(&self, request_id: &str) -> String {
        let view = self.view(request_id);
        serde_json::to_string(&view).expect("strings and numbers always serialize")
    }

    pub(crate) fn view<'a>(&'a self, request_id: &'a str) -> ProblemView<'a> {
        ProblemView {
            kind: format!("urn:signpost:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            code: self.code,
            request_id,
            errors: &self.errors,
        }
    }

    /// The answer to the request with this id.
    pub(crate) fn respond(&self, request_id: &str, method: &Method) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for (name, value) in &self.headers {
            response.append_header((name.clone(), value.clone()));
        }
        response
            .insert_header((header::CONTENT_TYPE, "application/problem+json"))
            .insert_header((header::CACHE_CONTROL, "no-store"));
        if method == Method::HEAD {
            response.finish()
        } else {
            response.body(self.body(request_id))
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status.as_u16(), self.code)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    // The middleware in `crate::request` writes the real answer, because it knows the request's id.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status)
    }
}
