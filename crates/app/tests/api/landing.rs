//! Where a visit leads without a target of the link's own, and the pages it may end on.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::service::Service;
use crate::visits::without_referrer;
use crate::visits::{ANDROID, DESKTOP, IPHONE};

const LINKS: &str = "/api/v1/public/links";

fn create(service: &Service, code: &str, fields: Value) {
    let mut body = json!({"shortCode": code, "payload": {"secret": "in-the-payload"}});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    let made = service.backend().post(LINKS, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.text);
}

fn set_app(service: &Service, settings: &Value) {
    let path = format!("/api/v1/admin/apps/{}", service.first().app_id);
    let patched = service.owner().patch(&path, &settings.to_string());
    assert_eq!(patched.status, 200, "{}", patched.text);
}

fn visit(service: &Service, agent: &str, code: &str) -> Answer {
    service.anybody().with("user-agent", agent).get(&format!("/{code}"))
}

fn targets(service: &Service, code: &str) -> [Option<String>; 3] {
    [IPHONE, ANDROID, DESKTOP].map(|agent| {
        let answer = visit(service, agent, code);
        assert_eq!(answer.status, if answer.header("location").is_some() { 302 } else { 200 });
        answer.header("location").map(|location| without_referrer(location).to_owned())
    })
}

pub(crate) fn the_next_best_place_is_taken(service: &Service) {
    let some = |text: &str| Some(text.to_owned());
    create(service, "bare", json!({}));
    create(service, "ios", json!({"iosRedirectUrl": "https://link.example/ios"}));
    create(service, "web", json!({"webRedirectUrl": "https://link.example/web"}));
    assert_eq!(targets(service, "bare"), [None, None, None]);
    assert_eq!(targets(service, "ios"), [some("https://link.example/ios"), None, None]);
    set_app(service, &json!({"webFallbackUrl": "https://app.example/web"}));
    assert_eq!(targets(service, "bare"), [(); 3].map(|()| some("https://app.example/web")));
    set_app(
        service,
        &json!({
            "ios": {"storeUrl": "https://apps.apple.com/app/id1"},
            "android": {"storeUrl": "market://details?id=x"},
        }),
    );
    let stores = [some("https://apps.apple.com/app/id1"), some("market://details?id=x"), some("https://app.example/web")];
    assert_eq!(targets(service, "bare"), stores);
    set_app(service, &json!({"ios": {"fallbackUrl": "https://app.example/ios"}}));
    assert_eq!(targets(service, "bare")[0], some("https://app.example/ios"));
    assert_eq!(targets(service, "ios")[0], some("https://link.example/ios"));
    // The link's own URL for the web comes before everything the app says.
    assert_eq!(targets(service, "web"), [(); 3].map(|()| some("https://link.example/web")));
    set_app(service, &json!({"ios": {"fallbackUrl": null, "storeUrl": null}, "webFallbackUrl": null}));
    assert_eq!(targets(service, "bare"), [None, some("market://details?id=x"), None]);
}

pub(crate) fn without_any_place_there_is_a_page_with_stores(service: &Service) {
    set_app(service, &json!({"ios": {"storeUrl": "https://apps.apple.com/app/id1"}}));
    let preview = json!({
        "ogTitle": "Summer sale", "ogDescription": "Half the price",
        "ogImageUrl": "https://cdn.example/sale.png",
    });
    create(service, "page", preview);
    let page = visit(service, DESKTOP, "page");
    assert_page(&page, 200);
    for shown in ["Summer sale", "Half the price", "https://cdn.example/sale.png", "App Store"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(page.text.contains("href=\"https://apps.apple.com/app/id1\""), "{}", page.text);
    assert!(!page.text.contains("in-the-payload"));
    create(service, "plain", json!({}));
    assert!(visit(service, DESKTOP, "plain").text.contains(">My app</h1>"));
    let stats = service.owner().get("/api/v1/admin/links/page/stats").json();
    assert_eq!(stats["totalClicks"], 1, "it is a click all the same");
}

fn assert_page(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.header("x-robots-tag"), Some("noindex"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(answer.header("referrer-policy").is_some());
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("script-src"), "{policy}");
}

pub(crate) fn markup_in_a_link_is_shown_and_never_run(service: &Service) {
    let attack = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";
    set_app(service, &json!({"name": "<b>My app</b>"}));
    let image = "https://cdn.example/\"onerror=\"alert(1)";
    create(service, "attack", json!({"ogTitle": attack, "ogDescription": attack, "ogImageUrl": image}));
    create(service, "named", json!({}));
    for code in ["attack", "named"] {
        let page = visit(service, DESKTOP, code);
        assert_page(&page, 200);
        for forbidden in ["<script", "<img src=x", "<b>", "\"onerror"] {
            assert!(!page.text.contains(forbidden), "{forbidden}: {}", page.text);
        }
    }
    assert!(visit(service, DESKTOP, "attack").text.contains("alert(1)"), "as text it is shown");
}

pub(crate) fn a_scheme_of_the_app_is_a_button_and_never_a_redirect(service: &Service) {
    set_app(service, &json!({"customSchemes": ["Shop"], "webFallbackUrl": "https://w.example/"}));
    create(service, "deep", json!({"iosRedirectUrl": "shop://item/1?a=\"b\""}));
    let page = visit(service, IPHONE, "deep");
    assert_page(&page, 200);
    assert_eq!(page.header("location"), None);
    assert!(page.text.contains("href=\"shop://item/1?a="), "{}", page.text);
    assert!(!page.text.contains("\"b\""), "{}", page.text);
    assert_eq!(visit(service, DESKTOP, "deep").header("location"), Some("https://w.example/"));
    // What the app no longer registers is not handed out, though the link still names it.
    set_app(service, &json!({"customSchemes": []}));
    assert_eq!(visit(service, IPHONE, "deep").header("location"), Some("https://w.example/"));
    let read = service.backend().get(&format!("{LINKS}/deep")).json();
    assert_eq!(read["iosRedirectUrl"], "shop://item/1?a=\"b\"");
}

pub(crate) fn a_refusal_is_a_page_for_people_and_a_problem_for_programs(service: &Service) {
    create(service, "late", json!({}));
    let path = format!("{LINKS}/late");
    assert_eq!(service.backend().put(&path, r#"{"expiresAt":"2020-01-01T00:00Z"}"#).status, 200);
    for (code, status, problem) in [("nowhere", 404, "link_not_found"), ("late", 410, "link_expired")] {
        let path = format!("/{code}");
        for accept in ["*/*", "text/html", "text/html,application/json;q=0.9", "image/png"] {
            let page = service.anybody().with("accept", accept).get(&path);
            assert_page(&page, status);
            assert!(page.text.starts_with("<!doctype html>"));
        }
        for accept in ["application/json", "application/problem+json", "application/json, */*"] {
            let answer = service.anybody().with("accept", accept).get(&path);
            assert_eq!((answer.status, answer.problem().as_str()), (status, problem), "{accept}");
        }
        let head = service.anybody().head(&path);
        assert_eq!((head.status, head.text.as_str()), (status, ""));
    }
}
