//! The address of a visitor: whose word on it counts, and how much of it is kept.

use serde_json::{Value, json};

use crate::service::Service;
use crate::visits::{IPHONE, three_targets};

/// Visits with each `X-Forwarded-For` and answers the stored addresses in the same order.
fn stored(service: &Service, forwarded: &[&str]) -> Vec<Value> {
    three_targets(service, "three");
    for value in forwarded {
        let visitor = service.anybody().with("user-agent", IPHONE).with("x-forwarded-for", value);
        let visitor = visitor.with("x-real-ip", "192.0.2.99").with("forwarded", "for=192.0.2.98");
        assert_eq!(visitor.get("/three").status, 302);
    }
    let clicks = service.owner().get("/api/v1/admin/links/three/clicks").json();
    let clicks = clicks.as_array().unwrap();
    assert_eq!(clicks.len(), forwarded.len());
    clicks.iter().rev().map(|click| click["ipAddress"].clone()).collect()
}

pub(crate) fn without_proxies_nobody_is_believed(service: &Service) {
    assert_eq!(stored(service, &["203.0.113.7", "127.0.0.1, 203.0.113.7"]), ["127.0.0.1"; 2]);
}

pub(crate) fn behind_a_proxy_the_right_most_stranger_is_the_visitor(service: &Service) {
    let settings = [("SIGNPOST_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8")];
    let service = service.sibling_with(&settings);
    let forwarded = [
        "203.0.113.7",
        "198.51.100.1, 203.0.113.7",
        "198.51.100.1, 203.0.113.7, 10.1.2.3",
        "203.0.113.7:4711",
        "[2001:db8::1]:4711",
        "::ffff:203.0.113.7",
        "nonsense, 10.1.2.3",
        "nonsense",
        "",
    ];
    let expected = [
        "203.0.113.7",
        "203.0.113.7",
        "203.0.113.7",
        "203.0.113.7",
        "2001:db8::1",
        "203.0.113.7",
        "10.1.2.3",
        "127.0.0.1",
        "127.0.0.1",
    ];
    assert_eq!(stored(&service, &forwarded), expected);
}

pub(crate) fn a_truncated_address_names_a_network(service: &Service) {
    let settings =
        [("SIGNPOST_TRUSTED_PROXIES", "127.0.0.1"), ("SIGNPOST_IP_MODE", "truncated")];
    let service = service.sibling_with(&settings);
    let found = stored(&service, &["203.0.113.7", "203.0.113.9", "2001:db8:1:2:3::4"]);
    assert_eq!(found, ["203.0.113.0", "203.0.113.0", "2001:db8:1::"]);
    let stats = service.owner().get("/api/v1/admin/links/three/stats").json();
    assert_eq!((&stats["totalClicks"], &stats["uniqueVisitors"]), (&json!(3), &json!(2)));
}

pub(crate) fn an_address_that_is_not_kept_makes_no_visitors(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_IP_MODE", "none")]);
    assert_eq!(stored(&service, &["203.0.113.7"]), [Value::Null]);
    let stats = service.owner().get("/api/v1/admin/links/three/stats").json();
    assert_eq!((&stats["totalClicks"], &stats["uniqueVisitors"]), (&json!(1), &Value::Null));
}

pub(crate) fn visitors_are_told_apart_by_address_and_agent(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_TRUSTED_PROXIES", "127.0.0.1")]);
    stored(&service, &["203.0.113.7", "203.0.113.7", "203.0.113.8"]);
    let stats = service.owner().get("/api/v1/admin/links/three/stats").json();
    assert_eq!((&stats["totalClicks"], &stats["uniqueVisitors"]), (&json!(3), &json!(2)));
}
