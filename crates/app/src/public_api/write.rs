//! Creating, changing and deleting a link.

use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use sha2::{Digest, Sha256};
use signpost_domain::app::App;
use signpost_domain::ports::{
    Answer, BodyHash, IdempotencyKey, Idempotent, Insertion, Outcome, Render,
};
use signpost_domain::service::NewLink;
use signpost_domain::{Invalid, InvalidCode};

use super::body::{CreateLinkBody, UpdateLinkBody, read_new, read_update};
use super::view::LinkView;
use super::{etag, parse_code};
use crate::auth::api_key::{Caller, LinksWrite};
use crate::blocking;
use crate::extract::{BODY_LIMIT, json_body};
use crate::fields::Fields;
use crate::problem::ApiError;
use crate::wiring::Services;

/// Creates a link.
///
/// With an `Idempotency-Key`, a request that is sent again within 24 hours has its effect once and
/// gets the first answer again.
#[utoipa::path(
    post,
    path = "/api/v1/public/links",
    tag = "links",
    operation_id = "createLink",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1–255 visible ASCII characters that name this request")),
    request_body = CreateLinkBody,
    responses(
        (status = 201, description = "Created", body = LinkView<'_>, headers(
            ("Location" = String, description = "Path of the link"),
            ("ETag" = String, description = "The link's version"),
            ("Idempotent-Replayed" = Option<String>, description = "`true` when this answer was given before"))),
        (status = 409, description = "short_code_taken, or idempotency_in_progress"),
        (status = 422, description = "The Idempotency-Key was used with another body"),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn create_link(
    request: HttpRequest,
    caller: Caller<LinksWrite>,
    services: web::Data<Services>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let key = idempotency_key(&request, &caller)?;
    let body = json_body(&request, payload, BODY_LIMIT).await?;
    let app = caller.app().clone();
    let done = blocking::run(move || {
        let once = Once::new(key, &body);
        if let Some(answer) = once.earlier(&services)? {
            return Ok(answer);
        }
        let link = read_create(&services, &app, &body)?;
        let render = render_created(&services, &app);
        once.create(&services, &app, vec![link], &render)
    })
    .await?;
    Ok(done.respond())
}

fn read_create(services: &Services, app: &App, body: &Bytes) -> Result<NewLink, ApiError> {
    let fields = Fields::of_body(body)?;
    read_new(fields, &app.settings.custom_schemes, services.views.now()).map_err(ApiError::invalid)
}

fn render_created(services: &Services, app: &Arc<App>) -> Render {
    let (views, app) = (services.views.clone(), app.clone());
    Arc::new(move |outcomes| match outcomes.first() {
        Some(Outcome::Stored(link)) => {
            let body = views.json(&app, link);
            Answer {
                status: 201,
                etag: Some(etag::of(link, body.now)),
                location: Some(format!("/api/v1/public/links/{}", link.code)),
                body: body.text,
            }
        }
        Some(Outcome::CodeTaken) | None => {
            Answer { status: 409, body: String::new(), location: None, etag: None }
        }
    })
}

/// A request that may have to happen once.
pub(super) struct Once {
    key: Option<IdempotencyKey>,
    body: BodyHash,
}

/// What came of it.
pub(super) struct Done {
    answer: Answer,
    replayed: bool,
}

impl Once {
    pub(super) fn new(key: Option<IdempotencyKey>, body: &Bytes) -> Self {
        // The hash costs microseconds, so requests without a key are spared it.
        let hash = if key.is_some() { Sha256::digest(body).into() } else { [0; 32] };
        Self { key, body: BodyHash(hash) }
    }

    /// The answer, when the request was sent before. Asked before the body is looked at: what was
    /// valid then must not be refused now, because its expiry has passed meanwhile.
    pub(super) fn earlier(&self, services: &Services) -> Result<Option<Done>, ApiError> {
        let Some(key) = &self.key else { return Ok(None) };
        services.links.earlier_answer(key, self.body)?.map(finish).transpose()
    }

    /// Creates links and answers with what `render` makes of the outcomes.
    pub(super) fn create(
        self,
        services: &Services,
        app: &App,
        links: Vec<NewLink>,
        render: &Render,
    ) -> Result<Done, ApiError> {
        let body = self.body;
        let once = self.key.map(|key| Idempotent { key, body, render: render.clone() });
        match services.links.create_all(app.id, links, once)? {
            Insertion::Fresh(outcomes) => {
                let answer = render(&outcomes);
                if answer.status == StatusCode::CONFLICT.as_u16() {
                    return Err(ApiError::short_code_taken());
                }
                Ok(Done { answer, replayed: false })
            }
            other => finish(other),
        }
    }
}

