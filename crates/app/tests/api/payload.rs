//! Payloads come back byte for byte, less the white space between tokens.

use crate::client::Answer;
use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";

/// What a parsed tree of values would change: the order of keys, how numbers and characters are
/// spelt, and keys that a JSON library gives a meaning of its own.
const WRITTEN: &str = r#"{ "z": 1, "a": [1E5, 1e+5, 0.10, -0, -0.0, 1e400,
    123456789012345678901234567890, 0.1234567890123456789012345678901],
  "": { "nul": "a\u0000b", "slash": "\/", "e\u0301": "\u00E9é", "pair": "\ud83d\ude00" },
  "m": {"$serde_json::private::Number": "1"},
  "r": {"$serde_json::private::RawValue": "{}"},
  "two  blanks":	[ true , false , null , { } , [ ] ] }"#;
const KEPT: &str = r#"{"z":1,"a":[1E5,1e+5,0.10,-0,-0.0,1e400,123456789012345678901234567890,0.1234567890123456789012345678901],"":{"nul":"a\u0000b","slash":"\/","e\u0301":"\u00E9é","pair":"\ud83d\ude00"},"m":{"$serde_json::private::Number":"1"},"r":{"$serde_json::private::RawValue":"{}"},"two  blanks":[true,false,null,{},[]]}"#;

fn assert_kept(answer: &Answer, kept: &str) {
    assert!((200..300).contains(&answer.status), "{}", answer.text);
    let found = answer.text.matches(&format!("\"payload\":{kept},\"ogTitle\"")).count();
    assert_eq!(found, 1, "{}", answer.text);
}

pub(crate) fn a_payload_comes_back_as_it_was_written(service: &Service) {
    let backend = service.backend();
    let path = format!("{LINKS}/mine");
    let body = format!("{{\"shortCode\":\"mine\",\"payload\":{WRITTEN}}}");
    let create = backend.with("idempotency-key", "once");
    assert_kept(&create.post(LINKS, &body), KEPT);
    assert_kept(&create.post(LINKS, &body), KEPT);
    assert_kept(&backend.get(&path), KEPT);
    assert_kept(&backend.get(LINKS), KEPT);
    assert_kept(&backend.put(&path, r#"{"ogTitle":"x"}"#), KEPT);
    service.restart();
    assert_kept(&service.backend().get(&path), KEPT);
    assert_kept(&service.backend().with("idempotency-key", "once").post(LINKS, &body), KEPT);
}

pub(crate) fn an_update_and_a_bulk_request_keep_payloads_too(service: &Service) {
    let backend = service.backend();
    let links = format!("{{\"links\":[{{\"shortCode\":\"mine\",\"payload\":{WRITTEN}}}]}}");
    assert_kept(&backend.post(&format!("{LINKS}/bulk"), &links), KEPT);
    let path = format!("{LINKS}/mine");
    assert_kept(&backend.get(&path), KEPT);
    assert_kept(&backend.put(&path, r#"{"payload":{"b":1,"a":1.0}}"#), r#"{"b":1,"a":1.0}"#);
    let before = backend.get(&path);
    let again = backend.put(&path, &format!("{{\"payload\":{WRITTEN}}}"));
    assert_kept(&again, KEPT);
    assert_ne!(again.header("etag"), before.header("etag"));
    assert_eq!(backend.put(&path, &again.text).header("etag"), again.header("etag"));
}

pub(crate) fn another_spelling_of_the_same_values_is_a_change(service: &Service) {
    let backend = service.backend();
    let path = format!("{LINKS}/mine");
    let made = backend.post(LINKS, r#"{"shortCode":"mine","payload":{"n":100000,"b":2}}"#);
    let blank = backend.put(&path, r#"{"payload":{ "n" : 100000 , "b" : 2 }}"#);
    assert_eq!(blank.text, made.text, "white space is no change");
    for kept in [r#"{"n":1E5,"b":2}"#, r#"{"b":2,"n":1E5}"#, r#"{"b":2,"n":1e5}"#] {
        assert_kept(&backend.put(&path, &format!("{{\"payload\":{kept}}}")), kept);
    }
}
