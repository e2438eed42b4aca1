//! Sessions of admins.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::service::Service;
use crate::table::Table;

const SESSIONS: &str = "/api/v1/admin/sessions";
const REFRESH: &str = "/api/v1/admin/sessions/refresh";
const CURRENT: &str = "/api/v1/admin/sessions/current";

fn sign_in(service: &Service, further: &Value) -> Answer {
    let first = service.first();
    let mut body = json!({"email": first.owner, "password": first.password});
    body.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    service.anybody().post(SESSIONS, &body.to_string())
}

fn text(answer: &Answer, name: &str) -> String {
    answer.json()[name].as_str().unwrap_or_else(|| panic!("{name}: {}", answer.text)).to_owned()
}

fn holder(service: &Service, tokens: &Answer) -> Client {
    let token = text(tokens, "accessToken");
    service.anybody().with("authorization", &format!("Bearer {token}"))
}

fn refresh(service: &Service, token: &str) -> Answer {
    service.anybody().post(REFRESH, &json!({ "refreshToken": token }).to_string())
}

fn assert_refused(answer: &Answer) {
    assert_eq!((answer.status, answer.problem().as_str()), (401, "invalid_credentials"));
}

pub(crate) fn the_right_password_opens_a_session(service: &Service) {
    let upper = json!({"email": format!(" {} ", service.first().owner.to_uppercase())});
    for further in [json!({}), json!({"cookie": false}), upper] {
        let tokens = sign_in(service, &further);
        assert_eq!(tokens.status, 201, "{}", tokens.text);
        assert_eq!(tokens.header("cache-control"), Some("no-store"));
        assert_eq!(tokens.header("set-cookie"), None);
        let body = tokens.json();
        assert_eq!((&body["tokenType"], &body["expiresIn"]), (&json!("Bearer"), &json!(900)));
        assert_eq!(text(&tokens, "accessToken").split('.').count(), 3);
        assert!(text(&tokens, "refreshToken").len() >= 32);
        assert_eq!(holder(service, &tokens).get(SESSIONS).status, 200);
    }
}

