//! Signing in and out.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, SET_COOKIE, USER_AGENT};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use signpost_domain::access::SessionId;
use signpost_domain::click::{NewClick, truncate};
use signpost_domain::service::{SignInFrom, Tokens};
use signpost_domain::{Invalid, InvalidCode};
use tokio::sync::Semaphore;
use utoipa::ToSchema;
use uuid::Uuid;
use validator::Validate;

use super::cookie;
use crate::auth::admin::SignedInAdmin;
use crate::blocking;
use crate::extract::{BODY_LIMIT, json_body};
use crate::fields::Fields;
use crate::problem::{ApiError, FieldError};
use crate::public_api::view::{time, to_json};
use crate::rate_limit::Limits;
use crate::request::client_of;
use crate::server::BaseUrl;
use crate::wiring::Services;

/// How many passwords are checked at once: each check takes 19 MiB and a core.
pub(crate) struct PasswordGate(pub(crate) Semaphore);

/// Who signs in.
#[derive(Deserialize, Serialize, ToSchema, Validate)]
#[schema(as = SignIn)]
pub(crate) struct SignInBody {
    /// The admin's address.
    #[schema(example = "admin@localhost")]
    #[validate(length(min = 1, max = 254, message = "must have 1 to 254 characters"))]
    email: String,
    /// The admin's password.
    #[schema(example = "correct horse battery staple")]
    #[validate(length(min = 1, max = 1024, message = "must have 1 to 1024 characters"))]
    password: String,
    /// Whether the refresh token shall come as a cookie only.
    #[serde(default)]
    cookie: bool,
}

/// The current refresh token; absent when it is in the cookie.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Refresh)]
pub(crate) struct RefreshBody {
    /// The refresh token of the last answer.
    refresh_token: Option<String>,
}

/// What a signed-in admin holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tokens)]
pub(crate) struct TokensView {
    /// For the header `Authorization: Bearer`.
    access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(example = 900)]
    expires_in: i64,
    /// For the next pair of tokens; `null` when it is in the cookie.
    refresh_token: Option<String>,
}

/// An open session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(crate) struct SessionView {
    /// Its number.
    #[schema(example = "0b2f6f3e-3f0a-4b43-9d6f-0d2f5a0c9b11")]
    id: String,
    /// Whether it is the one that asks.
    current: bool,
    /// When it was opened.
    created_at: String,
    /// When it ends without a refresh.
    expires_at: String,
    /// The browser.
    user_agent: Option<String>,
    /// The network it was opened from.
    network: Option<String>,
}

/// Opens a session.
///
/// A wrong password and an unknown address get the same answer after the same time.
#[utoipa::path(
    post,
    path = "/api/v1/admin/sessions",
    tag = "sessions",
    operation_id = "signIn",
    request_body = SignInBody,
    responses(
        (status = 201, description = "Signed in", body = TokensView),
        (status = 401, description = "Wrong address or password"),
        (status = 429, description = "Too many tries"),
    )
)]
pub(crate) async fn sign_in(
    request: HttpRequest,
    services: web::Data<Services>,
    limits: web::Data<Limits>,
    gate: web::Data<PasswordGate>,
    base: web::Data<BaseUrl>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let body = json_body(&request, payload, BODY_LIMIT).await?;
    let asked = read_sign_in(&body)?;
    let network = truncate(client_of(&request)).to_string();
    limits.charge_sign_in(&request, &asked.email, &network)?;
    let from = SignInFrom {
        user_agent: request
            .headers()
            .get(USER_AGENT)
            .and_then(|value| NewClick::clean_user_agent(value.as_bytes())),
        network: Some(network),
    };
    let _turn = gate.0.acquire().await.map_err(ApiError::internal)?;
    let SignInBody { email, password, cookie } = asked;
    let tokens = blocking::run(move || services.sessions.sign_in(&email, &password, from)).await?;
    respond(StatusCode::CREATED, tokens, cookie, &base)
}

fn read_sign_in(body: &[u8]) -> Result<SignInBody, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let required = Invalid::new(InvalidCode::Required, "is required");
    for name in ["email", "password"] {
        if fields.raw_is_absent(name) {
            fields.refuse(name, &required);
        }
    }
    let plain = |text: &str| Ok::<_, Invalid>(text.to_owned());
    let email = fields.required_text("email", plain).unwrap_or_default();
    let password = fields.required_text("password", plain).unwrap_or_default();
    let cookie = fields.change("cookie", |raw| {
        serde_json::from_str::<bool>(raw.get())
            .map(Some)
            .map_err(|_| Invalid::new(InvalidCode::WrongType, "must be true or false"))
    });
    fields.finish().map_err(ApiError::invalid)?;
    let asked = SignInBody { email, password, cookie: cookie.apply(None).unwrap_or_default() };
    asked.validate().map_err(|errors| ApiError::invalid(of_validator(&errors)))?;
    Ok(asked)
}

