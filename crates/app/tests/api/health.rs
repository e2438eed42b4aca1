//! Signs of life, the documentation, and what every endpoint has in common.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Answer;
use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";

const ALLOWED: [(&str, &str); 19] = [
    (LINKS, "GET, HEAD, POST, OPTIONS"),
    ("/api/v1/public/links/bulk", "POST, OPTIONS"),
    ("/api/v1/public/links/mine", "GET, HEAD, PUT, DELETE, OPTIONS"),
    ("/api/v1/public/links/mine/qr", "GET, HEAD, OPTIONS"),
    ("/api/v1/admin/sessions", "GET, HEAD, POST, OPTIONS"),
    ("/api/v1/admin/sessions/refresh", "POST, OPTIONS"),
    ("/api/v1/admin/sessions/current", "DELETE, OPTIONS"),
    ("/api/v1/admin/sessions/x", "DELETE, OPTIONS"),
    ("/api/v1/admin/links/1/stats", "GET, HEAD, OPTIONS"),
    ("/api/v1/admin/links/1/clicks", "GET, HEAD, OPTIONS"),
    ("/api/v1/admin/apps", "GET, HEAD, POST, OPTIONS"),
    ("/api/v1/admin/apps/1", "GET, HEAD, PATCH, OPTIONS"),
    ("/livez", "GET, HEAD, OPTIONS"),
    ("/readyz", "GET, HEAD, OPTIONS"),
    ("/api/openapi.json", "GET, HEAD, OPTIONS"),
    ("/robots.txt", "GET, HEAD, OPTIONS"),
    ("/favicon.ico", "GET, HEAD, OPTIONS"),
    ("/mine", "GET, HEAD, OPTIONS"),
    ("/first/mine", "GET, HEAD, OPTIONS"),
];

pub(crate) fn a_method_that_is_not_there_is_refused_with_those_that_are(service: &Service) {
    for (path, allowed) in ALLOWED {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if allowed.split(", ").any(|known| known == method) {
                continue;
            }
            let answer = service.anybody().send(method, path, None);
            assert_eq!(answer.status, 405, "{method} {path}: {}", answer.text);
            assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
            assert_eq!(answer.problem(), "method_not_allowed");
        }
        let options = service.anybody().send("OPTIONS", path, None);
        assert_eq!((options.status, options.header("allow")), (204, Some(allowed)), "{path}");
        if !allowed.contains("HEAD") {
            let head = service.anybody().head(path);
            assert_eq!((head.status, head.text.as_str()), (405, ""), "{path}");
        }
    }
}

pub(crate) fn every_documented_operation_is_on_the_list_of_this_suite(service: &Service) {
    let document = service.anybody().get("/api/openapi.json").json();
    let mut documented: Vec<usize> = Vec::new();
    for path in document["paths"].as_object().unwrap().keys() {
        let matches = |concrete: &str| {
            let (a, b): (Vec<_>, Vec<_>) = (path.split('/').collect(), concrete.split('/').collect());
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || a.starts_with('{'))
        };
        let found = ALLOWED.iter().position(|(concrete, _)| matches(concrete));
        documented.push(found.unwrap_or_else(|| panic!("{path} is missing from ALLOWED")));
    }
    assert!(documented.len() >= 14, "{documented:?}");
}

