//! The bare host, without any code.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::link::Destination;

use crate::problem::ApiError;
use crate::visit::Context;
use crate::{hosts, pages};

/// What the service's own host shows: the API's description.
const OWN_PAGE: &str = "/docs/";

/// `/`: on an app's host its web default or a page about it, on any other the service itself.
pub(crate) async fn front(
    request: HttpRequest,
    context: web::Data<Context>,
) -> Result<HttpResponse, ApiError> {
    // An address is no app's host.
    let Some(host) = context.host_of(&request) else { return Ok(to_own_page()) };
    let apps = hosts::all_apps(&context.services).await?;
    let Some(app) = apps.front(&host) else { return Ok(to_own_page()) };
    Ok(match app.front() {
        Destination::Redirect(target) => pages::redirect(&target),
        other => pages::landing(app, None, other.target().as_ref(), &app.stores()),
    })
}

/// `/docs`: the same page, asked for without its slash.
pub(crate) async fn docs() -> HttpResponse {
    to_own_page()
}

fn to_own_page() -> HttpResponse {
    HttpResponse::Found().insert_header((header::LOCATION, OWN_PAGE)).finish()
}
