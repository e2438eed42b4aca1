//! What visitors bring along, what stores are told, and what a host shows without any code.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::service::Service;
use crate::visits::{ANDROID, DESKTOP, IPHONE, three_targets};

const LINKS: &str = "/api/v1/public/links";
const PLAY: &str = "https://play.google.com/store/apps/details?id=com.example.shop";
const UTM: &str = "utm_source%3Demail%26utm_medium%3Ddeeplink%26utm_campaign%3Dspring";

fn create(service: &Service, link: &Value) {
    let created = service.backend().post(LINKS, &link.to_string());
    assert_eq!(created.status, 201, "{}", created.text);
}

fn set_app(service: &Service, settings: &Value) {
    let path = format!("/api/v1/admin/apps/{}", service.first().app_id);
    let answer = service.owner().patch(&path, &settings.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text);
}

fn phone(service: &Service) -> Client {
    service.anybody().with("user-agent", ANDROID)
}

fn location(answer: &Answer) -> &str {
    assert_eq!(answer.status, 302, "{}", answer.text);
    assert_eq!(answer.header("x-robots-tag"), Some("noindex"));
    answer.header("location").unwrap()
}

pub(crate) fn a_visitors_query_comes_along(service: &Service) {
    create(
        service,
        &json!({
            "shortCode": "query",
            "payload": {},
            "webRedirectUrl": "https://w.example/p?a=0#part",
        }),
    );
    let visitor = service.anybody().with("user-agent", DESKTOP);
    for (query, expected) in [
        ("", "https://w.example/p?a=0#part"),
        ("?", "https://w.example/p?a=0#part"),
        ("?utm_source=x&b=%C3%BC", "https://w.example/p?a=0&utm_source=x&b=%C3%BC#part"),
        ("?a=1&b=1&b=2", "https://w.example/p?a=0&b=1&b=2#part"),
        ("?_dlc=1&_web=1&fp_x=1&c=3", "https://w.example/p?a=0&c=3#part"),
    ] {
        assert_eq!(location(&visitor.get(&format!("/query{query}"))), expected, "{query}");
    }
    let long = visitor.get(&format!("/query?b={}", "x".repeat(4096)));
    assert_eq!(location(&long), "https://w.example/p?a=0#part");
    let split = visitor.get("/query?b=%0d%0aSet-Cookie:x=1");
    assert_eq!(location(&split), "https://w.example/p?a=0&b=%0d%0aSet-Cookie:x=1#part");
    assert!(split.header("set-cookie").is_none());
}

pub(crate) fn the_play_store_is_told_of_the_click(service: &Service) {
    create(
        service,
        &json!({
            "shortCode": "store",
            "payload": {},
            "channel": "email",
            "campaign": "spring",
            "androidRedirectUrl": PLAY,
        }),
    );
    let answer = phone(service).get("/store?id=evil&referrer=dlc%3Dmine&hl=de");
    let rest = location(&answer).strip_prefix(&format!("{PLAY}&referrer={UTM}%26dlc%3D")).unwrap();
    let token = rest.strip_suffix("&hl=de").unwrap();
    assert_eq!(token.len(), 43);
    assert!(token.bytes().all(|b| b.is_ascii_alphanumeric()), "{token}");
    let again = phone(service).get("/store");
    assert!(!location(&again).contains(token), "each click has a token of its own");

    // No click, no token; but for that the same answer.
    let without = format!("{PLAY}&referrer={UTM}");
    assert_eq!(location(&phone(service).head("/store")), without);
    let prefetch = phone(service).with("sec-purpose", "prefetch;prerender").get("/store");
    assert_eq!(location(&prefetch), without);
    let clicks = service.owner().get("/api/v1/admin/links/store/clicks").json();
    assert_eq!(clicks.as_array().unwrap().len(), 2, "{clicks}");
}