pub(crate) fn head_is_get_without_the_body(service: &Service) {
    assert_eq!(service.backend().post(LINKS, r#"{"shortCode":"mine","payload":{}}"#).status, 201);
    let owner = service.owner();
    for (path, _) in ALLOWED.iter().filter(|(_, allowed)| allowed.contains("HEAD")) {
        let client = if path.starts_with("/api/v1/admin") { &owner } else { &service.backend() };
        let (get, head) = (client.get(path), client.head(path));
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        for name in ["content-type", "etag", "location", "link", "x-total-count", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

pub(crate) fn a_service_with_its_database_is_alive_and_ready(service: &Service) {
    let live = service.anybody().get("/livez");
    assert_eq!((live.status, live.text.as_str()), (200, "ok\n"));
    let ready = service.anybody().get("/readyz");
    let expected = json!({"status": "ready", "database": true, "journal": true});
    assert_eq!((ready.status, ready.json()), (200, expected));
    for answer in [live, ready] {
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

/// A generous limit for an answer that has nothing to wait for, on a machine that is busy.
const SOON: Duration = Duration::from_secs(10);

pub(crate) fn a_service_without_its_database_says_so_soon(service: &Service) {
    let away = service.without_database();
    let timed = |send: &dyn Fn() -> Answer| {
        let begun = Instant::now();
        let answer = send();
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        answer
    };
    for _ in 0..3 {
        assert_eq!(timed(&|| away.anybody().get("/livez")).status, 200);
        let ready = timed(&|| away.anybody().get("/readyz"));
        let expected = json!({"status": "unavailable", "database": false, "journal": true});
        assert_eq!((ready.status, ready.json()), (503, expected));
    }
    let first = service.first();
    let sign_in = json!({"email": first.owner, "password": first.password}).to_string();
    let token = service.owner();
    let unavailable: [&dyn Fn() -> Answer; 6] = [
        &|| away.backend().get(LINKS),
        &|| away.backend().post(LINKS, r#"{"payload":{}}"#),
        &|| away.backend().with("idempotency-key", "x").post(LINKS, r#"{"payload":{}}"#),
        &|| away.anybody().post("/api/v1/admin/sessions", &sign_in),
        &|| away.anybody().get("/mine"),
        &|| away.anybody().get("/first/mine"),
    ];
    for send in unavailable {
        let answer = timed(send);
        assert_eq!((answer.status, answer.problem().as_str()), (503, "unavailable"));
        assert_eq!(answer.header("retry-after"), Some("1"));
        for inside in ["127.0.0.1:1", "postgres", "pool", "refused"] {
            assert!(!answer.text.contains(inside), "{}", answer.text);
        }
    }
    // What needs no database is answered as ever.
    assert_eq!(away.anybody().get(LINKS).problem(), "missing_credentials");
    let mistyped = away.anybody().with("x-api-key", "sp_live_nonsense");
    assert_eq!(mistyped.get(LINKS).problem(), "invalid_credentials");
    assert_eq!(away.anybody().get("/x").status, 404, "what can't be a code is nobody's");
    assert_eq!(away.anybody().get("/docs/").status, 200);
    drop(token);
}

pub(crate) fn a_failure_says_nothing_of_the_inside(service: &Service) {
    let break_it = "ALTER TABLE links RENAME TO hidden_links";
    signpost_adapters::testing::execute(service.database_url(), break_it).unwrap();
    let key = &service.first().secret_key;
    // Sent without the library, whose client takes no 500 for an answer.
    for path in [LINKS, "/api/v1/public/links/mine", "/mine"] {
        let answer = service.anybody().with("x-api-key", key).get_as_is(path);
        assert_eq!((answer.status, answer.problem().as_str()), (500, "internal"), "{path}");
        assert_eq!(answer.json()["detail"], "something went wrong here");
        for inside in ["links\"", "SELECT", "relation", "table", "diesel"] {
            assert!(!answer.text.contains(inside), "{}", answer.text);
        }
    }
    assert_eq!(service.anybody().get("/livez").status, 200);
    let mend = "ALTER TABLE hidden_links RENAME TO links";
    signpost_adapters::testing::execute(service.database_url(), mend).unwrap();
    assert_eq!(service.backend().get(LINKS).status, 200);
}

pub(crate) fn the_documentation_comes_from_this_host_alone(service: &Service) {
    let visitor = service.anybody();
    for path in ["/", "/docs"] {
        let answer = visitor.get(path);
        assert_eq!((answer.status, answer.header("location")), (302, Some("/docs/")), "{path}");
    }
    let page = visitor.get("/docs/");
    assert_eq!(page.status, 200);
    let assets: Vec<&str> = page
        .text
        .split(['"', '\''])
        .filter(|text| [".js", ".css", ".png"].iter().any(|end| text.ends_with(end)))
        .collect();
    assert!(assets.len() >= 4, "{}", page.text);
    for asset in assets {
        assert!(!asset.contains("//"), "{asset} is on another host");
        let found = visitor.get(&format!("/docs/{}", asset.trim_start_matches("./")));
        assert_eq!(found.status, 200, "{asset}");
        assert!(!found.bytes.is_empty(), "{asset}");
    }
    let start = visitor.get("/docs/swagger-initializer.js");
    assert!(start.text.contains("/api/openapi.json"), "{}", start.text);
    for text in [page.text, start.text] {
        assert!(!text.contains("http://") && !text.contains("https://"), "{text}");
    }
    assert_eq!(visitor.get("/docs/nowhere.js").status, 404);
    assert_eq!(visitor.get_as_is("/docs/../../etc/passwd").status, 404);
}

pub(crate) fn the_document_describes_the_api_for_programs(service: &Service) {
    let answer = service.anybody().get("/api/openapi.json");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let document = answer.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            assert!(operation["operationId"].is_string(), "{method} {path}");
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.keys().any(|status| status.starts_with('2')), "{method} {path}");
        }
    }
    // A reference that leads nowhere breaks every generator.
    for reference in answer.text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

pub(crate) fn paths_that_nobody_serves_are_problems(service: &Service) {
    for path in ["/api/v1/nowhere", "/api/v2/public/links", "/api/v1/public/links/", "/a/b/c/d"] {
        for method in ["GET", "POST", "DELETE"] {
            let answer = service.anybody().send(method, path, None);
            assert_eq!((answer.status, answer.problem().as_str()), (404, "not_found"), "{path}");
        }
    }
    // Two segments look like a link of an app, but whoever asks here has mistyped the API's path.
    let mistyped = service.anybody().get("/api/links");
    assert_eq!((mistyped.status, mistyped.problem().as_str()), (404, "link_not_found"));
    let robots = service.anybody().get("/robots.txt");
    assert_eq!((robots.status, robots.text.as_str()), (200, "User-agent: *\nAllow: /\n"));
    assert_eq!(service.anybody().get("/favicon.ico").status, 204);
}

pub(crate) fn listed_origins_may_call_the_admin_api_and_nothing_else(service: &Service) {
    let listed = "https://dash.example.com";
    let service = service.sibling_with(&[("SIGNPOST_CORS_ORIGINS", listed)]);
    let preflight = |origin: &str, path: &str| {
        let client = service.anybody().with("origin", origin);
        let client = client.with("access-control-request-method", "PATCH");
        client.with("access-control-request-headers", "authorization,content-type").send("OPTIONS", path, None)
    };
    let apps = "/api/v1/admin/apps";
    let granted = preflight(listed, apps);
    assert!(matches!(granted.status, 200 | 204), "{}", granted.status);
    assert_eq!(granted.header("access-control-allow-origin"), Some(listed));
    assert_eq!(granted.header("access-control-allow-credentials"), Some("true"));
    for (origin, path) in [("https://evil.example", apps), ("null", apps), (listed, LINKS), (listed, "/mine")]
    {
        let refused = preflight(origin, path);
        assert_eq!(refused.header("access-control-allow-origin"), None, "{origin} {path}");
        let asked = service.anybody().with("origin", origin).get(path);
        assert_eq!(asked.header("access-control-allow-origin"), None, "{origin} {path}");
        assert!(matches!(asked.status, 401 | 404), "the browser decides, the answer is the usual one");
    }
    let asked = service.owner().with("origin", listed).get(apps);
    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (200, Some(listed)));
}
