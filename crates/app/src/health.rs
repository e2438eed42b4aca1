//! Signs of life.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::blocking;
use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::public_api::view::to_json;
use crate::server::Readiness;
use crate::wiring::Services;

/// What the service can do at the moment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct ReadinessView {
    /// `ready`, `stopping` or `unavailable`.
    #[schema(example = "ready")]
    status: &'static str,
    /// Whether the database answers.
    database: bool,
    /// With `verbose`: what the operator should look at, in words; none of it makes the service
    /// less ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'static str>>,
}

/// Whether the process lives; it touches nothing else.
#[utoipa::path(get, path = "/livez", tag = "operation", operation_id = "livez",
    responses((status = 200, description = "The process lives", body = String)))]
pub(crate) async fn livez() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("text/plain; charset=utf-8")
        .body("ok\n")
}

/// Whether requests should be sent here: the database answers and nobody has asked to stop.
#[utoipa::path(get, path = "/readyz", tag = "operation", operation_id = "readyz",
    params(("verbose" = Option<String>, Query, description = "Shows warnings too; takes no value")),
    responses(
        (status = 200, description = "Ready", body = ReadinessView),
        (status = 503, description = "Not ready", body = ReadinessView)))]
pub(crate) async fn readyz(
    request: HttpRequest,
    services: web::Data<Services>,
    readiness: web::Data<Readiness>,
    proxies: web::Data<TrustedProxies>,
) -> HttpResponse {
    let databases = services.databases.clone();
    let ping = blocking::run_within(blocking::VISIT_LIMIT, move || {
        databases.ping().map_err(ApiError::from)
    });
    let database = services.databases.is_ready() && ping.await.is_ok();
    let status = match (readiness.is_stopping(), database) {
        (true, _) => "stopping",
        (false, true) => "ready",
        (false, false) => "unavailable",
    };
    let mut asked = request.query_string().split('&');
    let verbose = asked.any(|pair| pair.split('=').next() == Some("verbose"));
    let warnings = verbose.then(|| proxies.warning().into_iter().collect());
    let mut answer =
        if status == "ready" { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    answer
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(to_json(&ReadinessView { status, database, warnings }))
}
