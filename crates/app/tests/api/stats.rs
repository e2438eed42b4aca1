//! Statistics and clicks.

use serde_json::json;

use crate::service::{Service, now};
use crate::table::Table;
use crate::visits::{ANDROID, DESKTOP, IPHONE, three_targets};

pub(crate) fn three_visits_are_three_clicks_one_for_each_platform(service: &Service) {
    let id = three_targets(service, "three");
    for agent in [IPHONE, ANDROID, DESKTOP] {
        assert_eq!(service.anybody().with("user-agent", agent).get("/three").status, 302);
    }
    let owner = service.owner();
    let stats = owner.get(&format!("/api/v1/admin/links/{id}/stats")).json();
    assert_eq!(stats["totalClicks"], 3, "{stats}");
    assert_eq!(stats["platforms"], json!({"ios": 1, "android": 1, "web": 1}));
    assert_eq!(stats["series"].as_array().unwrap().len(), 30);
    assert_eq!(owner.get("/api/v1/admin/links/three/stats").json(), stats);
    let clicks = owner.get(&format!("/api/v1/admin/links/{id}/clicks")).json();
    let platforms: Vec<_> = clicks.as_array().unwrap().iter().map(|c| c["platform"].clone()).collect();
    assert_eq!(platforms, ["web", "android", "ios"]);
    assert_eq!(clicks[2]["browser"], "Safari");
    assert_eq!(clicks[2]["ipAddress"], "127.0.0.1");
}

const DAY: chrono::TimeDelta = chrono::TimeDelta::days(1);

fn today() -> chrono::NaiveDate {
    now().date_naive()
}

