//! Who may do what: every endpoint with every kind of credential.

use crate::client::{Answer, Client};
use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";

/// What a request needs to be answered.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Read,
    Write,
    Admin,
    Owner,
}

const ENDPOINTS: [(&str, &str, Needs); 17] = [
    ("GET", LINKS, Needs::Read),
    ("POST", LINKS, Needs::Write),
    ("POST", "/api/v1/public/links/bulk", Needs::Write),
    ("GET", "/api/v1/public/links/nowhere", Needs::Read),
    ("PUT", "/api/v1/public/links/nowhere", Needs::Write),
    ("DELETE", "/api/v1/public/links/nowhere", Needs::Write),
    ("GET", "/api/v1/public/links/nowhere/qr", Needs::Read),
    ("GET", "/api/v1/admin/sessions", Needs::Admin),
    ("DELETE", "/api/v1/admin/sessions/nowhere", Needs::Admin),
    ("GET", "/api/v1/admin/links/999999/stats", Needs::Admin),
    ("GET", "/api/v1/admin/links/999999/clicks", Needs::Admin),
    ("GET", "/api/v1/admin/apps", Needs::Admin),
    ("POST", "/api/v1/admin/apps", Needs::Owner),
    ("GET", "/api/v1/admin/apps/999999", Needs::Admin),
    ("PATCH", "/api/v1/admin/apps/999999", Needs::Admin),
    ("HEAD", LINKS, Needs::Read),
    ("DELETE", "/api/v1/admin/sessions/current", Needs::Admin),
];

