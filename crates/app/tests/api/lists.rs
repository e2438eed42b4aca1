//! Lists of links: filters, pages, order.

use serde_json::json;

use crate::client::Answer;
use crate::service::Service;

const LINKS: &str = "/api/v1/public/links";

fn create(service: &Service, body: &serde_json::Value) {
    let answer = service.backend().post(LINKS, &body.to_string());
    assert_eq!(answer.status, 201, "{}", answer.text);
}

fn codes(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let list = answer.json();
    let links = list["data"].as_array().unwrap();
    links.iter().map(|link| link["shortCode"].as_str().unwrap().to_owned()).collect()
}

/// The codes a query finds, in order of the alphabet.
fn found(service: &Service, query: &str) -> Vec<String> {
    let mut codes = codes(&service.backend().get(&format!("{LINKS}?{query}")));
    codes.sort();
    codes
}

pub(crate) fn pages_follow_each_other_newest_first(service: &Service) {
    let links: Vec<_> =
        (0..45).map(|n| json!({"shortCode": format!("code-{n:02}"), "payload": {}})).collect();
    let backend = service.backend();
    assert_eq!(backend.post(&format!("{LINKS}/bulk"), &json!({"links": links}).to_string()).status, 207);
    create(service, &json!({"shortCode": "newest", "payload": {}}));
    let mut expected: Vec<String> = (0..45).map(|n| format!("code-{n:02}")).collect();
    expected.push("newest".to_owned());
    expected.reverse();

    let first = backend.get(LINKS);
    assert_eq!(codes(&first), expected[..20], "20 are a page unless asked otherwise");
    let pagination = json!({"page": 1, "limit": 20, "total": 46, "totalPages": 3});
    assert_eq!(first.json()["pagination"], pagination);
    assert_eq!(first.header("x-total-count"), Some("46"));
    let mut walked = Vec::new();
    let mut next = Some(format!("{LINKS}?limit=7"));
    while let Some(path) = next {
        let page = backend.get(&path);
        walked.extend(codes(&page));
        next = relation(&page, "next");
    }
    assert_eq!(walked, expected, "the links of next lead through all of them");
}

fn relation(answer: &Answer, name: &str) -> Option<String> {
    let wanted = format!("; rel=\"{name}\"");
    let link = answer.header("link")?.split(", ").find(|link| link.ends_with(&wanted))?;
    Some(link.strip_suffix(&wanted)?.trim_matches(['<', '>']).to_owned())
}

pub(crate) fn a_page_names_its_neighbours(service: &Service) {
    for n in 0..5 {
        create(service, &json!({"shortCode": format!("code-{n}"), "payload": {}, "channel": "a&b"}));
    }
    let page = |n: u32| service.backend().get(&format!("{LINKS}?limit=2&channel=a%26b&page={n}"));
    let relations = |answer: &Answer| {
        ["first", "prev", "next", "last"].map(|name| {
            let path = relation(answer, name)?;
            assert!(path.starts_with(&format!("{LINKS}?limit=2&channel=a%26b&page=")), "{path}");
            path.chars().last()
        })
    };
    assert_eq!(relations(&page(1)), [Some('1'), None, Some('2'), Some('3')]);
    assert_eq!(relations(&page(2)), [Some('1'), Some('1'), Some('3'), Some('3')]);
    assert_eq!(relations(&page(3)), [Some('1'), Some('2'), None, Some('3')]);
    let beyond = page(9);
    assert_eq!(codes(&beyond), Vec::<String>::new());
    assert_eq!(beyond.json()["pagination"]["total"], 5);
    assert_eq!(relations(&beyond), [Some('1'), Some('3'), None, Some('3')]);
}

pub(crate) fn an_empty_list_is_a_list(service: &Service) {
    let empty = service.backend().get(LINKS);
    let expected = json!({
        "data": [], "pagination": {"page": 1, "limit": 20, "total": 0, "totalPages": 0},
    });
    assert_eq!((empty.status, empty.json()), (200, expected));
    assert_eq!(empty.header("x-total-count"), Some("0"));
    assert_eq!(relation(&empty, "next"), None);
}

