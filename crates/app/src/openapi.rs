//! The OpenAPI document.

use std::sync::OnceLock;

use actix_web::HttpResponse;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, Response};
use utoipa::{Modify, OpenApi};

use crate::admin_api::{app_view, clicks, sessions, stats};
use crate::public_api::{self, body, bulk, list, qr, view, write};
use crate::{health, problem};

/// The document's frame; the paths come from the handlers.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Signpost",
        description = "Short links and deep links of mobile apps, and the statistics of their clicks.\n\n\
            Errors are problem documents (RFC 9457) with a machine-readable `code` and all refused \
            fields at once. Every answer carries `X-Request-Id`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    paths(
        list::list_links, write::create_link, bulk::bulk_create, public_api::get_link,
        write::update_link, write::delete_link, qr::link_qr,
        sessions::sign_in, sessions::refresh, sessions::list_sessions, sessions::end_current,
        sessions::end_session, stats::link_stats, clicks::link_clicks,
        crate::admin_api::apps::list_apps, crate::admin_api::apps::create_app,
        crate::admin_api::apps::get_app, crate::admin_api::apps::patch_app,
        health::livez, health::readyz,
    ),
    components(schemas(
        body::CreateLinkBody, body::UpdateLinkBody, body::LinkFields, view::LinkView<'_>,
        view::LinkPageView<'_>, view::PaginationView, bulk::BulkBody, bulk::BulkView<'_>,
        bulk::BulkItemView<'_>, problem::ProblemView<'_>, problem::FieldError, app_view::AppView,
        app_view::AppListView, stats::StatsView, clicks::ClickView, health::ReadinessView,
    )),
    modifiers(&Schemes, &Problems),
    tags(
        (name = "links", description = "Links, for back ends with an API key"),
        (name = "sessions", description = "Signing in to the Admin API"),
        (name = "analytics", description = "Clicks and statistics, for admins"),
        (name = "apps", description = "Apps and their settings, for admins"),
        (name = "operation", description = "Signs of life"),
    )
)]
struct Document;

struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_with(Default::default);
        let bearer = |description: &str| {
            SecurityScheme::Http(
                HttpBuilder::new()
                    .scheme(HttpAuthScheme::Bearer)
                    .description(Some(description))
                    .build(),
            )
        };
        components.add_security_scheme(
            "apiKey",
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
                "X-API-Key",
                "An API key",
            ))),
        );
        components.add_security_scheme("bearer", bearer("An API key as a bearer token"));
        components.add_security_scheme("session", bearer("The access token of an admin session"));
    }
}

/// Adds the problems that operations share, so that each handler names only its own.
struct Problems;

impl Modify for Problems {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        for (path, item) in &mut document.paths.paths {
            let operations =
                [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                let shared = shared_problems(path, operation);
                let answers = &mut operation.responses.responses;
                for (status, description) in shared {
                    answers
                        .entry(status.to_owned())
                        .or_insert_with(|| RefOr::T(Response::new(description)));
                }
                let problems = answers.iter_mut().filter(|(status, _)| status.as_str() >= "400");
                for (_, answer) in problems {
                    if let RefOr::T(answer) = answer
                        && answer.content.is_empty()
                    {
                        let body = Content::new(Some(Ref::from_schema_name("Problem")));
                        answer
                            .content
                            .insert("application/problem+json".to_owned(), RefOr::T(body));
                    }
                }
            }
        }
    }
}

/// The problems that follow from what an operation takes.
fn shared_problems(path: &str, operation: &Operation) -> Vec<(&'static str, &'static str)> {
    let mut shared = Vec::new();
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let takes_query =
        parameters.iter().any(|p| matches!(p, RefOr::T(p) if p.parameter_in == ParameterIn::Query));
    let takes_body = operation.request_body.is_some();
    if takes_query || takes_body {
        shared.push(("400", "A field or parameter is not valid; every one is named"));
    }
    if takes_body {
        shared.push(("413", "The body is too long"));
        shared.push(("415", "The body is not application/json"));
    }
    if operation.security.is_some() {
        shared.push(("401", "No valid credential"));
    }
    if path.starts_with("/api/v1/public") {
        shared.push(("403", "The key lacks the scope, which is named"));
        shared.push(("429", "Too many requests; Retry-After says when more are allowed"));
    }
    if path.contains('{') {
        shared.push(("404", "There is none of this name, or not for this caller"));
    }
    if path.starts_with("/api/") {
        shared.push(("503", "The database is away; try again"));
    }
    shared
}

fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| Document::openapi().to_pretty_json().expect("the document is plain data"))
}

/// Serves the document.
pub(crate) async fn document() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(text())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::server::endpoints;

    fn document() -> serde_json::Value {
        serde_json::from_str(text()).unwrap()
    }

    #[test]
    fn every_route_is_in_the_document_and_nothing_else() {
        let served: BTreeSet<String> = endpoints()
            .iter()
            .flat_map(|e| e.methods().map(|m| format!("{m} {}", e.path())).collect::<Vec<_>>())
            .collect();
        let document = document();
        let documented: BTreeSet<String> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                methods
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(move |m| format!("{} {path}", m.to_uppercase()))
            })
            .collect();
        assert_eq!(served, documented);
    }

    #[test]
    fn every_answer_is_described_and_every_error_is_a_problem() {
        let document = document();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for (status, answer) in operation["responses"].as_object().unwrap() {
                    let place = format!("{method} {path} {status}");
                    assert!(!answer["description"].as_str().unwrap().is_empty(), "{place}");
                    if status.starts_with(['4', '5']) && path != "/readyz" {
                        assert!(
                            answer["content"]["application/problem+json"].is_object(),
                            "{place}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn no_reference_leads_nowhere() {
        let document = document();
        let mut open = vec![&document];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::Object(map) => {
                    if let Some(reference) = map.get("$ref").and_then(|r| r.as_str()) {
                        let pointer = reference.trim_start_matches('#');
                        assert!(document.pointer(pointer).is_some(), "{reference}");
                    }
                    open.extend(map.values());
                }
                serde_json::Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    }
}