pub(crate) fn a_wrong_password_and_an_unknown_address_get_the_same_answer(service: &Service) {
    let mut bodies = Vec::new();
    let owner = service.first().owner.clone();
    for (email, password) in [
        (owner.as_str(), "wrong"),
        ("nobody@example.com", "wrong"),
        ("no address at all", "wrong"),
        ("nobody@example.com", service.first().password.as_str()),
    ] {
        let refused = sign_in(service, &json!({"email": email, "password": password}));
        assert_refused(&refused);
        let mut body = refused.json();
        body.as_object_mut().unwrap().remove("requestId");
        bodies.push((body, refused.header("www-authenticate").map(str::to_owned)));
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

pub(crate) fn a_sign_in_that_can_not_be_read_is_refused(service: &Service) {
    let mut table = Table::new("Signing in");
    let long = |n| json!({"email": "a@b", "password": "x".repeat(n)}).to_string();
    let invalid = "validation_failed";
    for (body, code, fields) in [
        ("{}", invalid, &[("/email", "required"), ("/password", "required")][..]),
        (r#"{"email":5,"password":null}"#, invalid, &[("/email", "wrong_type"), ("/password", "wrong_type")]),
        (r#"{"email":"a@b","password":"x","cookie":1}"#, invalid, &[("/cookie", "wrong_type")]),
        (r#"{"email":"a@b","password":"x","nope":1}"#, invalid, &[("/nope", "unknown_field")]),
        (r#"{"email":"a@b","password":"\u0000"}"#, "invalid_character", &[("/password", "invalid_character")]),
        ("[]", "invalid_json", &[]),
    ] {
        table.check(body, &service.anybody().post(SESSIONS, body), (400, code, fields));
    }
    for body in [long(1025), long(0)] {
        let answer = service.anybody().post(SESSIONS, &body);
        assert_eq!((answer.status, answer.refused().len()), (400, 1), "{}", answer.text);
    }
    for (body, code, fields) in [
        ("{}", invalid, &[("/refreshToken", "required")][..]),
        (r#"{"refreshToken":5}"#, invalid, &[("/refreshToken", "wrong_type")]),
        (r#"{"refreshToken":"x","nope":1}"#, invalid, &[("/nope", "unknown_field")]),
        ("{", "invalid_json", &[]),
    ] {
        table.check(body, &service.anybody().post(REFRESH, body), (400, code, fields));
    }
    table.finish();
}

pub(crate) fn a_refresh_replaces_both_tokens(service: &Service) {
    let first = sign_in(service, &json!({}));
    let second = refresh(service, &text(&first, "refreshToken"));
    assert_eq!((second.status, second.json()["expiresIn"].as_u64()), (200, Some(900)));
    assert_ne!(text(&second, "refreshToken"), text(&first, "refreshToken"));
    assert_eq!(holder(service, &second).get(SESSIONS).json().as_array().unwrap().len(), 1);
    assert_eq!(holder(service, &first).get(SESSIONS).status, 200, "it is the same session still");
    let third = refresh(service, &text(&second, "refreshToken"));
    assert_eq!(third.status, 200);
    for nonsense in ["nonsense", "", &"x".repeat(10_000)] {
        let refused = refresh(service, nonsense);
        assert!(matches!(refused.status, 400 | 401), "{}", refused.text);
    }
    assert_eq!(holder(service, &third).get(SESSIONS).status, 200);
}

pub(crate) fn a_refresh_token_used_twice_ends_the_session(service: &Service) {
    let other = sign_in(service, &json!({}));
    let first = sign_in(service, &json!({}));
    let second = refresh(service, &text(&first, "refreshToken"));
    assert_eq!(second.status, 200);
    assert_refused(&refresh(service, &text(&first, "refreshToken")));
    // Thief and owner can't be told apart, so both are out, at once.
    assert_refused(&holder(service, &first).get(SESSIONS));
    assert_refused(&holder(service, &second).get(SESSIONS));
    assert_refused(&refresh(service, &text(&second, "refreshToken")));
    assert_eq!(holder(service, &other).get(SESSIONS).status, 200, "another session goes on");
}

pub(crate) fn signing_out_takes_effect_at_once(service: &Service) {
    let (mine, other) = (sign_in(service, &json!({})), sign_in(service, &json!({})));
    let client = holder(service, &mine);
    let out = client.delete(CURRENT);
    assert_eq!((out.status, out.text.as_str()), (204, ""));
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_refused(&client.get(SESSIONS));
    assert_refused(&client.delete(CURRENT));
    assert_refused(&refresh(service, &text(&mine, "refreshToken")));
    assert_eq!(holder(service, &other).get(SESSIONS).status, 200);
}

pub(crate) fn sessions_are_listed_and_ended_one_by_one(service: &Service) {
    let browser = service.anybody().with("user-agent", "Browser/1.0");
    let first = service.first();
    let body = json!({"email": first.owner, "password": first.password}).to_string();
    let old = browser.post(SESSIONS, &body);
    let new = sign_in(service, &json!({}));
    let client = holder(service, &new);
    let list = client.get(SESSIONS).json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!([&list[0]["current"], &list[1]["current"]], [true, false], "newest first");
    assert_eq!((&list[1]["userAgent"], &list[1]["network"]), (&json!("Browser/1.0"), &json!("127.0.0.0")));
    let path = format!("{SESSIONS}/{}", list[1]["id"].as_str().unwrap());
    let member = service.member(&[]);
    assert_eq!(member.delete(&path).status, 404, "a session of somebody else is not there");
    assert_eq!(holder(service, &old).get(SESSIONS).status, 200);
    assert_eq!(client.delete(&path).status, 204);
    assert_eq!(client.delete(&path).problem(), "not_found");
    assert_refused(&holder(service, &old).get(SESSIONS));
    assert_eq!(client.get(SESSIONS).json().as_array().unwrap().len(), 1);
    for nonsense in ["nowhere", "0", "00000000-0000-0000-0000-000000000000"] {
        assert_eq!(client.delete(&format!("{SESSIONS}/{nonsense}")).problem(), "not_found");
    }
    assert_eq!(member.get(SESSIONS).json().as_array().unwrap().len(), 1, "one's own only");
}

pub(crate) fn a_cookie_is_out_of_reach_of_scripts_and_foreign_pages(service: &Service) {
    let tokens = sign_in(service, &json!({"cookie": true}));
    assert_eq!((tokens.status, &tokens.json()["refreshToken"]), (201, &Value::Null));
    let set = tokens.header("set-cookie").unwrap();
    for flag in ["; HttpOnly", "; SameSite=Strict", "; Path=/api/v1/admin/sessions", "; Max-Age="] {
        assert!(set.contains(flag), "{flag}: {set}");
    }
    assert!(!set.contains("Secure"), "on http a browser would drop it: {set}");
    let cookie = set.split(';').next().unwrap();
    let browser = service.anybody().with("cookie", &format!("theme=dark; {cookie}"));
    let own = format!("http://{}", service.address());
    for origin in [None, Some("https://evil.example"), Some("null"), Some("http://127.0.0.1:1")] {
        let client = origin.map_or(browser.clone(), |origin| browser.with("origin", origin));
        let refused = client.post(REFRESH, "{}");
        assert_eq!((refused.status, refused.problem().as_str()), (403, "foreign_origin"), "{origin:?}");
    }
    let renewed = browser.with("origin", &own).post(REFRESH, "{}");
    assert_eq!((renewed.status, &renewed.json()["refreshToken"]), (200, &Value::Null));
    let next = renewed.header("set-cookie").unwrap().split(';').next().unwrap();
    assert_ne!(next, cookie);
    assert_refused(&browser.with("origin", &own).post(REFRESH, "{}"));
    assert_refused(&holder(service, &renewed).get(SESSIONS));
}

pub(crate) fn on_https_the_cookie_is_for_https_only(service: &Service) {
    let service = service.sibling_with(&[("SIGNPOST_BASE_URL", "https://go.example.com")]);
    let tokens = sign_in(&service, &json!({"cookie": true}));
    let set = tokens.header("set-cookie").unwrap();
    assert!(set.contains("; Secure"), "{set}");
    let cookie = set.split(';').next().unwrap();
    let page = service.anybody().with("cookie", cookie).with("origin", "https://go.example.com");
    assert_eq!(page.post(REFRESH, "{}").status, 200);
}

pub(crate) fn a_token_that_was_touched_is_refused(service: &Service) {
    let token = text(&sign_in(service, &json!({})), "accessToken");
    let parts: Vec<&str> = token.split('.').collect();
    // {"alg":"none"} and {"alg":"HS256","typ":"JWT"}: unsigned, and signed as another kind.
    let (none, jwt) = ("eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
    let mut swapped = parts[1].to_owned();
    let middle = swapped.len() / 2;
    let letter = if &swapped[middle..=middle] == "A" { "B" } else { "A" };
    swapped.replace_range(middle..=middle, letter);
    for touched in [
        format!("{none}.{}.", parts[1]),
        format!("{none}.{}.{}", parts[1], parts[2]),
        format!("{jwt}.{}.{}", parts[1], parts[2]),
        format!("{}.{swapped}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{token}."),
        format!("{token}.x"),
        format!("{token}="),
        token[..token.len() - 1].to_owned(),
        "..".to_owned(),
        "nonsense".to_owned(),
        text(&sign_in(service, &json!({})), "refreshToken"),
    ] {
        let client = service.anybody().with("authorization", &format!("Bearer {touched}"));
        assert_refused(&client.get(SESSIONS));
    }
    let foreign = service.sibling_with(&[]);
    assert_refused(&holder(service, &sign_in(&foreign, &json!({}))).get(SESSIONS));
    assert_eq!(service.anybody().with("authorization", &format!("Bearer {token}")).get(SESSIONS).status, 200);
}
