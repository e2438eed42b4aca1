//! Apps and their settings.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::app::AppId;

use super::app_body::{read_new, read_patch};
use super::app_view::{AppListView, AppView};
use crate::auth::admin::{Owner, SignedInAdmin};
use crate::blocking;
use crate::extract::{BODY_LIMIT, json_body};
use crate::fields::Fields;
use crate::problem::ApiError;
use crate::public_api::view::to_json;
use crate::wiring::Services;

/// Lists the apps one may see.
#[utoipa::path(
    get,
    path = "/api/v1/admin/apps",
    tag = "apps",
    operation_id = "listApps",
    responses(
        (status = 200, description = "The apps", body = AppListView),
    ),
    security(("session" = []))
)]
pub(crate) async fn list_apps(
    who: SignedInAdmin,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let admin = who.admin().clone();
    let apps = blocking::run(move || services.apps.list_for(&admin)).await?;
    Ok(json(&AppListView { data: apps.iter().map(AppView::from).collect() }))
}

/// Creates an app. The slug is made from the name unless given. Owners only.
#[utoipa::path(
    post,
    path = "/api/v1/admin/apps",
    tag = "apps",
    operation_id = "createApp",
    request_body(content = AppView, description = "`name`, and whatever else is known; the rest has defaults"),
    responses(
        (status = 201, description = "Created", body = AppView,
            headers(("Location" = String, description = "Path of the app"))),
        (status = 403, description = "Not an owner"),
        (status = 409, description = "The slug is taken"),
    ),
    security(("session" = []))
)]
pub(crate) async fn create_app(
    request: HttpRequest,
    _owner: Owner,
    services: web::Data<Services>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let body = json_body(&request, payload, BODY_LIMIT).await?;
    let (name, patch) = read_new(Fields::of_body(&body)?).map_err(ApiError::invalid)?;
    let app = blocking::run(move || services.apps.create(name, patch)).await?;
    Ok(HttpResponse::Created()
        .insert_header((header::LOCATION, format!("/api/v1/admin/apps/{}", app.id.0)))
        .content_type("application/json")
        .body(to_json(&AppView::from(&app))))
}

/// Reads an app.
#[utoipa::path(
    get,
    path = "/api/v1/admin/apps/{id}",
    tag = "apps",
    operation_id = "getApp",
    params(("id" = i64, Path, description = "The app's number", example = 1)),
    responses(
        (status = 200, description = "The app", body = AppView),
    ),
    security(("session" = []))
)]
pub(crate) async fn get_app(
    who: SignedInAdmin,
    services: web::Data<Services>,
    id: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = visible_app(&who, &id)?;
    let app =
        blocking::run(move || services.apps.find(id)).await?.ok_or_else(ApiError::not_found)?;
    Ok(json(&AppView::from(&app)))
}

/// Changes an app: objects are merged field by field, lists replaced whole, `null` clears.
#[utoipa::path(
    patch,
    path = "/api/v1/admin/apps/{id}",
    tag = "apps",
    operation_id = "updateApp",
    params(("id" = i64, Path, description = "The app's number", example = 1)),
    request_body(content = AppView, description = "The fields to change"),
    responses(
        (status = 200, description = "The app as it is now", body = AppView),
        (status = 409, description = "The slug is taken"),
    ),
    security(("session" = []))
)]
pub(crate) async fn patch_app(
    request: HttpRequest,
    who: SignedInAdmin,
    services: web::Data<Services>,
    id: web::Path<String>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let id = visible_app(&who, &id)?;
    let body = json_body(&request, payload, BODY_LIMIT).await;
    let app = blocking::run(move || {
        let app = services.apps.find(id)?.ok_or_else(ApiError::not_found)?;
        let body = body?;
        let patch = read_patch(Fields::of_body(&body)?, &app.settings.custom_schemes)
            .map_err(ApiError::invalid)?;
        services.apps.update(id, patch)?.ok_or_else(ApiError::not_found)
    })
    .await?;
    Ok(json(&AppView::from(&app)))
}

fn visible_app(who: &SignedInAdmin, text: &str) -> Result<AppId, ApiError> {
    let id = text.parse().map(AppId).map_err(|_| ApiError::not_found())?;
    if who.admin().sees(id) { Ok(id) } else { Err(ApiError::not_found()) }
}

fn json(view: &impl serde::Serialize) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(to_json(view))
}
