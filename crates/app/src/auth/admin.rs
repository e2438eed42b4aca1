//! Callers with an admin session.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, web};
use signpost_domain::access::{Admin, Role, Session};

use super::credential;
use crate::blocking;
use crate::problem::ApiError;
use crate::wiring::Services;

/// A signed-in admin; the only way to one is a valid access token of an open session.
pub(crate) struct SignedInAdmin {
    admin: Admin,
    session: Session,
}

impl SignedInAdmin {
    /// Who it is.
    pub(crate) fn admin(&self) -> &Admin {
        &self.admin
    }

    /// The session they came with.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
}

impl FromRequest for SignedInAdmin {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let token = credential(&request, None)?;
            let services = request
                .app_data::<web::Data<Services>>()
                .ok_or_else(|| ApiError::internal("the services are not registered"))?
                .clone();
            let who = blocking::run(move || services.sessions.authenticate(&token)).await?;
            Ok(Self { admin: who.admin, session: who.session })
        })
    }
}

/// Proof that a signed-in owner asks.
pub(crate) struct Owner(());

impl FromRequest for Owner {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let signed_in = SignedInAdmin::from_request(request, payload);
        Box::pin(async move {
            if signed_in.await?.admin.role == Role::Owner {
                Ok(Self(()))
            } else {
                Err(ApiError::new(StatusCode::FORBIDDEN, "owner_only", "only an owner may do this"))
            }
        })
    }
}
