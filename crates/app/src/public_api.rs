//! The Public API: customers' back ends manage their links.

pub(crate) mod body;
pub(crate) mod bulk;
mod etag;
pub(crate) mod list;
pub(crate) mod qr;
pub(crate) mod view;
pub(crate) mod write;

pub(crate) use bulk::bulk_create;
pub(crate) use list::list_links;
pub(crate) use qr::link_qr;
pub(crate) use write::{create_link, delete_link, update_link};

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::link::ShortCode;

use crate::auth::api_key::{Caller, LinksRead};
use crate::blocking;
use crate::problem::ApiError;
use crate::wiring::Services;
use view::LinkView;

/// Reads one link.
///
/// Expired links are answered too. With `If-None-Match` an unchanged link is a 304 without a body.
#[utoipa::path(
    get,
    path = "/api/v1/public/links/{shortCode}",
    tag = "links",
    operation_id = "getLink",
    params(
        ("shortCode" = String, Path, description = "The link's short code", example = "k7Qm2xT"),
        ("If-None-Match" = Option<String>, Header, description = "An ETag known already"),
    ),
    responses(
        (status = 200, description = "The link", body = LinkView<'_>,
            headers(("ETag" = String, description = "The link's version"))),
        (status = 304, description = "Unchanged"),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn get_link(
    request: HttpRequest,
    caller: Caller<LinksRead>,
    services: web::Data<Services>,
    code: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let code = parse_code(&code)?;
    let app = caller.app().clone();
    let views = services.views.clone();
    let (link, body) = blocking::run(move || {
        let link = services.links.find(app.id, &code)?.ok_or_else(ApiError::link_not_found)?;
        let body = views.json(&app, &link);
        Ok::<_, ApiError>((link, body))
    })
    .await?;
    let tag = etag::of(&link, body.now);
    if etag::none_match(&request, &tag) {
        return Ok(HttpResponse::NotModified().insert_header((header::ETAG, tag)).finish());
    }
    Ok(HttpResponse::Ok()
        .insert_header((header::ETAG, tag))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"))
        .content_type("application/json")
        .body(body.text))
}

/// A code in a path; what can't be a code is no link's.
pub(crate) fn parse_code(text: &str) -> Result<ShortCode, ApiError> {
    ShortCode::parse(text).map_err(|_| ApiError::link_not_found())
}
