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
use crate::wiring::{Services, Traffic};

/// What the service can do at the moment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Readiness)]
pub(crate) struct ReadinessView {
    /// `ready`; `degraded`, when known links are followed and clicks recorded while something is
    /// amiss; `unavailable`, before the database was ever reached; `stopping`.
    #[schema(example = "ready")]
    status: &'static str,
    /// Whether the database answers.
    database: bool,
    /// With `verbose`: what the operator should look at, in words; none of it makes the service
    /// less ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'static str>>,
    /// Whether the click journal takes clicks.
    journal: bool,
    /// With `?verbose`: clicks in the journal that are not in the database yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    backlog: Option<u64>,
    /// With `?verbose`: clicks lost since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_clicks: Option<u64>,
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

/// Whether requests should be sent here.
///
/// An outage of the database does not make the service unready once it has been ready: known links
/// are followed and their clicks recorded, which no other node could do better.
#[utoipa::path(get, path = "/readyz", tag = "operation", operation_id = "readyz",
    params(("verbose" = Option<String>, Query, description = "Adds numbers and warnings; takes no value")),
    responses(
        (status = 200, description = "`ready` or `degraded`", body = ReadinessView),
        (status = 503, description = "`unavailable` or `stopping`", body = ReadinessView)))]
pub(crate) async fn readyz(
    request: HttpRequest,
    services: web::Data<Services>,
    traffic: web::Data<Traffic>,
    readiness: web::Data<Readiness>,
    proxies: web::Data<TrustedProxies>,
) -> HttpResponse {
    let databases = services.databases.clone();
    let ping = blocking::run_within(blocking::VISIT_LIMIT, move || {
        databases.ping().map_err(ApiError::from)
    });
    let was_ready = services.databases.is_ready();
    let database = was_ready && ping.await.is_ok();
    let flow = traffic.flow();
    let journal = !flow.is_refusing;
    let status = if readiness.is_stopping() {
        "stopping"
    } else if !was_ready {
        "unavailable"
    } else if database && journal {
        "ready"
    } else {
        "degraded"
    };
    let mut asked = request.query_string().split('&');
    let verbose = asked.any(|pair| pair.split('=').next() == Some("verbose"));
    let mut answer = match status {
        "ready" | "degraded" => HttpResponse::Ok(),
        _ => HttpResponse::ServiceUnavailable(),
    };
    answer.insert_header((header::CACHE_CONTROL, "no-store")).content_type("application/json").body(
        to_json(&ReadinessView {
            status,
            database,
            journal,
            warnings: verbose.then(|| proxies.warning().into_iter().collect()),
            backlog: verbose.then(|| flow.backlog()),
            dropped_clicks: verbose.then_some(flow.counts.dropped),
        }),
    )
}