fn of_validator(errors: &validator::ValidationErrors) -> Vec<FieldError> {
    let mut refused: Vec<FieldError> = errors
        .field_errors()
        .into_iter()
        .flat_map(|(field, errors)| errors.iter().map(move |error| (field.to_string(), error)))
        .map(|(field, error)| {
            let message = error.message.clone().unwrap_or_default();
            let invalid = Invalid::new(InvalidCode::OutOfRange, message);
            FieldError::new(format!("/{field}"), &invalid)
        })
        .collect();
    refused.sort_by(|a, b| a.field.cmp(&b.field));
    refused
}

/// Exchanges a refresh token for a new pair.
///
/// Each token works once. One that is used twice was copied, so its whole session ends. A token in
/// the cookie needs an `Origin` of this host.
#[utoipa::path(
    post,
    path = "/api/v1/admin/sessions/refresh",
    tag = "sessions",
    operation_id = "refreshSession",
    request_body = RefreshBody,
    responses(
        (status = 200, description = "A new pair of tokens", body = TokensView),
        (status = 401, description = "Unknown, used or ended"),
        (status = 403, description = "A cookie from a foreign page"),
    )
)]
pub(crate) async fn refresh(
    request: HttpRequest,
    services: web::Data<Services>,
    base: web::Data<BaseUrl>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let body = json_body(&request, payload, BODY_LIMIT).await?;
    let mut fields = Fields::of_body(&body)?;
    let sent = fields.text("refreshToken", |text| Ok(text.to_owned())).apply(None);
    fields.finish().map_err(ApiError::invalid)?;
    let (token, from_cookie) = match (sent, cookie::token(&request)) {
        (Some(token), _) => (token, false),
        (None, Some(token)) => (token, true),
        (None, None) => {
            let required = Invalid::new(InvalidCode::Required, "is required");
            return Err(ApiError::invalid_field("/refreshToken", &required));
        }
    };
    if from_cookie && !cookie::is_same_origin(&request, &base.0) {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "a refresh by cookie must come from a page of this host",
        ));
    }
    let tokens = blocking::run(move || services.sessions.refresh(&token)).await?;
    respond(StatusCode::OK, tokens, from_cookie, &base)
}

fn respond(
    status: StatusCode,
    tokens: Tokens,
    as_cookie: bool,
    base: &BaseUrl,
) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::build(status);
    response.insert_header((CACHE_CONTROL, "no-store"));
    let refresh_token = if as_cookie {
        let secure = base.0.starts_with("https:");
        let kept = cookie::keep(&tokens.refresh.0, tokens.refresh_expires_in, secure)?;
        response.insert_header((SET_COOKIE, kept));
        None
    } else {
        Some(tokens.refresh.0)
    };
    Ok(response.content_type("application/json").body(to_json(&TokensView {
        access_token: tokens.access,
        token_type: "Bearer",
        expires_in: tokens.expires_in.num_seconds(),
        refresh_token,
    })))
}

/// Lists one's own open sessions, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/admin/sessions",
    tag = "sessions",
    operation_id = "listSessions",
    responses(
        (status = 200, description = "The sessions", body = Vec<SessionView>),
    ),
    security(("session" = []))
)]
pub(crate) async fn list_sessions(
    who: SignedInAdmin,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let admin = who.admin().id;
    let sessions = blocking::run(move || services.sessions.list(admin)).await?;
    let views: Vec<SessionView> = sessions
        .into_iter()
        .map(|session| SessionView {
            id: session.id.0.to_string(),
            current: session.id == who.session().id,
            created_at: time(session.created_at),
            expires_at: time(session.expires_at),
            user_agent: session.user_agent,
            network: session.network,
        })
        .collect();
    Ok(HttpResponse::Ok().content_type("application/json").body(to_json(&views)))
}

/// Signs out: the access token is refused from now on.
#[utoipa::path(
    delete,
    path = "/api/v1/admin/sessions/current",
    tag = "sessions",
    operation_id = "signOut",
    responses(
        (status = 204, description = "Signed out"),
    ),
    security(("session" = []))
)]
pub(crate) async fn end_current(
    who: SignedInAdmin,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let (admin, session) = (who.admin().id, who.session().id);
    blocking::run(move || services.sessions.end(admin, session)).await?;
    Ok(HttpResponse::NoContent().insert_header((SET_COOKIE, cookie::forget())).finish())
}

/// Ends one of one's own sessions.
#[utoipa::path(
    delete,
    path = "/api/v1/admin/sessions/{sid}",
    tag = "sessions",
    operation_id = "endSession",
    params(("sid" = String, Path, description = "The session's number")),
    responses(
        (status = 204, description = "Ended"),
    ),
    security(("session" = []))
)]
pub(crate) async fn end_session(
    who: SignedInAdmin,
    services: web::Data<Services>,
    sid: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let sid = Uuid::parse_str(&sid).map(SessionId).map_err(|_| ApiError::not_found())?;
    let admin = who.admin().id;
    if blocking::run(move || services.sessions.end(admin, sid)).await? {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(ApiError::not_found())
    }
}
