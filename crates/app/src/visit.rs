//! A visit: the hot path. From a code to a redirect, with the click stored before it is sent.

use std::borrow::Cow;

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::app::{Host, Place};
use signpost_domain::click::{NewClick, Platform, Referrer, is_prefetch, is_preview_crawler};
use signpost_domain::link::ShortCode;
use signpost_domain::ports::Recorded;
use signpost_domain::service::{Found, Lookup, Reply, Visitor, Visits};

use crate::metrics::Metrics;
use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::wiring::Services;
use crate::{blocking, inspection, pages, request};

/// What a visit needs, found at once.
pub(crate) struct Context {
    pub(crate) services: Services,
    pub(crate) visits: Visits,
    pub(crate) proxies: TrustedProxies,
    pub(crate) metrics: Metrics,
}

impl Context {
    /// The host that a request was sent to.
    pub(crate) fn host_of(&self, request: &HttpRequest) -> Option<Host> {
        self.proxies.host(request.peer_addr().map(|a| a.ip()), request.headers())
    }
}

/// A visit of `/{shortCode}`.
pub(crate) async fn visit(request: HttpRequest, context: web::Data<Context>) -> HttpResponse {
    let code = request.match_info().get("code").unwrap_or_default();
    request::answered(&request, follow(&request, &context, None, code)).await
}

/// A visit of `/{slug}/{shortCode}`: the same, for that app only.
pub(crate) async fn visit_of_app(
    request: HttpRequest,
    context: web::Data<Context>,
) -> HttpResponse {
    let part = |name| request.match_info().get(name).unwrap_or_default();
    let visit = follow(&request, &context, Some(part("slug")), part("code"));
    request::answered(&request, visit).await
}

async fn follow(
    request: &HttpRequest,
    context: &web::Data<Context>,
    slug: Option<&str>,
    code: &str,
) -> Result<HttpResponse, ApiError> {
    let count = |result| context.metrics.redirect(result);
    let inspected = inspection::inspected(code);
    let Some(found) = find(request, context, slug, inspected.unwrap_or(code)).await? else {
        count("not_found");
        return refusal(request, StatusCode::NOT_FOUND);
    };
    if inspected.is_some() {
        count("inspection");
        return Ok(inspection::answer(request, context, &found));
    }
    let visit = context.visits.arrive(&found, visitor(request, context));
    if let Some(click) = visit.click
        && context.visits.record(click).await == Recorded::Dropped
    {
        // Lost, but the visitor is not to blame: the writer has counted and logged it.
        count("click_dropped");
    }
    let answer = match visit.reply {
        Reply::Redirect(target) => {
            count("redirect");
            pages::redirect(&target)
        }
        Reply::Landing(target, stores) => {
            count("landing");
            pages::landing(&found.app, Some(&found.route), target.as_ref(), &stores)
        }
        Reply::Preview => {
            count("preview");
            let url = context.services.views.url(&found.app, &found.route.code);
            pages::preview(&found.app, &found.route, &url)
        }
        Reply::ExpiredRedirect(target) => {
            count("expired");
            pages::redirect(&target)
        }
        Reply::Expired => {
            count("expired");
            return refusal(request, StatusCode::GONE);
        }
    };
    Ok(answer)
}

async fn find(
    request: &HttpRequest,
    context: &web::Data<Context>,
    slug: Option<&str>,
    code: &str,
) -> Result<Option<Found>, ApiError> {
    let Ok(code) = ShortCode::parse(code) else { return Ok(None) };
    let visits = &context.visits;
    // Reading the host costs more than all else here, so it is read only where it decides.
    let host = if visits.host_matters() { context.host_of(request) } else { None };
    match visits.in_memory(&code, Place { host: host.as_ref(), slug }) {
        Lookup::Found(found) => Ok(Some(found)),
        Lookup::Absent => Ok(None),
        Lookup::Unknown => {
            let host = host.or_else(|| context.host_of(request));
            let (context, slug) = (context.clone(), slug.map(str::to_owned));
            blocking::run_within(blocking::VISIT_LIMIT, move || {
                let place = Place { host: host.as_ref(), slug: slug.as_deref() };
                context.visits.load(&code, place)
            })
            .await
        }
    }
}

fn visitor<'a>(request: &'a HttpRequest, context: &Context) -> Visitor<'a> {
    let headers = request.headers();
    let agent = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes);
    let agent_text: Cow<'_, str> = agent.map(String::from_utf8_lossy).unwrap_or_default();
    Visitor {
        platform: Platform::detect(text(headers, "sec-ch-ua-platform"), Some(&agent_text)),
        address: context.proxies.client(request.peer_addr().map(|a| a.ip()), headers),
        user_agent: agent.and_then(NewClick::clean_user_agent),
        referrer: text(headers, "referer").and_then(Referrer::parse),
        query: request.query_string(),
        previews: is_preview_crawler(&agent_text),
        counts: request.method() == Method::GET && !is_prefetch(|name| text(headers, name)),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// True for a program that asks for JSON; browsers name HTML too.
pub(crate) fn wants_json(request: &HttpRequest) -> bool {
    let accept = text(request.headers(), "accept").unwrap_or_default();
    accept.contains("json") && !accept.contains("text/html")
}

/// 404 or 410: a page for people, a problem for programs that ask for JSON or mistype a path of
/// the API, of which no link can be part.
fn refusal(request: &HttpRequest, status: StatusCode) -> Result<HttpResponse, ApiError> {
    if wants_json(request) || request.path().starts_with("/api/") {
        let problem = if status == StatusCode::GONE {
            ApiError::new(status, "link_expired", "the link has expired")
        } else {
            ApiError::link_not_found()
        };
        let (name, value) = pages::NO_INDEX;
        return Err(problem.with_header(name, value));
    }
    Ok(pages::refusal(status))
}
