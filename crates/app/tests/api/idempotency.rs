//! Requests that have their effect once, however often they are sent.

use chrono::{SecondsFormat, TimeDelta};
use serde_json::json;

use crate::client::Answer;
use crate::service::{Service, now};

const LINKS: &str = "/api/v1/public/links";

fn assert_replayed(again: &Answer, first: &Answer) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    for name in ["location", "etag", "content-type"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
}

fn total(service: &Service) -> u64 {
    service.backend().get(LINKS).json()["pagination"]["total"].as_u64().unwrap()
}

pub(crate) fn a_replay_is_the_stored_answer_whatever_became_of_the_link(service: &Service) {
    let backend = service.backend().with("idempotency-key", "order 66");
    let body = r#"{"shortCode":"mine","payload":{"a":1},"ogTitle":"old"}"#;
    let first = backend.post(LINKS, body);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
    assert_replayed(&backend.post(LINKS, body), &first);
    let path = format!("{LINKS}/mine");
    assert_eq!(backend.put(&path, r#"{"ogTitle":"new"}"#).status, 200);
    assert_replayed(&backend.post(LINKS, body), &first);
    assert_eq!(backend.delete(&path).status, 204);
    assert_replayed(&backend.post(LINKS, body), &first);
    assert_eq!(backend.get(&path).status, 404, "a replay brings nothing back");
    service.restart();
    let backend = service.backend().with("idempotency-key", "order 66");
    assert_replayed(&backend.post(LINKS, body), &first);
}

pub(crate) fn a_replay_works_after_the_expiry_has_passed(service: &Service) {
    let backend = service.backend().with("idempotency-key", "soon");
    let end = now() + TimeDelta::seconds(2);
    let body = json!({
        "payload": {}, "expiresAt": end.to_rfc3339_opts(SecondsFormat::Millis, true),
    })
    .to_string();
    let first = backend.post(LINKS, &body);
    assert_eq!(first.status, 201, "{}", first.text);
    let path = first.header("location").unwrap();
    while backend.get(path).json()["isExpired"] == false {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_replayed(&backend.post(LINKS, &body), &first);
    let anew = service.backend().post(LINKS, &body);
    assert_eq!(anew.refused(), [("/expiresAt".to_owned(), "in_the_past".to_owned())]);
}

pub(crate) fn another_body_under_the_same_name_is_a_mismatch(service: &Service) {
    let backend = service.backend().with("idempotency-key", "once");
    let first = backend.post(LINKS, r#"{"payload":{}}"#);
    for body in [r#"{"payload":{"a":1}}"#, r#"{ "payload":{}}"#, "{", "", r#"{"ogTitle":5}"#] {
        let other = backend.post(LINKS, body);
        assert_eq!((other.status, other.problem().as_str()), (422, "idempotency_mismatch"), "{body}");
    }
    let bulk = backend.post(&format!("{LINKS}/bulk"), r#"{"links":[{"payload":{}}]}"#);
    assert_eq!((bulk.status, bulk.problem().as_str()), (422, "idempotency_mismatch"));
    assert_replayed(&backend.post(LINKS, r#"{"payload":{}}"#), &first);
    assert_eq!(total(service), 1);
}

pub(crate) fn names_of_another_key_or_app_are_other_names(service: &Service) {
    let body = r#"{"payload":{}}"#;
    let other_key = service.key_with(&["links:read", "links:write"]);
    let (_, other_app) = service.another_app("Rival");
    let mut ids = Vec::new();
    for key in [service.first().secret_key.clone(), other_key, other_app] {
        let client = service.anybody().with("x-api-key", &key).with("idempotency-key", "once");
        let first = client.post(LINKS, body);
        assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
        assert_replayed(&client.post(LINKS, body), &first);
        ids.push(first.json()["id"].as_i64().unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(total(service), 2);
    let upper = service.backend().with("idempotency-key", "ONCE").post(LINKS, body);
    assert_eq!(upper.header("idempotent-replayed"), None, "case matters");
}

pub(crate) fn a_failure_is_not_kept(service: &Service) {
    let backend = service.backend().with("idempotency-key", "once");
    let (bad, taken) = (r#"{"ogTitle":5}"#, r#"{"shortCode":"mine","payload":{}}"#);
    assert_eq!(backend.post(LINKS, bad).status, 400);
    assert_eq!(backend.post(LINKS, bad).status, 400);
    assert_eq!(service.backend().post(LINKS, taken).status, 201);
    assert_eq!(backend.post(LINKS, taken).problem(), "short_code_taken");
    assert_eq!(backend.post(LINKS, taken).problem(), "short_code_taken");
    let good = r#"{"payload":{}}"#;
    let first = backend.post(LINKS, good);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
    assert_replayed(&backend.post(LINKS, good), &first);
}

pub(crate) fn a_bulk_request_is_one_request(service: &Service) {
    let backend = service.backend().with("idempotency-key", "once");
    let path = format!("{LINKS}/bulk");
    let body = r#"{"links":[{"payload":{}},{"payload":1},{"shortCode":"mine","payload":{}}]}"#;
    let first = backend.post(&path, body);
    assert_eq!((first.status, first.header("idempotent-replayed")), (207, None), "{}", first.text);
    assert_replayed(&backend.post(&path, body), &first);
    assert_eq!(backend.delete(&format!("{LINKS}/mine")).status, 204);
    assert_replayed(&backend.post(&path, body), &first);
    assert_eq!(total(service), 1);
    let single = backend.post(LINKS, r#"{"payload":{}}"#);
    assert_eq!(single.problem(), "idempotency_mismatch");
}

pub(crate) fn a_name_has_1_to_255_visible_characters(service: &Service) {
    let body = r#"{"payload":{}}"#;
    let field = ("Idempotency-Key".to_owned(), "invalid_format".to_owned());
    for name in [String::new(), "x".repeat(256), "tab\there".to_owned(), "süß".to_owned()] {
        let refused = service.backend().with("idempotency-key", &name).post(LINKS, body);
        assert_eq!((refused.status, refused.refused()), (400, vec![field.clone()]), "{name}");
    }
    let twice = service.backend().with("idempotency-key", "a").with("idempotency-key", "a");
    assert_eq!(twice.post(LINKS, body).refused(), [field]);
    assert_eq!(total(service), 0);
    for name in ["x".repeat(255), "a b".to_owned(), "\"quoted\"".to_owned()] {
        assert_eq!(service.backend().with("idempotency-key", &name).post(LINKS, body).status, 201);
    }
}
