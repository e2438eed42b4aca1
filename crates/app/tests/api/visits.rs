//! Following links.

use serde_json::json;

use crate::service::{Service, now};

pub(crate) const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) \
    AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
pub(crate) const ANDROID: &str = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 \
    (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
pub(crate) const DESKTOP: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
    (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

/// A target without what is added for the Play store, which cases of its own look at.
pub(crate) fn without_referrer(location: &str) -> &str {
    location.split("&referrer=").next().unwrap_or_default()
}

/// Creates a link with a target for each platform.
pub(crate) fn three_targets(service: &Service, code: &str) -> i64 {
    let body = json!({
        "shortCode": code,
        "payload": {},
        "iosRedirectUrl": "https://i.example/",
        "androidRedirectUrl": "https://a.example/",
        "webRedirectUrl": "https://w.example/",
    });
    let created = service.backend().post("/api/v1/public/links", &body.to_string());
    assert_eq!(created.status, 201, "{}", created.text);
    created.json()["id"].as_i64().unwrap()
}

pub(crate) fn each_platform_is_sent_to_its_own_target(service: &Service) {
    three_targets(service, "three");
    for (agent, target) in
        [(IPHONE, "https://i.example/"), (ANDROID, "https://a.example/"), (DESKTOP, "https://w.example/")]
    {
        let visitor = service.anybody().with("user-agent", agent);
        for path in ["/three", "/first/three"] {
            for answer in [visitor.get(path), visitor.head(path)] {
                assert_eq!((answer.status, answer.header("location")), (302, Some(target)));
                assert_eq!(answer.header("cache-control"), Some("private, no-store"));
                assert!(answer.header("x-request-id").is_some());
            }
        }
    }
    let refused = service.anybody().send("POST", "/three", Some(b"{}"));
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert_eq!(service.anybody().get("/other/three").status, 404);
}

pub(crate) fn an_expired_link_is_gone_and_no_click(service: &Service) {
    let id = three_targets(service, "late");
    let path = "/api/v1/public/links/late";
    let ended = service.backend().put(path, r#"{"expiresAt":"2020-01-01T00:00:00Z"}"#);
    assert_eq!(ended.json()["isExpired"], true);
    let visitor = service.anybody().with("user-agent", IPHONE);
    assert_eq!(visitor.get("/late").status, 410);
    let asked = visitor.with("accept", "application/json").get("/late");
    assert_eq!((asked.status, asked.problem().as_str()), (410, "link_expired"));
    service.backend().put(path, r#"{"expiredRedirectUrl":"https://late.example/"}"#);
    assert_eq!(visitor.get("/late").header("location"), Some("https://late.example/"));
    let stats = service.owner().get(&format!("/api/v1/admin/links/{id}/stats")).json();
    assert_eq!(stats["totalClicks"], 0);
}

fn total_clicks(service: &Service, code: &str) -> u64 {
    let stats = service.owner().get(&format!("/api/v1/admin/links/{code}/stats?includeBots=true"));
    stats.json()["totalClicks"].as_u64().unwrap()
}

pub(crate) fn the_case_of_a_code_matters(service: &Service) {
    three_targets(service, "case");
    three_targets(service, "CASE");
    for (path, status) in [("/case", 302), ("/CASE", 302), ("/Case", 404), ("/casE", 404)] {
        assert_eq!(service.anybody().get(path).status, status, "{path}");
    }
    let api = service.backend().get("/api/v1/public/links/Case");
    assert_eq!((api.status, api.problem().as_str()), (404, "link_not_found"));
    assert_eq!(total_clicks(service, "case"), 1);
    assert_eq!(total_clicks(service, "CASE"), 1);
}

pub(crate) fn a_look_ahead_is_no_click(service: &Service) {
    three_targets(service, "three");
    let visitor = service.anybody().with("user-agent", IPHONE);
    for (name, value) in [
        ("sec-purpose", "prefetch"),
        ("sec-purpose", "prefetch;prerender"),
        ("purpose", "prefetch"),
        ("x-purpose", "preview"),
        ("x-moz", "prefetch"),
    ] {
        let answer = visitor.with(name, value).get("/three");
        assert_eq!((answer.status, answer.header("location")), (302, Some("https://i.example/")));
    }
    assert_eq!(visitor.head("/three").status, 302);
    assert_eq!(visitor.send("OPTIONS", "/three", None).status, 204);
    assert_eq!(visitor.send("DELETE", "/three", None).status, 405);
    assert_eq!(total_clicks(service, "three"), 0);
    assert_eq!(visitor.get("/three?utm_source=x").status, 302);
    assert_eq!(total_clicks(service, "three"), 1);
}

pub(crate) fn the_very_next_visit_sees_a_change(service: &Service) {
    three_targets(service, "three");
    let (backend, visitor) = (service.backend(), service.anybody().with("user-agent", DESKTOP));
    let path = "/api/v1/public/links/three";
    for n in 0..20 {
        let target = format!("https://w.example/{n}");
        let put = backend.put(path, &json!({"webRedirectUrl": target}).to_string());
        assert_eq!(put.status, 200, "{}", put.text);
        assert_eq!(visitor.get("/three").header("location"), Some(target.as_str()));
    }
    assert_eq!(backend.put(path, r#"{"expiresAt":"2020-01-01T00:00Z"}"#).status, 200);
    assert_eq!(visitor.get("/three").status, 410);
    assert_eq!(backend.put(path, r#"{"expiresAt":null}"#).status, 200);
    assert_eq!(visitor.get("/three").status, 302);
    assert_eq!(backend.delete(path).status, 204);
    assert_eq!(visitor.get("/three").status, 404);
    // A code that was asked for in vain answers as soon as it is there.
    assert_eq!(visitor.get("/fresh").status, 404);
    three_targets(service, "fresh");
    assert_eq!(visitor.get("/fresh").status, 302);
}

pub(crate) fn a_link_ends_at_its_moment_without_anybody_writing(service: &Service) {
    let end = now() + chrono::TimeDelta::milliseconds(1500);
    let body = json!({
        "shortCode": "soon", "payload": {}, "webRedirectUrl": "https://w.example/",
        "expiresAt": end.to_rfc3339(),
    });
    assert_eq!(service.backend().post("/api/v1/public/links", &body.to_string()).status, 201);
    let visit = || (service.anybody().get("/soon").status, now());
    while visit().1 < end {}
    // One more after the moment: nothing in memory may answer for the link now.
    assert_eq!(visit().0, 410);
}

pub(crate) fn a_location_is_ascii_and_one_line(service: &Service) {
    for (code, target, location) in [
        ("idn", "https://bücher.example/€?q=ü#ß", "https://xn--bcher-kva.example/%E2%82%AC?q=%C3%BC#%C3%9F"),
        ("crlf", "https://e.example/%0d%0aSet-Cookie:x", "https://e.example/%0d%0aSet-Cookie:x"),
        ("odd", "https://e.example/\u{560a}\u{202e}", "https://e.example/%E5%98%8A%E2%80%AE"),
        ("store", "market://details?id=ü", "market://details?id=%C3%BC"),
    ] {
        let body = json!({"shortCode": code, "payload": {}, "webRedirectUrl": target});
        let made = service.backend().post("/api/v1/public/links", &body.to_string());
        assert_eq!((made.status, made.json()["webRedirectUrl"].as_str()), (201, Some(target)));
        let visit = service.anybody().get(&format!("/{code}"));
        let sent = visit.header("location").map(without_referrer);
        assert_eq!((visit.status, sent), (302, Some(location)));
        assert_eq!(visit.header("set-cookie"), None);
    }
}

pub(crate) fn an_odd_path_is_not_found_and_never_a_failure(service: &Service) {
    three_targets(service, "three");
    for path in [
        "/th%2Free", "/%2Fthree", "/three%2F", "/three/", "//three", "/..//three", "/../three",
        "/./three", "/%2e%2e/three", "/%ff", "/%C3%28", "/%F0%9F%98%80", "/three%20", "/three;x=1",
        "/three%0d%0aSet-Cookie:x", "/first/th%2Free", "/first//three", "/first/three/", "/%",
        "/%zz", "/a", "/ab", "/three.html", "/.well-known/nothing", "/first/three/more", "/*",
        "/'%20OR%201=1--", "/three\u{e9}",
    ] {
        let answer = service.anybody().get_as_is(path);
        assert!(matches!(answer.status, 400 | 404), "{path}: {} {}", answer.status, answer.text);
        assert!(answer.header("set-cookie").is_none(), "{path}");
    }
    let long = service.anybody().get_as_is(&format!("/{}", "x".repeat(60_000)));
    assert!(matches!(long.status, 400 | 404 | 414), "{}", long.status);
    // A percent sign before letters that need none is another way to write the same code.
    assert_eq!(service.anybody().get_as_is("/%74hree").status, 302);
    assert_eq!(total_clicks(service, "three"), 1);
}

pub(crate) fn a_request_id_is_kept_when_it_is_decent(service: &Service) {
    three_targets(service, "three");
    for path in ["/three", "/nowhere", "/livez", "/api/v1/public/links", "/docs", "/abc%00"] {
        let ask = |id: &str| {
            let answer = service.anybody().with("x-request-id", id).get(path);
            answer.header("x-request-id").unwrap().to_owned()
        };
        assert_eq!(ask("my-request-0001"), "my-request-0001", "{path}");
        for id in ["short", "has blanks in it", "<script>alert(1)</script>", &"x".repeat(65)] {
            let given = ask(id);
            assert_ne!(given, id);
            assert_eq!(given.len(), 36, "{path}: {given}");
        }
    }
}