/// Who asks, with which credential, and what they may.
type Holder = (&'static str, Client, fn(Needs) -> bool);

/// A body that no endpoint takes: whoever gets as far as the body is told so.
fn ask(client: &Client, method: &str, path: &str) -> Answer {
    let body = matches!(method, "POST" | "PUT" | "PATCH").then_some(b"nonsense".as_slice());
    client.send(method, path, body)
}

/// The status of a request that is allowed: the list, an absent thing, or the bad body.
fn allowed(method: &str, path: &str) -> u16 {
    match (method, path) {
        ("DELETE", path) if path.ends_with("/current") => 204,
        ("POST", _) => 400,
        (_, path) if path.contains("nowhere") || path.contains("999999") => 404,
        _ => 200,
    }
}

pub(crate) fn every_endpoint_wants_its_own_credential(service: &Service) {
    let first = service.first();
    let mut wrong_checksum = first.secret_key.clone();
    let last = if wrong_checksum.ends_with('a') { "b" } else { "a" };
    wrong_checksum.replace_range(wrong_checksum.len() - 1.., last);
    let unknown = service.sibling_with(&[]).first().secret_key.clone();
    let key = |text: &str| service.anybody().with("authorization", &format!("Bearer {text}"));
    let member = || service.member(&[]);
    let (read, write) = (service.key_with(&["links:read"]), service.key_with(&["links:write"]));
    let revoked = service.revoked_key();
    let basic = service.anybody().with("authorization", "Basic dXNlcjpwYXNz");
    let everyone: [Holder; 11] = [
        ("no credential", service.anybody(), |_| false),
        ("a key with a wrong checksum", key(&wrong_checksum), |_| false),
        ("a key of nobody", key(&unknown), |_| false),
        ("a revoked key", key(&revoked), |_| false),
        ("a key that reads", key(&read), |needs| needs == Needs::Read),
        ("a key that writes", key(&write), |needs| needs == Needs::Write),
        ("a key in X-API-Key", service.anybody().with("x-api-key", &first.secret_key), |needs| {
            matches!(needs, Needs::Read | Needs::Write)
        }),
        ("a publishable key", key(&first.publishable_key), |_| false),
        ("another scheme", basic, |_| false),
        ("an owner", service.owner(), |needs| matches!(needs, Needs::Admin | Needs::Owner)),
        ("a member", member(), |needs| needs == Needs::Admin),
    ];
    let mut table = Table::new("Credentials");
    for (who, client, may) in everyone {
        for (method, path, needs) in ENDPOINTS {
            let answer = ask(&client, method, path);
            let line = format!("{who}: {method} {path}");
            if may(needs) {
                assert_eq!(answer.status, allowed(method, path), "{line}: {}", answer.text);
                continue;
            }
            let public = matches!(needs, Needs::Read | Needs::Write);
            let (status, code) = match who {
                "a member" if needs == Needs::Owner => (403, "owner_only"),
                "a key that reads" | "a key that writes" | "a publishable key" if public => {
                    (403, "insufficient_scope")
                }
                // The Admin API does not look at X-API-Key at all.
                "no credential" | "a key in X-API-Key" => (401, "missing_credentials"),
                _ => (401, "invalid_credentials"),
            };
            if method == "HEAD" {
                assert_eq!((answer.status, answer.text.as_str()), (status, ""), "{line}");
            } else {
                table.check(&line, &answer, (status, code, &[]));
            }
            let challenge = answer.header("www-authenticate");
            match code {
                "missing_credentials" => assert_eq!(challenge, Some("Bearer"), "{line}"),
                "owner_only" => assert_eq!(challenge, None, "{line}"),
                _ => assert!(challenge.unwrap().starts_with("Bearer error=\""), "{line}"),
            }
        }
    }
    table.finish();
}

pub(crate) fn two_credentials_are_refused(service: &Service) {
    let key = &service.first().secret_key;
    let bearer = format!("Bearer {key}");
    for client in [
        service.backend().with("x-api-key", key),
        service.backend().with("authorization", &bearer),
        service.backend().with("authorization", "Basic dXNlcjpwYXNz"),
        service.anybody().with("x-api-key", key).with("x-api-key", key),
        service.anybody().with("x-api-key", "nonsense").with("authorization", "nonsense"),
    ] {
        let answer = client.get(LINKS);
        assert_eq!((answer.status, answer.problem().as_str()), (400, "ambiguous_credentials"));
    }
    let owner = service.owner().with("authorization", &bearer);
    assert_eq!(owner.get("/api/v1/admin/apps").problem(), "ambiguous_credentials");
}

pub(crate) fn a_credential_is_read_as_it_is_commonly_written(service: &Service) {
    let key = &service.first().secret_key;
    for value in [format!("bearer {key}"), format!("BEARER  {key}"), format!("Bearer {key} ")] {
        let client = service.anybody().with("authorization", &value);
        assert_eq!(client.get(LINKS).status, 200, "{value}");
    }
    for value in ["", "Bearer", "Bearer ", key, "Token x", &format!("Bearer {key} {key}")]
    {
        let answer = service.anybody().with("authorization", value).get(LINKS);
        assert_eq!((answer.status, answer.problem().as_str()), (401, "invalid_credentials"), "{value}");
    }
    for value in ["", "nonsense", &format!("Bearer {key}"), &format!("{key}x"), "sp_live_"] {
        let answer = service.anybody().with("x-api-key", value).get(LINKS);
        assert_eq!((answer.status, answer.problem().as_str()), (401, "invalid_credentials"), "{value}");
    }
}

pub(crate) fn a_missing_scope_is_named(service: &Service) {
    let writer = service.anybody().with("x-api-key", &service.key_with(&["links:write"]));
    let refused = writer.get(LINKS);
    assert!(refused.text.contains("links:read"), "{}", refused.text);
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"links:read\"";
    assert_eq!(refused.header("www-authenticate"), Some(challenge));
    assert_eq!(writer.post(LINKS, r#"{"payload":{}}"#).status, 201, "writing needs no reading");
}

pub(crate) fn checks_come_in_their_order(service: &Service) {
    let path = format!("{LINKS}/nowhere");
    let reader = service.anybody().with("x-api-key", &service.key_with(&["links:read"]));
    // Credential before scope before existence before body.
    assert_eq!(service.anybody().put(&path, "{").problem(), "missing_credentials");
    assert_eq!(reader.put(&path, "{").problem(), "insufficient_scope");
    assert_eq!(service.backend().put(&path, "{").problem(), "link_not_found");
    assert_eq!(service.backend().post(LINKS, "{").problem(), "invalid_json");
    let form = service.anybody().with("content-type", "text/plain");
    assert_eq!(form.post(LINKS, "x").problem(), "missing_credentials");
    let admin = "/api/v1/admin/apps/999999";
    assert_eq!(service.anybody().patch(admin, "{").problem(), "missing_credentials");
    assert_eq!(service.owner().patch(admin, "{").problem(), "not_found");
    let stats = "/api/v1/admin/links/999999/stats?startDate=nonsense";
    assert_eq!(service.owner().get(stats).problem(), "link_not_found");
}
