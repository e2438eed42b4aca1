//! The clicks of a link, one by one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::Answer;
use crate::service::{Service, now};
use crate::table::Table;
use crate::visits::{ANDROID, DESKTOP, IPHONE, three_targets};

const CLICKS: &str = "/api/v1/admin/links/three/clicks";

fn visit(service: &Service, agent: &str, times: usize) {
    let visitor = service.anybody().with("user-agent", agent);
    for _ in 0..times {
        assert_eq!(visitor.get("/three").status, 302);
    }
}

fn list(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json().as_array().unwrap().clone()
}

fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    Some(link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?.to_owned())
}

pub(crate) fn a_click_says_all_that_is_known(service: &Service) {
    let id = three_targets(service, "three");
    visit(service, IPHONE, 1);
    let answer = service.owner().get(CLICKS);
    assert_eq!(answer.header("x-total-count"), Some("1"));
    let clicks = list(&answer);
    let mut click = clicks[0].as_object().unwrap().clone();
    let event = click.remove("id").unwrap();
    assert_eq!(event.as_str().unwrap().chars().nth(14), Some('7'), "a UUID of version 7: {event}");
    let at = click.remove("timestamp").unwrap();
    let at = chrono::DateTime::parse_from_rfc3339(at.as_str().unwrap()).unwrap();
    assert!((now() - at.to_utc()).abs() < chrono::TimeDelta::minutes(5));
    let expected = json!({
        "linkId": id, "ipAddress": "127.0.0.1", "userAgent": IPHONE, "operatingSystem": "iOS",
        "osVersion": "18.5", "platform": "ios", "browser": "Safari", "device": "phone",
        "country": null, "referrer": null, "matchingMethod": null, "confidenceScore": null,
        "isBot": false, "botReason": null,
    });
    assert_eq!(Value::Object(click), expected);
}

pub(crate) fn pages_and_cursors_lead_through_all_clicks_once(service: &Service) {
    three_targets(service, "three");
    visit(service, ANDROID, 7);
    visit(service, DESKTOP, 1);
    let owner = service.owner();
    let all = list(&owner.get(CLICKS));
    assert_eq!((all.len(), &all[0]["platform"]), (8, &json!("web")), "newest first");
    let mut paged = Vec::new();
    for page in 1..=4 {
        let answer = owner.get(&format!("{CLICKS}?limit=3&page={page}"));
        assert_eq!(answer.header("x-total-count"), Some("8"));
        paged.extend(list(&answer));
    }
    assert_eq!(paged, all);
    // There is a next page only while there are more clicks.
    assert!(next(&owner.get(&format!("{CLICKS}?limit=7"))).is_some());
    for query in ["limit=8", "limit=500", "limit=4&page=2", "page=2"] {
        assert_eq!(next(&owner.get(&format!("{CLICKS}?{query}"))), None, "{query}");
    }
    let mut walked = Vec::new();
    let mut path = Some(format!("{CLICKS}?limit=3&includeBots=true"));
    while let Some(at) = path {
        let answer = owner.get(&at);
        walked.extend(list(&answer));
        path = next(&answer);
        // Clicks that come meanwhile are newer than the cursor and move nothing.
        visit(service, DESKTOP, 1);
    }
    assert_eq!(walked, all);
    let ids: BTreeSet<String> = all.iter().map(|click| click["id"].to_string()).collect();
    assert_eq!(ids.len(), 8);
}

pub(crate) fn bots_are_listed_when_asked_for(service: &Service) {
    three_targets(service, "three");
    visit(service, "curl/8.5.0", 1);
    visit(service, DESKTOP, 1);
    let owner = service.owner();
    assert_eq!(list(&owner.get(CLICKS)).len(), 1);
    assert_eq!(list(&owner.get(&format!("{CLICKS}?includeBots=false"))).len(), 1);
    let answer = owner.get(&format!("{CLICKS}?includeBots=true"));
    assert_eq!(answer.header("x-total-count"), Some("2"));
    let all = list(&answer);
    assert_eq!([&all[0]["isBot"], &all[1]["isBot"]], [false, true]);
    assert!(all[1]["botReason"].is_string(), "{}", all[1]);
}

