//! A visit: the hot path. From a code to a redirect, with the click stored before it is sent.

use std::borrow::Cow;

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use signpost_domain::app::{Host, Place};
use signpost_domain::click::{NewClick, Platform, Referrer, is_prefetch};
use signpost_domain::link::{Destination, ShortCode};
use signpost_domain::ports::Recorded;
use signpost_domain::service::{Found, Lookup, Visitor};

use crate::blocking;
use crate::metrics::Metrics;
use crate::pages;
use crate::problem::ApiError;
use crate::proxies::TrustedProxies;
use crate::request;
use crate::wiring::Services;

/// What a visit needs, found at once.
pub(crate) struct Context {
    pub(crate) services: Services,
    pub(crate) proxies: TrustedProxies,
    pub(crate) metrics: Metrics,
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
    let Some(found) = find(request, context, slug, code).await? else {
        count("not_found");
        return refusal(request, StatusCode::NOT_FOUND);
    };
    let visit = context.services.visits.arrive(&found, visitor(request, context));
    if let Some(click) = visit.click
        && context.services.visits.record(click).await == Recorded::Dropped
    {
        // Lost, but the visitor is not to blame: the writer has counted and logged it.
        count("click_dropped");
    }
    let answer = match visit.destination {
        Destination::Redirect(target) => {
            count("redirect");
            redirect(target.as_str())
        }
        Destination::Landing(target) => {
            count("landing");
            pages::landing(&found.route, &found.app, target.as_ref())
        }
        Destination::ExpiredRedirect(target) => {
            count("expired");
            redirect(target.as_str())
        }
        Destination::Expired => {
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
    let visits = &context.services.visits;
    // Reading the host costs more than all else here, so it is read only where it decides.
    let host = if visits.host_matters() { host_of(request, context) } else { None };
    match visits.in_memory(&code, Place { host: host.as_ref(), slug }) {
        Lookup::Found(found) => Ok(Some(found)),
        Lookup::Absent => Ok(None),
        Lookup::Unknown => {
            let host = host.or_else(|| host_of(request, context));
            let (context, slug) = (context.clone(), slug.map(str::to_owned));
            blocking::run_within(blocking::VISIT_LIMIT, move || {
                let place = Place { host: host.as_ref(), slug: slug.as_deref() };
                context.services.visits.load(&code, place)
            })
            .await
        }
    }
}

fn host_of(request: &HttpRequest, context: &Context) -> Option<Host> {
    context.proxies.host(request.peer_addr().map(|a| a.ip()), request.headers())
}

fn visitor(request: &HttpRequest, context: &Context) -> Visitor {
    let headers = request.headers();
    let agent = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes);
    let agent_text: Cow<'_, str> = agent.map(String::from_utf8_lossy).unwrap_or_default();
    Visitor {
        platform: Platform::detect(text(headers, "sec-ch-ua-platform"), Some(&agent_text)),
        address: context.proxies.client(request.peer_addr().map(|a| a.ip()), headers),
        user_agent: agent.and_then(NewClick::clean_user_agent),
        referrer: text(headers, "referer").and_then(Referrer::parse),
        counts: request.method() == Method::GET && !is_prefetch(|name| text(headers, name)),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// 302: the target depends on the visitor and may change, so nobody may keep it.
fn redirect(target: &str) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, target))
        .insert_header((header::CACHE_CONTROL, pages::NO_STORE))
        .insert_header(pages::NO_INDEX)
        .finish()
}

/// 404 or 410: a page for people, a problem for programs that ask for JSON or mistype a path of
/// the API, of which no link can be part.
fn refusal(request: &HttpRequest, status: StatusCode) -> Result<HttpResponse, ApiError> {
    let accept = text(request.headers(), "accept").unwrap_or_default();
    let asks_json = accept.contains("json") && !accept.contains("text/html");
    if asks_json || request.path().starts_with("/api/") {
        let problem = if status == StatusCode::GONE {
            ApiError::new(status, "link_expired", "the link has expired")
        } else {
            ApiError::link_not_found()
        };
        return Err(problem);
    }
    Ok(pages::refusal(status))
}
