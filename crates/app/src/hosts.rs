//! Hosts of apps serve links, never the APIs behind them.

use std::sync::Arc;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpRequest, web};
use signpost_domain::app::AppSet;

use crate::blocking;
use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::wiring::Services;

/// Paths that only hosts of the service itself answer.
const OWN: &[&str] =
    &["/api/v1/public", "/api/v1/admin", "/api/openapi.json", "/docs", "/dashboard"];

/// Middleware: on a host that an app lists, everything but links is 404.
///
/// A page under an app's host must not reach the session of somebody signed in to the dashboard.
pub(crate) async fn keep_to_links<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    // The path as the router reads it: in the raw one a letter may be written with a percent sign.
    let path = request.match_info().as_str();
    if OWN.iter().any(|own| path.starts_with(own)) && is_app_host(request.request()).await {
        // An answer, because an error would pass by the middleware that writes problems.
        return Ok(request.error_response(ApiError::not_found()).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}

async fn is_app_host(request: &HttpRequest) -> bool {
    let Some(proxies) = request.app_data::<web::Data<TrustedProxies>>() else { return false };
    let peer = request.peer_addr().map(|a| a.ip());
    let Some(host) = proxies.host(peer, request.headers()) else { return false };
    let Some(services) = request.app_data::<web::Data<Services>>() else { return false };
    // Without the apps nothing behind this gate can answer anyway.
    all_apps(services).await.is_ok_and(|apps| apps.is_app_host(&host))
}

/// All apps, from memory where possible.
pub(crate) async fn all_apps(services: &Services) -> Result<Arc<AppSet>, ApiError> {
    if let Some(apps) = services.directory.in_memory() {
        return Ok(apps);
    }
    let directory = services.directory.clone();
    blocking::run_within(blocking::VISIT_LIMIT, move || directory.load()).await
}