pub(crate) fn filters_narrow_each_other(service: &Service) {
    for (code, channel, campaign, tags) in [
        ("one", "email", "summer", json!(["a", "b"])),
        ("two", "email", "winter", json!(["a"])),
        ("three", "Email", "summer", json!(["b", "A"])),
        ("four", "e-mail", "", json!([])),
    ] {
        create(
            service,
            &json!({
                "shortCode": code, "payload": {}, "channel": channel, "campaign": campaign,
                "tags": tags,
            }),
        );
    }
    for (query, expected) in [
        ("channel=email", &["one", "two"][..]),
        ("channel=email&campaign=summer", &["one"]),
        ("campaign=summer", &["one", "three"]),
        ("channel=mail", &[]),
        ("tag=a", &["one", "two"]),
        ("tag=a&tag=b", &["one"]),
        ("tag=b&tag=A", &["three"]),
        ("tag=%20b%20", &["one", "three"]),
        ("tag=c", &[]),
        ("tag=a&channel=email&campaign=winter&search=TW", &["two"]),
    ] {
        assert_eq!(found(service, query), expected, "{query}");
    }
}

pub(crate) fn a_status_divides_the_links(service: &Service) {
    for (code, end) in
        [("ever", json!(null)), ("late", json!("2099-01-01T00:00:00Z")), ("past", json!(null))]
    {
        create(service, &json!({"shortCode": code, "payload": {}, "expiresAt": end}));
    }
    let path = format!("{LINKS}/past");
    assert_eq!(service.backend().put(&path, r#"{"expiresAt":"2020-01-01T00:00Z"}"#).status, 200);
    assert_eq!(found(service, "status=expired"), ["past"]);
    assert_eq!(found(service, "status=active"), ["ever", "late"]);
    assert_eq!(found(service, ""), ["ever", "late", "past"]);
    assert_eq!(service.backend().delete(&path).status, 204);
    assert_eq!(found(service, "status=expired"), Vec::<String>::new());
}

pub(crate) fn a_search_looks_into_four_fields_and_takes_wildcards_plainly(service: &Service) {
    for (code, title, channel, campaign) in [
        ("percent", "100 % cotton", "", ""),
        ("under_score", "", "", ""),
        ("underXscore", "", "", ""),
        ("backslash", r"a\b", "", ""),
        ("star", "a*b", "", ""),
        ("german", "Straße", "", ""),
        ("greek", "ΟΔΟΣ", "", ""),
        ("russian", "", "Привет", ""),
        ("quote", "", "", "O'Neil \"x\""),
        ("emoji", "", "", "😀 sale"),
    ] {
        create(
            service,
            &json!({
                "shortCode": code, "payload": {"hidden": "needle"}, "ogTitle": title,
                "channel": channel, "campaign": campaign, "ogDescription": "needle",
            }),
        );
    }
    for (search, expected) in [
        ("%25", &["percent"][..]),
        ("100+%25+C", &["percent"]),
        ("_", &["under_score"]),
        ("UNDER_", &["under_score"]),
        ("%5C", &["backslash"]),
        ("*", &["star"]),
        ("strasse", &["german"]),
        ("STRASSE", &["german"]),
        ("stra%C3%9Fe", &["german"]),
        ("%CE%BF%CE%B4%CE%BF%CF%82", &["greek"]),
        ("%D0%9F%D0%A0%D0%98", &["russian"]),
        ("o'neil+%22", &["quote"]),
        ("%F0%9F%98%80", &["emoji"]),
        ("needle", &[]),
        ("EMO", &["emoji"]),
    ] {
        assert_eq!(found(service, &format!("search={search}")), expected, "{search}");
    }
    let path = format!("{LINKS}/german");
    assert_eq!(service.backend().put(&path, r#"{"ogTitle":"Weg"}"#).status, 200);
    assert_eq!(found(service, "search=strasse"), Vec::<String>::new());
    assert_eq!(found(service, "search=WEG"), ["german"]);
}