pub(crate) fn dates_narrow_the_list(service: &Service) {
    three_targets(service, "three");
    visit(service, DESKTOP, 1);
    let owner = service.owner();
    // The day of the click itself, as midnight may have passed since.
    let day = list(&owner.get(CLICKS))[0]["timestamp"].as_str().unwrap()[..10].to_owned();
    for (query, count) in [
        (format!("startDate={day}&endDate={day}"), 1),
        (format!("startDate={day}"), 1),
        (format!("endDate={day}"), 1),
        ("startDate=2999-01-01".to_owned(), 0),
        ("endDate=2020-01-01".to_owned(), 0),
        ("startDate=0001-01-01&endDate=9999-12-31".to_owned(), 1),
    ] {
        let answer = owner.get(&format!("{CLICKS}?{query}"));
        assert_eq!(list(&answer).len(), count, "{query}");
        assert_eq!(answer.header("x-total-count"), Some(count.to_string().as_str()), "{query}");
    }
}

pub(crate) fn a_list_that_can_not_be_is_refused(service: &Service) {
    three_targets(service, "three");
    let owner = service.owner();
    let mut table = Table::new("Clicks");
    for (query, field, code) in [
        ("page=0", "page", "out_of_range"),
        ("page=-1", "page", "invalid_format"),
        ("page=9223372036854775808", "page", "out_of_range"),
        ("page=201", "page", "out_of_range"),
        ("page=21&limit=500", "page", "out_of_range"),
        ("page=2147483647&limit=500", "page", "out_of_range"),
        ("limit=0", "limit", "out_of_range"),
        ("limit=501", "limit", "out_of_range"),
        ("limit=ten", "limit", "invalid_format"),
        ("cursor=", "cursor", "invalid_format"),
        ("cursor=nonsense", "cursor", "invalid_format"),
        ("cursor=9223372036854775807.00000000-0000-0000-0000-000000000000", "cursor", "invalid_format"),
        ("cursor=1.x", "cursor", "invalid_format"),
        ("startDate=nonsense", "startDate", "invalid_format"),
        ("endDate=2025-13-01", "endDate", "invalid_format"),
        ("startDate=2025-01-02&endDate=2025-01-01", "startDate", "out_of_range"),
        ("includeBots=yes", "includeBots", "unknown_value"),
    ] {
        let answer = owner.get(&format!("{CLICKS}?{query}"));
        table.check(query, &answer, (400, "validation_failed", &[(field, code)]));
    }
    for query in ["page=200", "page=20&limit=500", "cursor=-1.00000000-0000-0000-0000-000000000000"] {
        table.check(query, &owner.get(&format!("{CLICKS}?{query}")), (200, "", &[]));
    }
    table.finish();
}

pub(crate) fn an_odd_user_agent_is_stored_in_a_decent_form(service: &Service) {
    three_targets(service, "three");
    let long = format!("Odd/1.0 {}", "ü".repeat(400));
    let head = |agent: &[u8]| {
        let mut request = b"GET /three HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: ".to_vec();
        request.extend(agent);
        request.extend(b"\r\n\r\n");
        request
    };
    for agent in [long.as_bytes(), b"Odd/2.0 \xff\xfe", b"   "] {
        assert_eq!(service.anybody().raw(&head(agent)).status, 302);
    }
    let clicks = list(&service.owner().get(&format!("{CLICKS}?includeBots=true")));
    let agents: Vec<Option<&str>> = clicks.iter().map(|click| click["userAgent"].as_str()).collect();
    assert_eq!(agents[0], None);
    assert_eq!(agents[1], Some("Odd/2.0 \u{fffd}\u{fffd}"));
    assert!(agents[2].unwrap().len() <= 512 && agents[2].unwrap().starts_with("Odd/1.0 üü"));
}
