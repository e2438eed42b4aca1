//! Callers with an API key.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, WWW_AUTHENTICATE};
use actix_web::{FromRequest, HttpRequest, web};
use signpost_domain::access::{ApiKeyId, Scope};
use signpost_domain::app::App;
use signpost_domain::service::AuthenticateError;

use super::credential;
use crate::blocking;
use crate::problem::ApiError;
use crate::rate_limit::{Class, Limits};
use crate::wiring::Services;

/// A permission as a type: only a key with the scope makes a [`Caller`] of it.
pub(crate) trait Permission: 'static {
    const SCOPE: Scope;
    const CLASS: Class;
}

/// May read links.
pub(crate) struct LinksRead;

impl Permission for LinksRead {
    const SCOPE: Scope = Scope::LinksRead;
    const CLASS: Class = Class::Read;
}

/// May create, change and delete links.
pub(crate) struct LinksWrite;

impl Permission for LinksWrite {
    const SCOPE: Scope = Scope::LinksWrite;
    const CLASS: Class = Class::Write;
}

/// Somebody whose key was checked and has the permission `P`.
///
/// There is no other way to make one, and a handler without one does not know any app, so it can't
/// reach anybody's links.
pub(crate) struct Caller<P> {
    key: ApiKeyId,
    app: Arc<App>,
    permission: PhantomData<P>,
}

impl<P: Permission> Caller<P> {
    /// The app whose key it is.
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The key's number.
    pub(crate) fn key(&self) -> ApiKeyId {
        self.key
    }

    /// Counts further uses of the key, beyond the one that every request is.
    pub(crate) fn charge(&self, request: &HttpRequest, n: usize) -> Result<(), ApiError> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        limits(request).map_or(Ok(()), |limits| limits.charge(request, P::CLASS, self.key, n))
    }
}

fn limits(request: &HttpRequest) -> Option<&web::Data<Limits>> {
    request.app_data::<web::Data<Limits>>()
}

impl<P: Permission> FromRequest for Caller<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let text = credential(&request, Some("x-api-key"))?;
            let services = request
                .app_data::<web::Data<Services>>()
                .ok_or_else(|| ApiError::internal("the services are not registered"))?
                .clone();
            let (key, app) = blocking::run(move || {
                let key = services.keys.authenticate(&text)?;
                let apps = services.directory.load()?;
                // An app that is gone takes its keys with it.
                let app = apps.get(key.app_id).cloned().ok_or(AuthenticateError::Invalid)?;
                Ok::<_, AuthenticateError>((key, app))
            })
            .await?;
            if !key.scopes.allow(P::SCOPE) {
                return Err(insufficient_scope(P::SCOPE));
            }
            let caller = Self { key: key.id, app, permission: PhantomData };
            caller.charge(&request, 1)?;
            Ok(caller)
        })
    }
}

fn insufficient_scope(scope: Scope) -> ApiError {
    let name = scope.as_str();
    let error = ApiError::new(
        StatusCode::FORBIDDEN,
        "insufficient_scope",
        format!("the key lacks the scope {name}"),
    );
    // RFC 6750, section 3.1.
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{name}\"");
    match HeaderValue::from_str(&challenge) {
        Ok(value) => error.with_header(WWW_AUTHENTICATE, value),
        Err(_) => error,
    }
}
