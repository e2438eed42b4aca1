//! Many links in one request.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";
const BULK: &str = "/api/v1/public/links/bulk";

fn send(service: &Service, links: &Value) -> Answer {
    service.backend().post(BULK, &json!({ "links": links }).to_string())
}

pub(crate) fn one_bad_link_does_not_spoil_the_others(service: &Service) {
    assert_eq!(service.backend().post(LINKS, r#"{"shortCode":"old","payload":{}}"#).status, 201);
    let answer = send(
        service,
        &json!([
            {"shortCode": "first", "payload": {"n": 0}, "tags": ["a"]},
            {"payload": 5, "ogTitle": 5},
            {"shortCode": "old", "payload": {}},
            "nonsense",
            {"payload": {"n": 4}},
            {"shortCode": "twin", "payload": {}},
            {"shortCode": "twin", "payload": {}},
            {"payload": {}, "nope": 1},
        ]),
    );
    assert_eq!(answer.status, 207, "{}", answer.text);
    let data = answer.json()["data"].as_array().unwrap().clone();
    let statuses: Vec<_> = data.iter().map(|item| item["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 400, 409, 400, 201, 201, 409, 400]);
    for (at, item) in data.iter().enumerate() {
        assert_eq!(item["index"], at);
        let good = item["status"] == 201;
        assert_eq!((item["link"].is_null(), item["error"].is_null()), (!good, good), "{item}");
    }
    let refused = |at: usize| -> Vec<(Value, Value)> {
        let errors = data[at]["error"]["errors"].as_array().unwrap();
        errors.iter().map(|e| (e["field"].clone(), e["code"].clone())).collect()
    };
    assert_eq!(
        refused(1),
        [(json!("/ogTitle"), json!("wrong_type")), (json!("/payload"), json!("wrong_type"))]
    );
    assert_eq!(refused(3), [(json!(""), json!("wrong_type"))]);
    assert_eq!(refused(7), [(json!("/nope"), json!("unknown_field"))]);
    assert_eq!(data[2]["error"]["code"], "short_code_taken");
    assert_eq!(data[1]["error"]["requestId"].as_str(), answer.header("x-request-id"));
    let first = service.backend().get(&format!("{LINKS}/first")).json();
    assert_eq!(first, data[0]["link"]);
    assert_eq!(service.backend().get(LINKS).json()["pagination"]["total"], 4);
}

pub(crate) fn one_to_a_hundred_links_are_a_request(service: &Service) {
    let links = |n: usize| json!(vec![json!({"payload": {}, "tags": ["x", "y"]}); n]);
    for n in [1, 100] {
        let answer = send(service, &links(n));
        assert_eq!((answer.status, answer.json()["data"].as_array().unwrap().len()), (207, n));
        assert!(answer.json()["data"].as_array().unwrap().iter().all(|item| item["status"] == 201));
    }
    let mut table = Table::new("Bulk requests");
    let invalid = "validation_failed";
    for (body, code, fields) in [
        ("{}", invalid, &[("/links", "required")][..]),
        (r#"{"links":null}"#, invalid, &[("/links", "wrong_type")]),
        (r#"{"links":{}}"#, invalid, &[("/links", "wrong_type")]),
        (r#"{"links":"x"}"#, invalid, &[("/links", "wrong_type")]),
        (r#"{"links":[]}"#, invalid, &[("/links", "too_short")]),
        (&json!({"links": links(101)}).to_string(), invalid, &[("/links", "too_long")]),
        (r#"{"links":[{"payload":{}}],"x":1}"#, invalid, &[("/x", "unknown_field")]),
        (r#"{"links":[],"x":1}"#, invalid, &[("/links", "too_short"), ("/x", "unknown_field")]),
        (r#"[{"payload":{}}]"#, "invalid_json", &[]),
        ("", "invalid_json", &[]),
    ] {
        table.check(body, &service.backend().post(BULK, body), (400, code, fields));
    }
    table.finish();
    assert_eq!(service.backend().get(LINKS).json()["pagination"]["total"], 101);
}

pub(crate) fn a_request_may_be_as_large_as_its_links(service: &Service) {
    // Each link alone is within its limits, all of them together are 1.6 MB.
    let payload = json!({"a": "x".repeat(16_000)});
    let answer = send(service, &json!(vec![json!({ "payload": payload }); 100]));
    assert_eq!(answer.status, 207);
    let data = answer.json()["data"].as_array().unwrap().clone();
    assert!(data.iter().all(|item| item["status"] == 201 && item["link"]["payload"] == payload));
}
