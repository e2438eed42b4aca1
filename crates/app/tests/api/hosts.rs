//! Hosts of apps.

use serde_json::{Value, json};

use crate::client::Client;
use crate::service::Service;
use crate::visits::three_targets;

const LINKS: &str = "/api/v1/public/links";

fn set_app(service: &Service, app: i64, settings: &Value) {
    let patched =
        service.owner().patch(&format!("/api/v1/admin/apps/{app}"), &settings.to_string());
    assert_eq!(patched.status, 200, "{}", patched.text);
}

fn on(service: &Service, host: &str) -> Client {
    service.anybody().with("host", host)
}

/// Two apps, each with a host and a link.
fn two_apps(service: &Service) -> (i64, String) {
    let (rival, key) = service.another_app("Rival");
    set_app(service, service.first().app_id, &json!({"hosts": ["go.first.example", "Alt.Example"]}));
    set_app(service, rival, &json!({"hosts": ["go.rival.example"]}));
    three_targets(service, "mine");
    let body = r#"{"shortCode":"theirs","payload":{},"webRedirectUrl":"https://r.example/"}"#;
    let made = service.anybody().with("x-api-key", &key).post(LINKS, body);
    assert_eq!(made.status, 201, "{}", made.text);
    (rival, key)
}

pub(crate) fn a_host_answers_for_its_apps_only(service: &Service) {
    two_apps(service);
    for (host, mine, theirs) in [
        ("go.first.example", 302, 404),
        ("alt.example", 302, 404),
        ("GO.First.Example:8080", 302, 404),
        ("go.rival.example", 404, 302),
        ("unknown.example", 302, 302),
        ("203.0.113.7", 302, 302),
    ] {
        assert_eq!(on(service, host).get("/mine").status, mine, "{host}");
        assert_eq!(on(service, host).get("/theirs").status, theirs, "{host}");
    }
    assert_eq!(on(service, "go.first.example").get("/first/mine").status, 302);
    assert_eq!(on(service, "go.first.example").get("/rival/theirs").status, 404);
    assert_eq!(on(service, "go.rival.example").get("/first/mine").status, 404);
    assert_eq!(service.anybody().get("/rival/theirs").status, 302);
    assert_eq!(service.anybody().get("/rival/mine").status, 404);
}

pub(crate) fn a_host_of_an_app_serves_nothing_but_links(service: &Service) {
    two_apps(service);
    let key = service.first().secret_key.clone();
    for path in [
        "/docs",
        "/docs/",
        "/docs/index.html",
        "/api/openapi.json",
        LINKS,
        "/api/v1/public/links/mine",
        "/api/v1/admin/apps",
        "/api/v1/admin/sessions",
        // The same paths, written so that a careless comparison overlooks them.
        "/%64ocs/",
        "/api/%6fpenapi.json",
        "/api/v1/%70ublic/links/mine",
        "/api/v1/%61dmin/apps",
        "/%61%70%69/v1/admin/apps",
    ] {
        let answer = on(service, "go.first.example").with("x-api-key", &key).get_as_is(path);
        assert_eq!((answer.status, answer.problem().as_str()), (404, "not_found"), "{path}");
        let elsewhere = service.anybody().with("x-api-key", &key).get_as_is(path);
        assert_ne!(elsewhere.status, 404, "{path} is there on the service's own host");
    }
    let first = service.first();
    let body = json!({"email": first.owner, "password": first.password}).to_string();
    let sign_in = on(service, "go.first.example").post("/api/v1/admin/sessions", &body);
    assert_eq!((sign_in.status, sign_in.problem().as_str()), (404, "not_found"));
    for path in ["/livez", "/readyz", "/robots.txt"] {
        assert_eq!(on(service, "go.first.example").get(path).status, 200, "{path}");
    }
    assert_eq!(on(service, "go.first.example").get("/favicon.ico").status, 204);
}

pub(crate) fn a_url_names_the_first_host_and_on_a_shared_one_the_slug(service: &Service) {
    let (rival, key) = two_apps(service);
    let rival_client = service.anybody().with("x-api-key", &key);
    let url = |client: &Client, code: &str| client.get(&format!("{LINKS}/{code}")).json()["url"].clone();
    assert_eq!(url(&service.backend(), "mine"), "http://go.first.example/mine");
    assert_eq!(url(&rival_client, "theirs"), "http://go.rival.example/theirs");
    set_app(service, rival, &json!({"hosts": ["go.first.example"]}));
    assert_eq!(url(&service.backend(), "mine"), "http://go.first.example/first/mine");
    assert_eq!(url(&rival_client, "theirs"), "http://go.first.example/rival/theirs");
    let host = on(service, "go.first.example");
    for path in ["/mine", "/theirs", "/first/mine", "/rival/theirs"] {
        assert_eq!(host.get(path).status, 302, "{path}");
    }
    assert_eq!(host.get("/first/theirs").status, 404);
    assert_eq!(on(service, "go.rival.example").get("/mine").status, 302, "nobody's host any more");
    set_app(service, rival, &json!({"hosts": null}));
    assert_eq!(url(&service.backend(), "mine"), "http://go.first.example/mine");
    assert_eq!(url(&rival_client, "theirs"), format!("http://{}/theirs", service.address()));
}

pub(crate) fn a_forwarded_host_counts_from_a_trusted_proxy_only(service: &Service) {
    two_apps(service);
    let forwarded = |service: &Service, host: &str| {
        service.anybody().with("x-forwarded-host", host).get("/mine").status
    };
    assert_eq!(forwarded(service, "go.rival.example"), 302);
    let behind = service.sibling_with(&[("SIGNPOST_TRUSTED_PROXIES", "127.0.0.1")]);
    two_apps(&behind);
    assert_eq!(forwarded(&behind, "go.rival.example"), 404);
    assert_eq!(forwarded(&behind, "evil.example, go.first.example"), 302);
}
