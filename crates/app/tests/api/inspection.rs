//! `/{shortCode}+`: where a link leads.

use serde_json::json;

use crate::service::Service;
use crate::visits::three_targets;

pub(crate) fn a_plus_shows_the_targets_and_counts_nothing(service: &Service) {
    let id = three_targets(service, "three");
    let link = "/api/v1/public/links/three";
    service.backend().put(link, r#"{"payload":{"promo":"SUMMER50"}}"#);
    for path in ["/three+", "/three%2B", "/first/three+"] {
        let page = service.anybody().get(path);
        assert_eq!((page.status, page.header("location")), (200, None), "{path}");
        assert_eq!(page.header("x-robots-tag"), Some("noindex"));
        for target in ["https://i.example/", "https://a.example/", "https://w.example/"] {
            assert!(page.text.contains(target), "{target}: {}", page.text);
        }
        assert!(!page.text.contains("SUMMER50"));
    }
    let program = service.anybody().with("accept", "application/json");
    let answer = program.get("/three+");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let expected = json!({
        "shortCode": "three",
        "url": format!("http://{}/three", service.address()),
        "platforms": {
            "ios": "https://i.example/",
            "android": "https://a.example/",
            "web": "https://w.example/",
        },
        "expiresAt": null,
        "isExpired": false,
    });
    assert_eq!(answer.json(), expected);
    let stats = service.owner().get(&format!("/api/v1/admin/links/{id}/stats")).json();
    assert_eq!((&stats["totalClicks"], &stats["botClicks"]), (&json!(0), &json!(0)));
}

pub(crate) fn an_expired_link_shows_where_it_leads_now(service: &Service) {
    three_targets(service, "late");
    let link = "/api/v1/public/links/late";
    service.backend().put(link, r#"{"expiresAt":"2020-01-01T00:00:00Z"}"#);
    let program = service.anybody().with("accept", "application/json");
    let answer = program.get("/late+").json();
    assert_eq!(answer["platforms"], json!({"ios": null, "android": null, "web": null}));
    assert_eq!(answer["isExpired"], true);
    assert_eq!(answer["expiresAt"], "2020-01-01T00:00:00.000Z");
    let page = service.anybody().get("/late+");
    assert!(page.text.contains("expired (2020-01-01 00:00 UTC)"), "{}", page.text);
    assert!(!page.text.contains("i.example"));
    service.backend().put(link, r#"{"expiredRedirectUrl":"https://late.example/"}"#);
    assert_eq!(program.get("/late+").json()["platforms"]["ios"], "https://late.example/");
}

pub(crate) fn an_unknown_code_has_no_inspection(service: &Service) {
    three_targets(service, "three");
    for path in ["/unknown+", "/+", "/three++", "/other/three+"] {
        let answer = service.anybody().get(path);
        assert_eq!(answer.status, 404, "{path}");
        let problem = service.anybody().with("accept", "application/json").get(path);
        assert_eq!(problem.problem(), "link_not_found", "{path}");
        assert_eq!(problem.header("x-robots-tag"), Some("noindex"));
    }
    assert_eq!(service.anybody().post("/three+", "{}").status, 405);
}