pub(crate) fn a_page_stands_in_where_no_redirect_is_safe(service: &Service) {
    set_app(
        service,
        &json!({
            "customSchemes": ["shop"],
            "ios": { "storeUrl": "https://apps.apple.com/app/id1" },
            "android": { "storeUrl": PLAY },
        }),
    );
    create(
        service,
        &json!({
            "shortCode": "scheme",
            "payload": {},
            "ogTitle": "Sale",
            "ogDescription": "Half price",
            "ogImageUrl": "https://c.example/a.png",
            "iosRedirectUrl": "shop://item/1",
        }),
    );
    let visitor = service.anybody().with("user-agent", IPHONE);
    let page = visitor.get("/scheme");
    assert_eq!((page.status, page.header("location")), (200, None));
    for part in [
        r#"href="shop://item/1""#,
        r#"href="https://apps.apple.com/app/id1""#,
        "details?id=com.example.shop&#38;referrer=utm_source%3Dlink",
        "%26dlc%3D",
        "<h1 dir=\"auto\">Sale</h1>",
        "Half price",
        r#"src="https://c.example/a.png""#,
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let head = visitor.head("/scheme");
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let stats = service.owner().get("/api/v1/admin/links/scheme/stats").json();
    assert_eq!((&stats["totalClicks"], &stats["platforms"]["ios"]), (&json!(1), &json!(1)));
    // A scheme that the app gives up opens nothing any more, and the store's page is the default.
    set_app(service, &json!({ "customSchemes": [] }));
    assert_eq!(location(&visitor.get("/scheme")), "https://apps.apple.com/app/id1");
}

pub(crate) fn the_front_is_the_services_own_or_the_apps(service: &Service) {
    let own = service.anybody().get("/");
    assert_eq!((own.status, own.header("location")), (302, Some("/docs/")));
    set_app(service, &json!({ "hosts": ["go.shop.example"], "name": "The shop" }));
    let visitor = service.anybody().with("host", "go.shop.example");
    let page = visitor.get("/");
    assert_eq!(page.status, 200);
    assert!(page.text.contains("<h1 dir=\"auto\">The shop</h1>"), "{}", page.text);
    set_app(service, &json!({ "webFallbackUrl": "https://shop.example/" }));
    assert_eq!(location(&visitor.get("/")), "https://shop.example/");
    assert_eq!(location(&visitor.head("/")), "https://shop.example/");
    let elsewhere = service.anybody().with("host", "links.example").get("/");
    assert_eq!(elsewhere.header("location"), Some("/docs/"));
    assert_eq!(visitor.get("/docs/").status, 404);
    assert_eq!(visitor.get("/favicon.ico").status, 204);
    assert_eq!(visitor.get("/robots.txt").text, "User-agent: *\nAllow: /\n");
}

pub(crate) fn other_methods_learn_what_is_allowed(service: &Service) {
    three_targets(service, "three");
    for path in ["/three", "/first/three", "/three+", "/"] {
        let asked = service.anybody().send("OPTIONS", path, None);
        assert_eq!((asked.status, asked.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
        assert!(asked.header("x-request-id").is_some(), "{path}");
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let refused = service.anybody().send(method, path, None);
            let answer = (refused.status, refused.header("allow"));
            assert_eq!(answer, (405, Some("GET, HEAD, OPTIONS")), "{method} {path}");
            assert_eq!(refused.problem(), "method_not_allowed");
        }
    }
}

pub(crate) fn a_proxy_that_nobody_listed_is_reported(service: &Service) {
    three_targets(service, "three");
    let warnings = || service.anybody().get("/readyz?verbose").json()["warnings"].clone();
    assert_eq!(warnings(), json!([]));
    let forwarded = phone(service).with("x-forwarded-for", "198.51.100.1");
    assert_eq!(forwarded.get("/three").status, 302);
    let told = warnings();
    assert!(told[0].as_str().unwrap().contains("SIGNPOST_TRUSTED_PROXIES"), "{told}");
    assert!(service.anybody().get("/readyz").json().get("warnings").is_none());
    let clicks = service.owner().get("/api/v1/admin/links/three/clicks").json();
    assert_eq!(clicks[0]["ipAddress"], "127.0.0.1");
    let listed = service.sibling_with(&[("SIGNPOST_TRUSTED_PROXIES", "127.0.0.0/8")]);
    assert_eq!(listed.anybody().with("x-forwarded-for", "198.51.100.1").get("/none").status, 404);
    assert_eq!(listed.anybody().get("/readyz?verbose").json()["warnings"], json!([]));
}
