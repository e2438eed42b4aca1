//! Updates: what they touch, and when they are refused.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";
const MINE: &str = "/api/v1/public/links/mine";

/// A link with a value in every field.
fn full(service: &Service) -> Answer {
    let body = json!({
        "shortCode": "mine", "payload": {"a": 1}, "ogTitle": "title", "ogDescription": "text",
        "ogImageUrl": "https://cdn.example/x.png", "channel": "email", "campaign": "summer",
        "tags": ["a", "b"], "iosRedirectUrl": "https://i.example/",
        "androidRedirectUrl": "https://a.example/", "webRedirectUrl": "https://w.example/",
        "expiresAt": "2099-01-01T00:00:00.000Z", "expiredRedirectUrl": "https://e.example/",
    });
    let made = service.backend().post(LINKS, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.text);
    made
}

/// Every optional field with another value than [`full`] gives it.
fn others() -> [(&'static str, Value); 11] {
    [
        ("ogTitle", json!("new")),
        ("ogDescription", json!("two\nlines")),
        ("ogImageUrl", json!("http://cdn.example/y.png")),
        ("channel", json!("sms")),
        ("campaign", json!("winter")),
        ("tags", json!(["b", "c"])),
        ("iosRedirectUrl", json!("itms-apps://x/id1")),
        ("androidRedirectUrl", json!("market://details?id=x")),
        ("webRedirectUrl", json!("https://w2.example/")),
        ("expiresAt", json!("2098-01-01T00:00:00.000Z")),
        ("expiredRedirectUrl", json!("https://e2.example/")),
    ]
}

/// All but what every change changes.
fn content(answer: &Answer) -> serde_json::Map<String, Value> {
    assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
    let mut link = answer.json().as_object().unwrap().clone();
    link.remove("updatedAt");
    link
}

pub(crate) fn each_field_is_set_and_cleared_by_itself(service: &Service) {
    let backend = service.backend();
    let mut expected = content(&full(service));
    for (field, value) in others() {
        expected.insert(field.to_owned(), value.clone());
        let changed = backend.put(MINE, &json!({ field: value }).to_string());
        assert_eq!(content(&changed), expected, "{field}");
        assert_eq!(backend.get(MINE).text, changed.text);
    }
    for (field, _) in others() {
        let cleared = if field == "tags" { json!([]) } else { Value::Null };
        expected.insert(field.to_owned(), cleared);
        let changed = backend.put(MINE, &json!({ field: null }).to_string());
        assert_eq!(content(&changed), expected, "{field}");
    }
    let payload = backend.put(MINE, r#"{"payload":{"b":2}}"#);
    expected.insert("payload".to_owned(), json!({"b": 2}));
    assert_eq!(content(&payload), expected, "a payload is replaced whole");
}

pub(crate) fn an_empty_text_clears(service: &Service) {
    full(service);
    for (field, _) in others() {
        if matches!(field, "tags" | "expiresAt") {
            continue;
        }
        let changed = service.backend().put(MINE, &json!({ field: "" }).to_string());
        assert_eq!(changed.json()[field], Value::Null, "{field}");
    }
}

pub(crate) fn a_change_that_changes_nothing_leaves_no_trace(service: &Service) {
    let backend = service.backend();
    let made = full(service);
    for body in ["{}", "{\"ogTitle\":\"title\"}", "{\"tags\":[\" a \",\"b\",\"a\"]}", &made.text] {
        let same = backend.put(MINE, body);
        assert_eq!((same.status, &same.text), (200, &made.text), "{body}");
        assert_eq!(same.header("etag"), made.header("etag"));
    }
    let lie = r#"{"url":"x","isExpired":true,"createdAt":5,"updatedAt":null,"ogTitle":"new"}"#;
    let changed = backend.put(MINE, lie).json();
    assert_eq!((&changed["isExpired"], &changed["ogTitle"]), (&json!(false), &json!("new")));
    assert_eq!(changed["createdAt"], made.json()["createdAt"], "read-only names are passed over");
}

pub(crate) fn an_update_may_let_a_link_expire_and_come_back(service: &Service) {
    let backend = service.backend();
    full(service);
    let ended = backend.put(MINE, r#"{"expiresAt":"2020-01-01T00:00:00Z"}"#);
    assert_eq!((ended.status, &ended.json()["isExpired"]), (200, &json!(true)));
    assert_eq!(backend.get(MINE).json()["isExpired"], true, "an expired link is still read");
    let back = backend.put(MINE, r#"{"expiresAt":null}"#);
    assert_eq!(back.json()["isExpired"], false);
}

pub(crate) fn if_match_guards_against_lost_updates(service: &Service) {
    let backend = service.backend();
    let tag = full(service).header("etag").unwrap().to_owned();
    assert_eq!(tag, "\"1\"");
    let put = |value: &str, title: &str| {
        backend.with("if-match", value).put(MINE, &json!({"ogTitle": title}).to_string())
    };
    let second = put(&tag, "second");
    assert_eq!((second.status, second.header("etag")), (200, Some("\"2\"")));
    // A weak tag never matches here (RFC 9110, section 13.1.1), and nonsense names no version.
    for value in [tag.as_str(), "W/\"2\"", "2", "nonsense", "", "\"\"", "\"99\", \"98\""] {
        let refused = put(value, "refused");
        assert_eq!((refused.status, refused.problem().as_str()), (412, "precondition_failed"), "{value}");
    }
    assert_eq!(backend.get(MINE).json()["ogTitle"], "second");
    assert_eq!(put("\"1\", \"2\"", "third").status, 200, "one of a list is enough");
    assert_eq!(put("*", "fourth").header("etag"), Some("\"4\""));
}

pub(crate) fn a_tag_changes_when_the_link_expires(service: &Service) {
    let backend = service.backend();
    full(service);
    let ended = backend.put(MINE, r#"{"expiresAt":"2020-01-01T00:00:00Z"}"#);
    assert_eq!(ended.header("etag"), Some("\"2x\""));
    let known = |tag: &str| backend.with("if-none-match", tag).get(MINE);
    assert_eq!(known("\"2\"").status, 200, "the answer differs although nobody has written");
    for tag in ["\"2x\"", "W/\"2x\"", "*", "\"1\", \"2x\""] {
        let unchanged = known(tag);
        assert_eq!((unchanged.status, unchanged.text.as_str()), (304, ""), "{tag}");
        assert_eq!(unchanged.header("etag"), Some("\"2x\""));
    }
    // To write, the version counts: nobody has changed the link by letting time pass.
    let put = backend.with("if-match", "\"2\"").put(MINE, r#"{"ogTitle":"new"}"#);
    assert_eq!((put.status, put.header("etag")), (200, Some("\"3x\"")));
}

pub(crate) fn existence_comes_before_the_body_and_the_body_before_the_precondition(
    service: &Service,
) {
    full(service);
    let stale = service.backend().with("if-match", "\"99\"");
    for body in ["{", "{\"ogTitle\":5}", "{}"] {
        let absent = stale.put(&format!("{LINKS}/nowhere"), body);
        assert_eq!((absent.status, absent.problem().as_str()), (404, "link_not_found"));
    }
    let form = stale.with("content-type", "text/plain").send("PUT", &format!("{LINKS}/no"), Some(b""));
    assert_eq!(form.status, 404);
    assert_eq!(stale.put(MINE, "{").problem(), "invalid_json");
    assert_eq!(stale.put(MINE, "{\"ogTitle\":5}").problem(), "validation_failed");
    assert_eq!(stale.put(MINE, "{}").problem(), "precondition_failed");
}

pub(crate) fn an_update_refuses_the_same_and_what_may_not_change(service: &Service) {
    let backend = service.backend();
    let made = backend.post(LINKS, r#"{"shortCode":"mine","payload":{}}"#);
    assert_eq!(made.status, 201, "{}", made.text);
    let mut table = Table::new("Updates");
    let mut refuse = |body: &str, top: &str, fields: &[(&str, &str)]| {
        table.check(body, &backend.put(MINE, body), (400, top, fields));
    };
    refuse(r#"{"payload":null}"#, "validation_failed", &[("/payload", "wrong_type")]);
    refuse(r#"{"payload":{"a":1,"a":1}}"#, "validation_failed", &[("/payload", "duplicate_key")]);
    refuse(r#"{"expiresAt":""}"#, "validation_failed", &[("/expiresAt", "invalid_format")]);
    refuse(r#"{"ogTitle":5}"#, "validation_failed", &[("/ogTitle", "wrong_type")]);
    refuse(r#"{"tags":[""]}"#, "validation_failed", &[("/tags/0", "too_short")]);
    refuse(r#"{"webRedirectUrl":"x"}"#, "validation_failed", &[("/webRedirectUrl", "invalid_url")]);
    refuse(r#"{"channel":"\u0000"}"#, "invalid_character", &[("/channel", "invalid_character")]);
    refuse(r#"{"expireAt":null}"#, "validation_failed", &[("/expireAt", "unknown_field")]);
    refuse(r#"{"appId":1}"#, "validation_failed", &[("/appId", "unknown_field")]);
    for id in ["0", "null", "\"1\"", "9223372036854775808"] {
        refuse(&format!("{{\"id\":{id}}}"), "immutable", &[("/id", "immutable")]);
    }
    for code in ["\"other\"", "\"Mine\"", "null", "5"] {
        refuse(&format!("{{\"shortCode\":{code}}}"), "immutable", &[("/shortCode", "immutable")]);
    }
    table.finish();
    assert_eq!(backend.get(MINE).text, made.text, "nothing has changed");
}
