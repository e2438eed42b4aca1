//! Links, one by one.

use serde_json::json;

use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";

pub(crate) fn a_created_link_is_read_back_as_it_was_answered(service: &Service) {
    let backend = service.backend();
    let body = json!({
        "payload": {"promo": "SUMMER50"},
        "ogTitle": "Summer sale",
        "tags": [" a ", "b", "a"],
        "webRedirectUrl": "https://shop.example.com/sale",
        "expiresAt": "2099-12-31T23:59+01:00",
    });
    let created = backend.post(LINKS, &body.to_string());
    assert_eq!(created.status, 201, "{}", created.text);
    let link = created.json();
    let code = link["shortCode"].as_str().unwrap();
    assert_eq!(created.header("location"), Some(format!("{LINKS}/{code}").as_str()));
    assert_eq!(code.len(), 7);
    assert_eq!(link["url"], format!("http://{}/{code}", service.address()));
    assert_eq!(link["tags"], json!(["a", "b"]));
    assert_eq!(link["expiresAt"], "2099-12-31T22:59:00.000Z");
    assert_eq!(link["isExpired"], false);
    assert_eq!(link["ogDescription"], json!(null));

    let read = backend.get(&format!("{LINKS}/{code}"));
    assert_eq!((read.status, &read.text), (200, &created.text));
    assert_eq!(read.header("etag"), created.header("etag"));
    let again = backend.with("if-none-match", read.header("etag").unwrap());
    assert_eq!(again.get(&format!("{LINKS}/{code}")).status, 304);
}

pub(crate) fn an_update_changes_the_fields_it_names(service: &Service) {
    let backend = service.backend();
    let body = json!({ "shortCode": "mine", "payload": {"a": 1}, "ogTitle": "old", "channel": "email" });
    let created = backend.post(LINKS, &body.to_string());
    assert_eq!(created.status, 201, "{}", created.text);
    let path = format!("{LINKS}/mine");

    let nothing = backend.put(&path, "{}");
    assert_eq!((nothing.status, &nothing.text), (200, &created.text));
    let back = backend.put(&path, &created.text);
    assert_eq!((back.status, &back.text), (200, &created.text));

    let changed = backend.put(&path, r#"{"ogTitle":"new","channel":null,"payload":{"b":2}}"#).json();
    assert_eq!(changed["ogTitle"], "new");
    assert_eq!(changed["channel"], json!(null));
    assert_eq!(changed["payload"], json!({"b": 2}));
    assert!(changed["updatedAt"].as_str() >= created.json()["updatedAt"].as_str());

    let stale = backend.with("if-match", created.header("etag").unwrap()).put(&path, r#"{"ogTitle":"x"}"#);
    assert_eq!((stale.status, stale.problem().as_str()), (412, "precondition_failed"));
    let other_id = backend.put(&path, r#"{"id":999999,"shortCode":"other"}"#);
    assert_eq!((other_id.status, other_id.problem().as_str()), (400, "immutable"));
    assert_eq!(other_id.refused().len(), 2);
}

pub(crate) fn a_deleted_link_is_gone_and_its_code_stays_taken(service: &Service) {
    let backend = service.backend();
    let body = r#"{"shortCode":"mine","payload":{}}"#;
    let first = backend.post(LINKS, body).json()["id"].as_i64().unwrap();
    let path = format!("{LINKS}/mine");
    let deleted = backend.delete(&path);
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    assert_eq!(backend.delete(&path).status, 404);
    assert_eq!(backend.get(&path).problem(), "link_not_found");
    assert_eq!(service.anybody().get("/mine").status, 404);
    assert_eq!(backend.post(LINKS, body).problem(), "short_code_taken");
    let next = backend.post(LINKS, r#"{"payload":{}}"#).json();
    assert!(next["id"].as_i64().unwrap() > first);
    assert_ne!(next["shortCode"], "mine");
}