fn finish(insertion: Insertion) -> Result<Done, ApiError> {
    match insertion {
        Insertion::Replayed(answer) => Ok(Done { answer, replayed: true }),
        Insertion::Mismatch => Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_mismatch",
            "the Idempotency-Key was used with another body",
        )),
        Insertion::InProgress => Err(ApiError::new(
            StatusCode::CONFLICT,
            "idempotency_in_progress",
            "the same request is under way",
        )),
        Insertion::Fresh(_) => Err(ApiError::internal("a fresh insertion is no earlier answer")),
    }
}

impl Done {
    pub(super) fn respond(self) -> HttpResponse {
        let status = StatusCode::from_u16(self.answer.status).unwrap_or(StatusCode::OK);
        let mut response = HttpResponse::build(status);
        if let Some(location) = self.answer.location {
            response.insert_header((header::LOCATION, location));
        }
        if let Some(tag) = self.answer.etag {
            response.insert_header((header::ETAG, tag));
        }
        if self.replayed {
            response.insert_header(("Idempotent-Replayed", "true"));
        }
        response.content_type("application/json").body(self.answer.body)
    }
}

/// The `Idempotency-Key` of a request.
pub(super) fn idempotency_key(
    request: &HttpRequest,
    caller: &Caller<LinksWrite>,
) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = request.headers().get_all("idempotency-key");
    let Some(value) = values.next() else { return Ok(None) };
    let visible = |b: &u8| (0x20..0x7f).contains(b);
    let bytes = value.as_bytes();
    if values.next().is_some() || !(1..=255).contains(&bytes.len()) || !bytes.iter().all(visible) {
        return Err(ApiError::invalid_field(
            "Idempotency-Key",
            &Invalid::new(InvalidCode::InvalidFormat, "must be 1 to 255 visible ASCII characters"),
        ));
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    Ok(Some(IdempotencyKey { app_id: caller.app().id, key_id: caller.key(), text }))
}

/// Changes a link.
///
/// Absent fields stay as they are, `null` clears an optional field, the payload is replaced whole.
/// With `If-Match` the change happens only if nobody else has changed the link since.
#[utoipa::path(
    put,
    path = "/api/v1/public/links/{shortCode}",
    tag = "links",
    operation_id = "updateLink",
    params(
        ("shortCode" = String, Path, description = "The link's short code", example = "k7Qm2xT"),
        ("If-Match" = Option<String>, Header, description = "The ETag of the version to change"),
    ),
    request_body = UpdateLinkBody,
    responses(
        (status = 200, description = "The link as it is now", body = LinkView<'_>,
            headers(("ETag" = String, description = "The link's version"))),
        (status = 412, description = "The link has changed since it was read"),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn update_link(
    request: HttpRequest,
    caller: Caller<LinksWrite>,
    services: web::Data<Services>,
    code: web::Path<String>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let code = parse_code(&code)?;
    let expected = etag::expected(&request);
    // Read now and judged below: a link that isn't there is said before a body that isn't right.
    let body = json_body(&request, payload, BODY_LIMIT).await;
    let app = caller.app().clone();
    let (tag, text) = blocking::run(move || {
        let link = services.links.find(app.id, &code)?.ok_or_else(ApiError::link_not_found)?;
        let body = body?;
        let fields = Fields::of_body(&body)?;
        let edit =
            read_update(fields, &link, &app.settings.custom_schemes).map_err(ApiError::invalid)?;
        let link = services
            .links
            .update(app.id, &code, edit, expected)?
            .ok_or_else(ApiError::link_not_found)?;
        let rendered = services.views.json(&app, &link);
        Ok::<_, ApiError>((etag::of(&link, rendered.now), rendered.text))
    })
    .await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::ETAG, tag))
        .content_type("application/json")
        .body(text))
}

/// Deletes a link.
///
/// The link, its clicks and its statistics are unreachable at once and erased within 24 hours. Its
/// code is never given to another link.
#[utoipa::path(
    delete,
    path = "/api/v1/public/links/{shortCode}",
    tag = "links",
    operation_id = "deleteLink",
    params(("shortCode" = String, Path, description = "The link's short code", example = "k7Qm2xT")),
    responses(
        (status = 204, description = "Deleted"),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn delete_link(
    caller: Caller<LinksWrite>,
    services: web::Data<Services>,
    code: web::Path<String>,
) -> Result<HttpResponse, ApiError> {
    let code = parse_code(&code)?;
    let app = caller.app().id;
    if blocking::run(move || services.links.remove(app, &code)).await? {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(ApiError::link_not_found())
    }
}
