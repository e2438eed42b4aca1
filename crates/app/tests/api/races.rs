//! Many requests at once.

use std::collections::BTreeMap;
use std::sync::Barrier;

use serde_json::json;

use crate::client::{Answer, Client};
use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";
const PARALLEL: usize = 100;

/// Sends `n` requests that all begin at the same moment.
fn at_once(n: usize, client: &Client, send: impl Fn(&Client, usize) -> Answer + Sync) -> Vec<Answer> {
    let barrier = Barrier::new(n);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n)
            .map(|number| {
                let client = client.fresh();
                let (barrier, send) = (&barrier, &send);
                scope.spawn(move || {
                    barrier.wait();
                    send(&client, number)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn statuses(answers: &[Answer]) -> BTreeMap<u16, usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        *counts.entry(answer.status).or_default() += 1;
        counts
    })
}

pub(crate) fn of_a_hundred_creates_of_one_code_one_wins(service: &Service) {
    let backend = service.backend();
    let answers = at_once(PARALLEL, &backend, |client, n| {
        client.post(LINKS, &json!({"shortCode": "mine", "payload": {"n": n}}).to_string())
    });
    assert_eq!(statuses(&answers), BTreeMap::from([(201, 1), (409, PARALLEL - 1)]));
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|a| a.status == 201);
    assert!(refused.iter().all(|answer| answer.problem() == "short_code_taken"));
    assert_eq!(backend.get(&format!("{LINKS}/mine")).text, made[0].text);
    assert_eq!(backend.get(LINKS).json()["pagination"]["total"], 1);
}

pub(crate) fn a_hundred_retries_of_one_request_make_one_link(service: &Service) {
    let backend = service.backend().with("idempotency-key", "once");
    let answers = at_once(PARALLEL, &backend, |client, _| {
        client.post(LINKS, r#"{"payload":{"a":1},"tags":["x"]}"#)
    });
    let fresh: Vec<&Answer> = answers
        .iter()
        .filter(|a| a.status == 201 && a.header("idempotent-replayed").is_none())
        .collect();
    assert_eq!(fresh.len(), 1, "{:?}", statuses(&answers));
    for answer in &answers {
        match answer.status {
            201 => {
                assert_eq!(answer.text, fresh[0].text);
                assert_eq!(answer.header("etag"), fresh[0].header("etag"));
                assert_eq!(answer.header("location"), fresh[0].header("location"));
            }
            409 => assert_eq!(answer.problem(), "idempotency_in_progress"),
            _ => panic!("{} {}", answer.status, answer.text),
        }
    }
    let list = backend.get(LINKS);
    assert_eq!(list.json()["pagination"]["total"], 1, "{}", list.text);
}

pub(crate) fn twenty_updates_of_different_fields_all_survive(service: &Service) {
    let fields = [
        "ogTitle", "ogDescription", "channel", "campaign", "ogImageUrl", "iosRedirectUrl",
        "androidRedirectUrl", "webRedirectUrl", "expiredRedirectUrl", "tags",
    ];
    let backend = service.backend();
    // Two links, ten fields each: twenty updates at once.
    for code in ["one", "two"] {
        let body = json!({"shortCode": code, "payload": {}}).to_string();
        assert_eq!(backend.post(LINKS, &body).status, 201);
    }
    let value = |field: &str| match field {
        "tags" => json!(["a", "b"]),
        _ if field.ends_with("Url") => json!(format!("https://{field}.example/")),
        _ => json!(format!("the {field}")),
    };
    let answers = at_once(2 * fields.len(), &backend, |client, n| {
        let (code, field) = (["one", "two"][n % 2], fields[n / 2]);
        client.put(&format!("{LINKS}/{code}"), &json!({field: value(field)}).to_string())
    });
    assert_eq!(statuses(&answers), BTreeMap::from([(200, 20)]));
    for code in ["one", "two"] {
        let read = backend.get(&format!("{LINKS}/{code}"));
        for field in fields {
            assert_eq!(read.json()[field], value(field), "{field}");
        }
        assert_eq!(read.header("etag"), Some("\"11\""), "each update is a version of its own");
    }
}

pub(crate) fn of_twenty_updates_of_one_version_one_wins(service: &Service) {
    let backend = service.backend();
    let made = backend.post(LINKS, r#"{"shortCode":"mine","payload":{}}"#);
    let guarded = backend.with("if-match", made.header("etag").unwrap());
    let answers = at_once(20, &guarded, |client, n| {
        client.put(&format!("{LINKS}/mine"), &json!({"ogTitle": n.to_string()}).to_string())
    });
    assert_eq!(statuses(&answers), BTreeMap::from([(200, 1), (412, 19)]));
    let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
    assert_eq!(backend.get(&format!("{LINKS}/mine")).text, winner.text);
}

pub(crate) fn a_hundred_visits_at_once_are_a_hundred_clicks(service: &Service) {
    let body = r#"{"shortCode":"busy","payload":{},"webRedirectUrl":"https://w.example/"}"#;
    let made = service.backend().post(LINKS, body);
    assert_eq!(made.status, 201, "{}", made.text);
    let visitor = service.anybody().with("user-agent", crate::visits::DESKTOP);
    let answers = at_once(PARALLEL, &visitor, |client, _| client.get("/busy"));
    assert_eq!(statuses(&answers), BTreeMap::from([(302, PARALLEL)]));
    let owner = service.owner();
    let stats = owner.get("/api/v1/admin/links/busy/stats").json();
    assert_eq!(stats["totalClicks"], PARALLEL, "{stats}");
    let clicks = owner.get("/api/v1/admin/links/busy/clicks?limit=500").json();
    let ids: std::collections::BTreeSet<String> =
        clicks.as_array().unwrap().iter().map(|click| click["id"].to_string()).collect();
    assert_eq!(ids.len(), PARALLEL);
}

pub(crate) fn of_ten_uses_of_one_refresh_token_one_at_most_succeeds(service: &Service) {
    let first = service.first();
    let body = json!({"email": first.owner, "password": first.password}).to_string();
    let tokens = service.anybody().post("/api/v1/admin/sessions", &body).json();
    let body = json!({"refreshToken": tokens["refreshToken"]}).to_string();
    let answers = at_once(10, &service.anybody(), |client, _| {
        client.post("/api/v1/admin/sessions/refresh", &body)
    });
    assert_eq!(statuses(&answers), BTreeMap::from([(200, 1), (401, 9)]));
    // The other nine were reuses, so the session has ended for everybody.
    let winner = answers.iter().find(|answer| answer.status == 200).unwrap().json();
    for token in [&tokens["accessToken"], &winner["accessToken"]] {
        let bearer = format!("Bearer {}", token.as_str().unwrap());
        let client = service.anybody().with("authorization", &bearer);
        assert_eq!(client.get("/api/v1/admin/sessions").problem(), "invalid_credentials");
    }
}
