//! Following links.

use serde_json::json;

use crate::service::Service;

pub(crate) const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) \
    AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
pub(crate) const ANDROID: &str = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 \
    (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
pub(crate) const DESKTOP: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
    (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

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