fn stats(service: &Service, query: &str) -> serde_json::Value {
    let answer = service.owner().get(&format!("/api/v1/admin/links/three/stats?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    answer.json()
}

pub(crate) fn the_range_that_was_used_is_echoed(service: &Service) {
    three_targets(service, "three");
    let begun = today();
    let used = |query: &str| {
        let stats = stats(service, query);
        let text = |name: &str| stats[name].as_str().unwrap().to_owned();
        let (start, end) = (text("startDate"), text("endDate"));
        let series = stats["series"].as_array().unwrap().clone();
        assert_eq!((&series[0]["date"], &series[series.len() - 1]["date"]), (&json!(start), &json!(end)));
        assert!(series.iter().all(|point| point["clicks"] == 0), "no click, no gap");
        (start, end, series.len())
    };
    let on = |start: &str, end: &str, days| (start.to_owned(), end.to_owned(), days);
    let both = "startDate=2025-03-01&endDate=2025-03-10";
    assert_eq!(used(both), on("2025-03-01", "2025-03-10", 10));
    assert_eq!(used("endDate=2025-03-30"), on("2025-03-01", "2025-03-30", 30));
    let one = "startDate=2024-02-29&endDate=2024-02-29";
    assert_eq!(used(one), on("2024-02-29", "2024-02-29", 1));
    let year = "startDate=2024-01-01&endDate=2024-12-31";
    assert_eq!(used(year), on("2024-01-01", "2024-12-31", 366));
    // A moment stands for the day in which it lies in UTC.
    let moments = "startDate=2025-03-01T23:30:00-01:00&endDate=2025-03-10T00:30:00%2B01:00";
    assert_eq!(used(moments), on("2025-03-02", "2025-03-09", 8));
    let (start, end, days) = used("");
    let start_of = |end: &str| (end.parse::<chrono::NaiveDate>().unwrap() - DAY * 29).to_string();
    assert_eq!((days, &start), (30, &start_of(&end)));
    // Midnight may pass while the test runs.
    assert!([begun.to_string(), today().to_string()].contains(&end));
    let week = (begun - DAY * 6).to_string();
    let until_today = used(&format!("startDate={week}"));
    assert_eq!(until_today.0, week);
    assert!([7, 8].contains(&until_today.2));
    let future = used(&format!("startDate={week}&endDate=2999-12-31"));
    assert!([begun.to_string(), today().to_string()].contains(&future.1), "an end after today is today");
}

pub(crate) fn a_range_that_is_none_is_refused(service: &Service) {
    three_targets(service, "three");
    let owner = service.owner();
    let mut table = Table::new("Statistics");
    let future = (today() + DAY * 2).to_string();
    for (query, field, code) in [
        ("startDate=nonsense", "startDate", "invalid_format"),
        ("startDate=", "startDate", "invalid_format"),
        ("startDate=2025-02-29", "startDate", "invalid_format"),
        ("startDate=2025-1-1", "startDate", "invalid_format"),
        ("startDate=10000-01-01", "startDate", "invalid_format"),
        ("startDate=20250101", "startDate", "invalid_format"),
        ("endDate=%D9%A2%D9%A0-01-01", "endDate", "invalid_format"),
        ("endDate=2025-01-01T99:00", "endDate", "invalid_format"),
        ("endDate=2025-01-01&endDate=2025-01-01", "endDate", "invalid_format"),
        ("startDate=2025-01-02&endDate=2025-01-01", "startDate", "out_of_range"),
        ("startDate=2024-01-01&endDate=2025-01-01", "startDate", "out_of_range"),
        ("startDate=0001-01-01", "startDate", "out_of_range"),
        (&format!("startDate={future}"), "startDate", "out_of_range"),
        ("interval=minute", "interval", "unknown_value"),
        ("interval=", "interval", "unknown_value"),
        ("interval=hour", "interval", "out_of_range"),
        ("interval=hour&startDate=2025-01-01&endDate=2025-01-08", "interval", "out_of_range"),
        ("includeBots=1", "includeBots", "unknown_value"),
        ("includeBots=true&includeBots=true", "includeBots", "invalid_format"),
    ] {
        let answer = owner.get(&format!("/api/v1/admin/links/three/stats?{query}"));
        table.check(query, &answer, (400, "validation_failed", &[(field, code)]));
    }
    for query in ["endDate=0000-01-01", "endDate=0000-01-01&interval=day", "includeBots=false"] {
        let answer = owner.get(&format!("/api/v1/admin/links/three/stats?{query}"));
        table.check(query, &answer, (200, "", &[]));
    }
    table.finish();
}

pub(crate) fn hours_are_for_a_week_at_most(service: &Service) {
    three_targets(service, "three");
    let week = stats(service, "interval=hour&startDate=2025-03-01&endDate=2025-03-07");
    let series = week["series"].as_array().unwrap();
    assert_eq!(series.len(), 7 * 24);
    assert_eq!(series[0]["date"], "2025-03-01T00:00:00.000Z");
    assert_eq!(series[167]["date"], "2025-03-07T23:00:00.000Z");
    assert_eq!(service.anybody().with("user-agent", IPHONE).get("/three").status, 302);
    let start = today() - DAY;
    let days = stats(service, &format!("interval=hour&startDate={start}"));
    let hours = days["series"].as_array().unwrap();
    assert_eq!(hours.iter().filter(|point| point["clicks"] == 1).count(), 1);
    assert_eq!(hours.iter().filter(|point| point["clicks"] != 0).count(), 1);
}

pub(crate) fn bots_are_redirected_and_counted_apart(service: &Service) {
    three_targets(service, "three");
    for agent in ["curl/8.5.0", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"] {
        let answer = service.anybody().with("user-agent", agent).get("/three");
        assert_eq!((answer.status, answer.header("location")), (302, Some("https://w.example/")));
    }
    assert_eq!(service.anybody().with("user-agent", IPHONE).get("/three").status, 302);
    let people = stats(service, "");
    assert_eq!([&people["totalClicks"], &people["botClicks"], &people["uniqueVisitors"]], [1, 2, 1]);
    assert_eq!(people["platforms"], json!({"ios": 1, "android": 0, "web": 0}));
    let all = stats(service, "includeBots=true");
    assert_eq!([&all["totalClicks"], &all["botClicks"]], [3, 2]);
    assert_eq!(all["platforms"], json!({"ios": 1, "android": 0, "web": 2}));
}

pub(crate) fn every_ranking_adds_up_to_the_total(service: &Service) {
    three_targets(service, "three");
    for agent in [IPHONE, IPHONE, ANDROID, DESKTOP, "Something/1.0 (never heard of)", ""] {
        assert_eq!(service.anybody().with("user-agent", agent).get("/three").status, 302);
    }
    let stats = stats(service, "includeBots=true");
    assert_eq!(stats["totalClicks"], 6);
    for ranking in ["browsers", "devices", "operatingSystems"] {
        let lines = stats[ranking].as_array().unwrap();
        let clicks: Vec<u64> = lines.iter().map(|line| line["clicks"].as_u64().unwrap()).collect();
        assert_eq!(clicks.iter().sum::<u64>(), 6, "{ranking}: {lines:?}");
        assert!(clicks.is_sorted_by(|a, b| a >= b), "{ranking}: {lines:?}");
        assert!(lines.iter().any(|line| line["name"] == "Unknown"), "{ranking}: {lines:?}");
    }
    let platforms = stats["platforms"].as_object().unwrap();
    assert_eq!(platforms.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 6);
    let series = stats["series"].as_array().unwrap();
    assert_eq!(series.iter().map(|point| point["clicks"].as_u64().unwrap()).sum::<u64>(), 6);
    assert_eq!((&stats["countries"], &stats["matchingMethods"]), (&json!([]), &json!([])));
}

pub(crate) fn a_referrer_is_kept_without_what_it_searched_for(service: &Service) {
    three_targets(service, "three");
    let visitor = service.anybody().with("user-agent", DESKTOP);
    for referrer in [
        "https://News.Example/path?q=secret#part",
        "https://user:pass@news.example/other",
        "android-app://com.example.mail",
        "javascript:alert(1)",
        "nonsense",
    ] {
        assert_eq!(visitor.with("referer", referrer).get("/three").status, 302);
    }
    let owner = service.owner();
    let clicks = owner.get("/api/v1/admin/links/three/clicks").json();
    let kept: Vec<_> =
        clicks.as_array().unwrap().iter().rev().map(|click| click["referrer"].clone()).collect();
    let expected = [
        json!("https://news.example/path"),
        json!("https://news.example/other"),
        json!("android-app://com.example.mail"),
        json!(null),
        json!(null),
    ];
    assert_eq!(kept, expected);
    let hosts = json!([
        {"name": "news.example", "clicks": 2}, {"name": "com.example.mail", "clicks": 1},
    ]);
    assert_eq!(stats(service, "")["referrers"], hosts);
}

pub(crate) fn a_link_is_named_by_number_or_code_and_seen_by_its_admins(service: &Service) {
    let id = three_targets(service, "three");
    let (rival, _) = service.another_app("Rival");
    let (owner, stranger) = (service.owner(), service.member(&[rival]));
    for kind in ["stats", "clicks"] {
        for named in ["three".to_owned(), id.to_string()] {
            let path = format!("/api/v1/admin/links/{named}/{kind}");
            assert_eq!(owner.get(&path).status, 200, "{path}");
            assert_eq!(stranger.get(&path).problem(), "link_not_found", "{path}");
            assert_eq!(owner.head(&path).status, 200, "{path}");
        }
        for named in [
            "0", "-1", "1.0", "999999", "Three", "nowhere", "9223372036854775807",
            "9223372036854775808", "99999999999999999999999", "%20", "a%2Fb", "%EF%BC%91",
        ] {
            let answer = owner.get(&format!("/api/v1/admin/links/{named}/{kind}"));
            assert_eq!((answer.status, answer.problem().as_str()), (404, "link_not_found"), "{named}");
        }
    }
    assert_eq!(service.backend().delete("/api/v1/public/links/three").status, 204);
    for named in ["three".to_owned(), id.to_string()] {
        let path = format!("/api/v1/admin/links/{named}/stats");
        assert_eq!(owner.get(&path).problem(), "link_not_found", "{path}");
    }
}
