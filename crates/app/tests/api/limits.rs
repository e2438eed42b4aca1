//! How often one may ask.

use serde_json::json;

use crate::client::Answer;
use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";

fn assert_limited(answer: &Answer, name: &str, quota: u32) {
    assert_eq!((answer.status, answer.problem().as_str()), (429, "rate_limited"));
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let policy = format!("\"{name}\";q={quota};w=60");
    assert_eq!(answer.header("ratelimit-policy"), Some(policy.as_str()));
    let state = answer.header("ratelimit").unwrap();
    assert!(state.starts_with(&format!("\"{name}\";r=")), "{state}");
    assert!(state.ends_with(&format!(";t={wait}")), "{state}");
}

pub(crate) fn a_key_has_its_own_allowance_for_reading_and_for_writing(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_RATE_LIMIT", "read=3/min,write=2/min")]);
    let backend = service.backend();
    for left in ["2", "1", "0"] {
        let answer = backend.get(LINKS);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("ratelimit"), Some(format!("\"read\";r={left}").as_str()));
        assert_eq!(answer.header("ratelimit-policy"), Some("\"read\";q=3;w=60"));
    }
    assert_limited(&backend.get(LINKS), "read", 3);
    assert_limited(&backend.get(&format!("{LINKS}/nowhere")), "read", 3);
    // Refused bodies count as well: they cost work, too.
    assert_eq!(backend.post(LINKS, "{").status, 400);
    assert_eq!(backend.post(LINKS, r#"{"payload":{}}"#).status, 201);
    assert_limited(&backend.post(LINKS, r#"{"payload":{}}"#), "write", 2);
    let other = service.anybody().with("x-api-key", &service.key_with(&["links:read"]));
    assert_eq!(other.get(LINKS).status, 200, "another key has an allowance of its own");
    for _ in 0..5 {
        assert_eq!(service.anybody().get(LINKS).status, 401, "without a key nothing is counted");
        assert_eq!(service.anybody().get("/nowhere").status, 404, "visits are never limited");
    }
}

pub(crate) fn a_bulk_request_counts_its_links(service: &Service) {
    // One more is allowed every 12 seconds, which is time enough for these few requests.
    let service = service.sibling_with(&[("SIGNPOST_RATE_LIMIT", "write=5/min")]);
    let bulk = |n: usize| {
        let body = json!({"links": vec![json!({"payload": {}}); n]}).to_string();
        service.backend().post(&format!("{LINKS}/bulk"), &body)
    };
    let first = bulk(3);
    assert_eq!((first.status, first.header("ratelimit")), (207, Some("\"write\";r=2")));
    assert_limited(&bulk(4), "write", 5);
    assert_eq!(service.backend().get(LINKS).json()["pagination"]["total"], 3);
    // The refused request was counted as one.
    let rest = bulk(1);
    assert_eq!((rest.status, rest.header("ratelimit")), (207, Some("\"write\";r=0")));
    assert_limited(&bulk(1), "write", 5);
}

pub(crate) fn a_bulk_request_beyond_the_whole_allowance_never_passes(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_RATE_LIMIT", "write=5/min")]);
    let body = json!({"links": vec![json!({"payload": {}}); 7]}).to_string();
    assert_limited(&service.backend().post(&format!("{LINKS}/bulk"), &body), "write", 5);
    assert_eq!(service.backend().get(LINKS).json()["pagination"]["total"], 0);
}

pub(crate) fn limits_can_be_turned_off(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_RATE_LIMIT", "off")]);
    let answer = service.backend().get(LINKS);
    assert_eq!((answer.status, answer.header("ratelimit")), (200, None));
}

pub(crate) fn signing_in_is_limited_per_account_and_network(service: &Service) {
    let service = service.sibling_with(&[
        ("SIGNPOST_RATE_LIMIT", "login=2/min"),
        ("SIGNPOST_TRUSTED_PROXIES", "127.0.0.0/8"),
    ]);
    let sign_in = |address: &str, email: &str, password: &str| {
        let body = json!({"email": email, "password": password}).to_string();
        let client = service.anybody().with("x-forwarded-for", address);
        client.post("/api/v1/admin/sessions", &body)
    };
    let first = service.first();
    for (address, email) in [("198.51.100.1", &first.owner), ("198.51.100.2", &first.owner.to_uppercase())]
    {
        assert_eq!(sign_in(address, email, "wrong").status, 401);
    }
    // Both came from one network and meant one account; even the right password waits now.
    assert_limited(&sign_in("198.51.100.3", &first.owner, &first.password), "login", 2);
    let elsewhere = sign_in("203.0.113.1", &first.owner, &first.password);
    assert_eq!(elsewhere.status, 201, "a stranger can't lock the account for its owner");
    // Ten times as many for a network, whatever the accounts. Slow tries are forgiven meanwhile.
    let mut tries = (0..200).map(|n| sign_in("192.0.2.9", &format!("a{n}@example.com"), "wrong"));
    assert!(tries.by_ref().take(20).all(|answer| answer.status == 401));
    assert!(tries.any(|answer| answer.status == 429));
}
