//! Creating many links in one request.

use std::sync::Arc;

use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use serde_json::value::RawValue;
use signpost_domain::app::App;
use signpost_domain::ports::{Answer, Outcome, Render};
use signpost_domain::service::NewLink;
use signpost_domain::{Invalid, InvalidCode};
use utoipa::ToSchema;

use super::body::{CreateLinkBody, read_new};
use super::view::{LinkView, to_json};
use super::write::{Once, idempotency_key};
use crate::auth::api_key::{Caller, LinksWrite};
use crate::blocking;
use crate::extract::{BULK_LIMIT, json_body};
use crate::fields::Fields;
use crate::problem::{ApiError, ProblemView};
use crate::request::RequestId;
use crate::wiring::Services;

/// Most links of one request.
const MAX_LINKS: usize = 100;

/// What a client sends to create many links. The documentation only.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BulkCreate)]
pub(crate) struct BulkBody {
    /// 1–100 links.
    #[schema(min_items = 1, max_items = 100)]
    links: Vec<CreateLinkBody>,
}

/// What became of each link, in the order sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BulkResult)]
pub(crate) struct BulkView<'a> {
    data: Vec<BulkItemView<'a>>,
}

/// What became of one link.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BulkItem)]
pub(crate) struct BulkItemView<'a> {
    /// Its place in the request, from 0.
    index: usize,
    /// The status it would have got alone.
    #[schema(example = 201)]
    status: u16,
    /// The link, when it was created.
    link: Option<LinkView<'a>>,
    /// The problem, when it was not.
    error: Option<ProblemView<'a>>,
}

/// Creates 1–100 links.
///
/// Each stands on its own merits: one bad link does not spoil the others. Honours
/// `Idempotency-Key` as one request. Each link counts against the rate limit.
#[utoipa::path(
    post,
    path = "/api/v1/public/links/bulk",
    tag = "links",
    operation_id = "bulkCreateLinks",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1–255 visible ASCII characters that name this request")),
    request_body = BulkBody,
    responses(
        (status = 207, description = "What became of each link", body = BulkView<'_>, headers(
            ("Idempotent-Replayed" = Option<String>, description = "`true` when this answer was given before"))),
        (status = 400, description = "Not a list of 1–100 links"),
        (status = 409, description = "idempotency_in_progress"),
        (status = 422, description = "The Idempotency-Key was used with another body"),
    ),
    security(("apiKey" = []), ("bearer" = []))
)]
pub(crate) async fn bulk_create(
    request: HttpRequest,
    caller: Caller<LinksWrite>,
    services: web::Data<Services>,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let key = idempotency_key(&request, &caller)?;
    let body = json_body(&request, payload, BULK_LIMIT).await?;
    // The request itself was counted with the caller.
    let count = items(&body)?.len();
    caller.charge(&request, count - 1)?;
    let (app, id) = (caller.app().clone(), RequestId::get(&request));
    let done = blocking::run(move || {
        let once = Once::new(key, &body);
        if let Some(answer) = once.earlier(&services)? {
            return Ok(answer);
        }
        let (links, refused) = read_items(&services, &app, &body)?;
        let render = render(&services, &app, refused, id);
        once.create(&services, &app, links, &render)
    })
    .await?;
    Ok(done.respond())
}

fn items(body: &Bytes) -> Result<Vec<&RawValue>, ApiError> {
    let mut fields = Fields::of_body(body)?;
    let invalid =
        match fields.raw("links").map(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get())) {
            None => Some(Invalid::new(InvalidCode::Required, "is required")),
            Some(Err(_)) => Some(Invalid::new(InvalidCode::WrongType, "must be an array of links")),
            Some(Ok(items)) if items.is_empty() => {
                Some(Invalid::new(InvalidCode::TooShort, "names no link"))
            }
            Some(Ok(items)) if items.len() > MAX_LINKS => {
                Some(Invalid::new(InvalidCode::TooLong, format!("has more than {MAX_LINKS} links")))
            }
            Some(Ok(items)) => {
                fields.finish().map_err(ApiError::invalid)?;
                return Ok(items);
            }
        };
    if let Some(invalid) = invalid {
        fields.refuse("links", &invalid);
    }
    Err(ApiError::invalid(fields.finish().err().unwrap_or_default()))
}

/// The good links in their order, and for every place the problem of a bad one.
type Read = (Vec<NewLink>, Vec<Option<ApiError>>);

fn read_items(services: &Services, app: &App, body: &Bytes) -> Result<Read, ApiError> {
    let now = services.views.now();
    let mut read: Read = (Vec::new(), Vec::new());
    for raw in items(body)? {
        let link = Fields::of_value("", raw)
            .map_err(|error| vec![error])
            .and_then(|fields| read_new(fields, &app.settings.custom_schemes, now));
        match link {
            Ok(link) => {
                read.0.push(link);
                read.1.push(None);
            }
            Err(errors) => read.1.push(Some(ApiError::invalid(errors))),
        }
    }
    Ok(read)
}

fn render(
    services: &Services,
    app: &Arc<App>,
    refused: Vec<Option<ApiError>>,
    request_id: String,
) -> Render {
    let (views, app) = (services.views.clone(), app.clone());
    let taken = ApiError::short_code_taken();
    Arc::new(move |outcomes| {
        let now = views.now();
        let mut outcomes = outcomes.iter();
        let data = refused
            .iter()
            .enumerate()
            .map(|(index, refused)| {
                let error = match refused {
                    Some(error) => error,
                    None => match outcomes.next() {
                        Some(Outcome::Stored(link)) => {
                            let link = Some(views.view(&app, link, now));
                            return BulkItemView { index, status: 201, link, error: None };
                        }
                        Some(Outcome::CodeTaken) | None => &taken,
                    },
                };
                BulkItemView {
                    index,
                    status: error.status.as_u16(),
                    link: None,
                    error: Some(error.view(&request_id)),
                }
            })
            .collect();
        Answer { status: 207, body: to_json(&BulkView { data }), location: None, etag: None }
    })
}
