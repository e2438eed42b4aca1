//! From the errors of the services to answers. No wildcard arms: a new error does not compile
//! until somebody has chosen its status.

use actix_web::http::StatusCode;
use signpost_domain::click::RangeError;
use signpost_domain::page::PageError;
use signpost_domain::ports::{InsertAdminError, SaveAppError, StoreError, UpdateError};
use signpost_domain::service::{AuthenticateError, CreateAppError, CreateError, SessionsError};
use signpost_domain::{Invalid, InvalidCode};

use super::{ApiError, FieldError};
use crate::auth::unauthorized;

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::unavailable(error),
            StoreError::Failed(_) => Self::internal(error),
        }
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::CodeTaken => Self::short_code_taken(),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl ApiError {
    /// 409 for a link's code.
    pub(crate) fn short_code_taken() -> Self {
        let taken = Invalid::new(InvalidCode::Taken, "is or was the code of another link");
        Self {
            errors: vec![FieldError::new("/shortCode", &taken)],
            ..Self::new(StatusCode::CONFLICT, "short_code_taken", "the short code is taken")
        }
    }

    fn slug_taken() -> Self {
        let taken = Invalid::new(InvalidCode::Taken, "is the slug of another app");
        Self {
            errors: vec![FieldError::new("/slug", &taken)],
            ..Self::new(StatusCode::CONFLICT, "slug_taken", "the slug is taken")
        }
    }
}

impl From<UpdateError> for ApiError {
    fn from(error: UpdateError) -> Self {
        match error {
            UpdateError::VersionMismatch => Self::new(
                StatusCode::PRECONDITION_FAILED,
                "precondition_failed",
                "the link has changed since it was read",
            ),
            UpdateError::Store(error) => error.into(),
        }
    }
}

impl From<AuthenticateError> for ApiError {
    fn from(error: AuthenticateError) -> Self {
        match error {
            AuthenticateError::Invalid => {
                unauthorized("invalid_credentials", "the API key is not valid")
            }
            AuthenticateError::Store(error) => error.into(),
        }
    }
}

impl From<SessionsError> for ApiError {
    fn from(error: SessionsError) -> Self {
        match error {
            SessionsError::Invalid => {
                unauthorized("invalid_credentials", "the credentials are not valid")
            }
            SessionsError::Expired => {
                unauthorized("token_expired", "the access token has expired; refresh it")
            }
            SessionsError::Store(error) => error.into(),
        }
    }
}

impl From<CreateAppError> for ApiError {
    fn from(error: CreateAppError) -> Self {
        match error {
            CreateAppError::SlugNeeded => Self::invalid_field(
                "/slug",
                &Invalid::new(InvalidCode::Required, "can't be made from this name; name one"),
            ),
            CreateAppError::SlugTaken => Self::slug_taken(),
            CreateAppError::Store(error) => error.into(),
        }
    }
}

impl From<SaveAppError> for ApiError {
    fn from(error: SaveAppError) -> Self {
        match error {
            SaveAppError::SlugTaken => Self::slug_taken(),
            SaveAppError::Store(error) => error.into(),
        }
    }
}

impl From<InsertAdminError> for ApiError {
    fn from(error: InsertAdminError) -> Self {
        match error {
            InsertAdminError::EmailTaken => Self::invalid_field(
                "/email",
                &Invalid::new(InvalidCode::Taken, "is the address of another admin"),
            ),
            InsertAdminError::Store(error) => error.into(),
        }
    }
}

impl From<PageError> for ApiError {
    fn from(error: PageError) -> Self {
        let field = match error {
            PageError::Page => "page",
            PageError::Limit { .. } => "limit",
        };
        Self::invalid_field(field, &error.into())
    }
}

impl From<RangeError> for ApiError {
    fn from(error: RangeError) -> Self {
        let message = error.to_string();
        let (field, code) = match error {
            RangeError::Start(invalid) => return Self::invalid_field("startDate", &invalid),
            RangeError::End(invalid) => return Self::invalid_field("endDate", &invalid),
            RangeError::Reversed | RangeError::Future | RangeError::TooLong => {
                ("startDate", InvalidCode::OutOfRange)
            }
        };
        Self::invalid_field(field, &Invalid::new(code, message))
    }
}
