//! Two services on one database, as behind a load balancer.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::service::Service;
use crate::visits::{DESKTOP, three_targets};

const LINKS: &str = "/api/v1/public/links";
const THREE: &str = "/api/v1/public/links/three";

/// Waits until something is so. Nodes learn of each other's changes within a second; the rest is
/// for a machine that is busy.
fn soon(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn a_change_on_one_node_is_seen_on_the_other(service: &Service) {
    let other = service.another_node();
    three_targets(service, "three");
    let visit = || other.anybody().with("user-agent", DESKTOP).get("/three");
    assert_eq!(visit().header("location"), Some("https://w.example/"));
    let put = service.backend().put(THREE, r#"{"webRedirectUrl":"https://new.example/"}"#);
    assert_eq!(other.backend().get(THREE).text, put.text, "the API reads from the store itself");
    soon("a new target", || visit().header("location") == Some("https://new.example/"));
    service.backend().put(THREE, r#"{"expiresAt":"2020-01-01T00:00Z"}"#);
    soon("an expiry", || visit().status == 410);
    assert_eq!(service.backend().delete(THREE).status, 204);
    soon("a deletion", || visit().status == 404);
    assert_eq!(other.backend().get(THREE).status, 404);
    let app = format!("/api/v1/admin/apps/{}", service.first().app_id);
    three_targets(service, "hosted");
    let foreign = || other.anybody().with("host", "go.first.example").get("/docs/").status;
    assert_eq!(foreign(), 200);
    assert_eq!(service.owner().patch(&app, r#"{"hosts":["go.first.example"]}"#).status, 200);
    soon("a host", || foreign() == 404);
}

pub(crate) fn who_is_out_is_out_on_every_node_at_once(service: &Service) {
    let other = service.another_node();
    let owner = service.owner();
    let elsewhere = owner.at(other.address());
    assert_eq!(elsewhere.get("/api/v1/admin/sessions").status, 200, "a session is for all nodes");
    assert_eq!(owner.delete("/api/v1/admin/sessions/current").status, 204);
    assert_eq!(elsewhere.get("/api/v1/admin/sessions").problem(), "invalid_credentials");
    let revoked = other.anybody().with("x-api-key", &service.revoked_key());
    assert_eq!(revoked.get(LINKS).problem(), "invalid_credentials");
}

pub(crate) fn a_retry_on_the_other_node_is_a_retry(service: &Service) {
    let other = service.another_node();
    let body = r#"{"payload":{"a":1}}"#;
    let first = service.backend().with("idempotency-key", "once").post(LINKS, body);
    let again = other.backend().with("idempotency-key", "once").post(LINKS, body);
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!((again.header("idempotent-replayed"), &again.text), (Some("true"), &first.text));
}

pub(crate) fn two_nodes_share_codes_and_clicks(service: &Service) {
    let other = service.another_node();
    three_targets(service, "three");
    let taken = other.backend().post(LINKS, r#"{"shortCode":"three","payload":{}}"#);
    assert_eq!((taken.status, taken.problem().as_str()), (409, "short_code_taken"));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..40)
            .map(|n| {
                let client = [service, &other][n % 2].anybody().with("user-agent", DESKTOP);
                scope.spawn(move || client.get("/three").status)
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses, [302; 40]);
    service.settle();
    other.settle();
    for node in [service, &other] {
        let stats = node.owner().get("/api/v1/admin/links/three/stats").json();
        assert_eq!(stats["platforms"], json!({"ios": 0, "android": 0, "web": 40}));
    }
}

pub(crate) fn clicks_survive_a_restart_and_none_is_counted_twice(service: &Service) {
    three_targets(service, "three");
    for n in 1..=3 {
        for _ in 0..5 {
            let visitor = service.anybody().with("user-agent", DESKTOP);
            assert_eq!(visitor.get("/three").status, 302);
        }
        service.restart();
        let stats = service.owner().get("/api/v1/admin/links/three/stats").json();
        assert_eq!(stats["totalClicks"], 5 * n);
    }
}
