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
use crate::request::TrustedProxies;
use crate::wiring::Services;

/// A visit of `/{shortCode}`.
pub(crate) async fn visit(
    request: HttpRequest,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let code = request.match_info().get("code").unwrap_or_default().to_owned();
    follow(&request, &services, None, &code).await
}

/// A visit of `/{slug}/{shortCode}`: the same, for that app only.
pub(crate) async fn visit_of_app(
    request: HttpRequest,
    services: web::Data<Services>,
) -> Result<HttpResponse, ApiError> {
    let part = |name| request.match_info().get(name).unwrap_or_default().to_owned();
    let (slug, code) = (part("slug"), part("code"));
    follow(&request, &services, Some(&slug), &code).await
}

async fn follow(
    request: &HttpRequest,
    services: &web::Data<Services>,
    slug: Option<&str>,
    code: &str,
) -> Result<HttpResponse, ApiError> {
    let metrics = request.app_data::<web::Data<Metrics>>();
    let count = |result: &'static str| {
        if let Some(metrics) = metrics {
            metrics.redirect(result);
        }
    };
    let Some(found) = find(request, services, slug, code).await? else {
        count("not_found");
        return Ok(refusal(request, StatusCode::NOT_FOUND));
    };
    let visit = services.visits.arrive(&found, visitor(request));
    if let Some(click) = visit.click
        && services.visits.record(click).await == Recorded::Dropped
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
            refusal(request, StatusCode::GONE)
        }
    };
    Ok(answer)
}

async fn find(
    request: &HttpRequest,
    services: &web::Data<Services>,
    slug: Option<&str>,
    code: &str,
) -> Result<Option<Found>, ApiError> {
    let Ok(code) = ShortCode::parse(code) else { return Ok(None) };
    let host = host_of(request);
    match services.visits.in_memory(&code, Place { host: host.as_ref(), slug }) {
        Lookup::Found(found) => Ok(Some(found)),
        Lookup::Absent => Ok(None),
        Lookup::Unknown => {
            let (services, slug) = (services.clone(), slug.map(str::to_owned));
            blocking::run_within(blocking::VISIT_LIMIT, move || {
                services.visits.load(&code, Place { host: host.as_ref(), slug: slug.as_deref() })
            })
            .await
        }
    }
}

fn host_of(request: &HttpRequest) -> Option<Host> {
    let peer = request.peer_addr().map(|a| a.ip());
    request.app_data::<web::Data<TrustedProxies>>()?.host(peer, request.headers())
}

fn visitor(request: &HttpRequest) -> Visitor {
    let headers = request.headers();
    let agent = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes);
    let agent_text: Cow<'_, str> = agent.map(String::from_utf8_lossy).unwrap_or_default();
    Visitor {
        platform: Platform::detect(text(headers, "sec-ch-ua-platform"), Some(&agent_text)),
        address: crate::request::client_of(request),
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

/// 404 or 410: a page for people, a problem for programs that ask for JSON.
fn refusal(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let accept = text(request.headers(), "accept").unwrap_or_default();
    if accept.contains("json") && !accept.contains("text/html") {
        let problem = if status == StatusCode::GONE {
            ApiError::new(status, "link_expired", "the link has expired")
        } else {
            ApiError::link_not_found()
        };
        let id = crate::request::RequestId::get(request);
        return problem.respond(&id, request.method());
    }
    pages::refusal(status)
}
