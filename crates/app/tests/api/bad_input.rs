//! Requests that can't be understood: bodies, media types, queries, paths, raw bytes.

use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";

pub(crate) fn a_body_that_is_no_json_object_is_refused(service: &Service) {
    let mut table = Table::new("Bodies");
    let backend = service.backend();
    assert_eq!(backend.post(LINKS, r#"{"shortCode":"mine","payload":{}}"#).status, 201);
    let deep = 100_000;
    for body in [
        "",
        " ",
        "{",
        "[]",
        "null",
        "1",
        "\"x\"",
        "{} x",
        "{}{}",
        "{'payload':{}}",
        "{payload:{}}",
        "{\"payload\":{},}",
        "{\"payload\":NaN}",
        "{\"payload\":{}} // comment",
        "{\"payload\":{},\"payload\":{}}",
        "{\"\\ud800\":1}",
        "{\"ogTitle\":\"a\nb\"}",
        "\u{feff}{\"payload\":{}}",
        &"[".repeat(deep),
        &"{\"a\":".repeat(deep / 5),
        &format!("{}{}", "[".repeat(deep / 2), "]".repeat(deep / 2)),
    ] {
        let created = backend.post(LINKS, body);
        table.check(body, &created, (400, "invalid_json", &[]));
        let updated = backend.put(&format!("{LINKS}/mine"), body);
        table.check(body, &updated, (400, "invalid_json", &[]));
    }
    let bad_utf8 = backend.send("POST", LINKS, Some(b"{\"payload\":{\"a\":\"\xff\"}}"));
    table.check("a byte that is not UTF-8", &bad_utf8, (400, "invalid_json", &[]));
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(deep / 2), "]".repeat(deep / 2));
    let fields = [("/payload", "required"), ("/x", "unknown_field")];
    table.check(&deep, &backend.post(LINKS, &deep), (400, "validation_failed", &fields));
    table.finish();
}

pub(crate) fn a_body_of_another_kind_is_refused(service: &Service) {
    let mut table = Table::new("Media types");
    let body = Some(b"{\"payload\":{}}".as_slice());
    let backend = service.backend();
    let refused = (415, "unsupported_media_type", [].as_slice());
    for kind in [
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/vnd.api+json",
        "application/jsonx",
    ] {
        let answer = backend.with("content-type", kind).send("POST", LINKS, body);
        table.check(kind, &answer, refused);
    }
    for encoding in ["gzip", "br", "deflate"] {
        let answer = backend.with("content-encoding", encoding).send("POST", LINKS, body);
        table.check(encoding, &answer, refused);
    }
    let untyped = format!(
        "POST {LINKS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 14\r\n\r\n\
         {{\"payload\":{{}}}}",
        service.first().secret_key
    );
    table.check("no content type", &service.anybody().raw(untyped.as_bytes()), refused);
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        let answer = backend.with("content-type", kind).send("POST", LINKS, body);
        table.check(kind, &answer, (201, "", &[]));
    }
    table.finish();
}

pub(crate) fn a_body_that_is_too_long_is_refused_before_it_is_read(service: &Service) {
    let mut table = Table::new("Long bodies");
    let limits = [(LINKS.to_owned(), 128 * 1024), (format!("{LINKS}/bulk"), 2 * 1024 * 1024)];
    for (path, limit) in limits {
        let head = |length: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
                 Content-Type: application/json\r\n{length}\r\n\r\n",
                service.first().secret_key
            )
        };
        // Only the head is sent: nobody waits for a body that is too long anyway.
        let declared = head(&format!("Content-Length: {}", limit + 1));
        let answer = service.anybody().raw(declared.as_bytes());
        table.check(&format!("{path} {}", limit + 1), &answer, (413, "body_too_large", &[]));
        let endless = head("Content-Length: 9223372036854775807");
        let answer = service.anybody().raw(endless.as_bytes());
        table.check(&format!("{path} 2^63-1"), &answer, (413, "body_too_large", &[]));
        let mut chunked = head("Transfer-Encoding: chunked").into_bytes();
        chunked.extend(format!("{:x}\r\n", limit + 1).bytes());
        chunked.extend(vec![b' '; limit + 1]);
        let answer = service.anybody().raw(&chunked);
        table.check(&format!("{path} chunked"), &answer, (413, "body_too_large", &[]));
        let whole = format!("{}{{\"payload\":{{}}}}", " ".repeat(limit - 14));
        let answer = service.backend().post(&path, &whole);
        assert_ne!(answer.status, 413, "{path}: a body of {limit} bytes is read");
    }
    table.finish();
}

pub(crate) fn a_page_that_is_no_page_is_refused(service: &Service) {
    let mut table = Table::new("Pages");
    let backend = service.backend();
    for name in ["page", "limit"] {
        for (value, code) in [
            ("0", "out_of_range"),
            ("2147483648", "out_of_range"),
            ("4294967296", "out_of_range"),
            ("9223372036854775808", "out_of_range"),
            ("99999999999999999999999999", "out_of_range"),
            ("-1", "invalid_format"),
            ("%2B1", "invalid_format"),
            ("1e3", "invalid_format"),
            ("1.0", "invalid_format"),
            ("0x1", "invalid_format"),
            ("%201", "invalid_format"),
            ("%EF%BC%91", "invalid_format"),
            ("%FF", "invalid_format"),
            ("", "invalid_format"),
            ("NaN", "invalid_format"),
        ] {
            let query = format!("{name}={value}");
            let answer = backend.get(&format!("{LINKS}?{query}"));
            table.check(&query, &answer, (400, "validation_failed", &[(name, code)]));
        }
        let twice = backend.get(&format!("{LINKS}?{name}=1&{name}=2"));
        let fields = [(name, "invalid_format")];
        table.check(&format!("{name} twice"), &twice, (400, "validation_failed", &fields));
    }
    let answer = backend.get(&format!("{LINKS}?limit=101"));
    table.check("limit=101", &answer, (400, "validation_failed", &[("limit", "out_of_range")]));
    for query in ["page=2147483647", "page=2147483647&limit=100", "limit=100", "page=007", "nope=1"]
    {
        table.check(query, &backend.get(&format!("{LINKS}?{query}")), (200, "", &[]));
    }
    table.finish();
}

pub(crate) fn a_filter_that_is_no_filter_is_refused(service: &Service) {
    let mut table = Table::new("Filters");
    let backend = service.backend();
    let many: Vec<String> = (0..21).map(|n| format!("tag={n}")).collect();
    for (query, top, field, code) in [
        ("status=deleted", "validation_failed", "status", "unknown_value"),
        ("status=ACTIVE", "validation_failed", "status", "unknown_value"),
        ("status=active&status=active", "validation_failed", "status", "invalid_format"),
        ("search=a%0Ab", "invalid_character", "search", "invalid_character"),
        ("channel=a%07b", "invalid_character", "channel", "invalid_character"),
        ("campaign=a%7Fb", "invalid_character", "campaign", "invalid_character"),
        ("tag=%20", "validation_failed", "tag", "too_short"),
        ("tag=a%0A", "invalid_character", "tag", "invalid_character"),
        (&format!("search={}", "x".repeat(256)), "validation_failed", "search", "too_long"),
        (&format!("tag={}", "x".repeat(65)), "validation_failed", "tag", "too_long"),
        (&many.join("&"), "validation_failed", "tag", "too_long"),
        ("search=a%00b", "invalid_character", "query", "invalid_character"),
    ] {
        let answer = backend.get(&format!("{LINKS}?{query}"));
        table.check(query, &answer, (400, top, &[(field, code)]));
    }
    // A form sends a parameter for every field that was left blank.
    let blank = "search=&channel=&campaign=&status=&tag=";
    table.check(blank, &backend.get(&format!("{LINKS}?{blank}")), (200, "", &[]));
    table.finish();
}

pub(crate) fn u_0000_is_refused_wherever_it_stands(service: &Service) {
    let mut table = Table::new("U+0000");
    let client = service.backend();
    for (path, field) in [
        (format!("{LINKS}/a%00b"), "path"),
        (format!("{LINKS}/abc/qr?size=%00"), "query"),
        ("/abc%00".to_owned(), "path"),
        ("/abc?x=%00".to_owned(), "query"),
        ("/%00/abc".to_owned(), "path"),
        ("/nowhere/at/all%00".to_owned(), "path"),
    ] {
        let fields = [(field, "invalid_character")];
        table.check(&path, &client.get(&path), (400, "invalid_character", &fields));
    }
    table.finish();
}

pub(crate) fn the_link_of_another_app_is_not_there(service: &Service) {
    let backend = service.backend();
    let made = backend.post(LINKS, r#"{"shortCode":"mine","payload":{"canary":1}}"#);
    let (_, key) = service.another_app("Rival");
    let rival = service.anybody().with("x-api-key", &key);
    let mut table = Table::new("Links of another app");
    let gone = (404, "link_not_found", [].as_slice());
    for path in [format!("{LINKS}/mine"), format!("{LINKS}/mine/qr"), format!("{LINKS}/nowhere")] {
        table.check(&format!("GET {path}"), &rival.get(&path), gone);
    }
    // What the body says makes no difference either.
    for body in ["{}", "{\"ogTitle\":5}", "{", r#"{"ogTitle":"taken over"}"#] {
        table.check(&format!("PUT {body}"), &rival.put(&format!("{LINKS}/mine"), body), gone);
    }
    table.check("DELETE", &rival.delete(&format!("{LINKS}/mine")), gone);
    table.finish();
    let list = rival.get(LINKS);
    assert_eq!((list.status, list.json()["pagination"]["total"].as_u64()), (200, Some(0)));
    assert!(!list.text.contains("canary"));
    let taken = rival.post(LINKS, r#"{"shortCode":"mine","payload":{}}"#);
    assert_eq!((taken.status, taken.problem().as_str()), (409, "short_code_taken"));
    assert_eq!(backend.get(&format!("{LINKS}/mine")).text, made.text);
}

pub(crate) fn requests_that_proxies_read_differently_are_refused(service: &Service) {
    // Each is how one request is smuggled inside another, or how a cache is fed a wrong host.
    for head in [
        "GET /livez HTTP/1.1\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na",
        "GET /livez HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        assert_eq!(service.anybody().raw(head.as_bytes()).status, 400, "{head}");
    }
    assert_eq!(service.anybody().get("/livez").status, 200);
}

pub(crate) fn a_body_that_was_not_read_is_never_taken_for_a_request(service: &Service) {
    let key = &service.first().secret_key;
    let hidden = "DELETE /api/v1/public/links/mine HTTP/1.1\r\nHost: x\r\n";
    assert_eq!(service.backend().post(LINKS, r#"{"shortCode":"mine","payload":{}}"#).status, 201);
    // Each is answered before its body is read; the body says what a smuggler would say.
    for (kind, length, status) in
        [("application/json", 200_000, 413), ("text/plain", 150, 415), ("application/json", 150, 400)]
    {
        let inner = format!("{hidden}X-API-Key: {key}\r\n\r\n");
        let request = format!(
            "POST {LINKS} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n{inner}{}",
            " ".repeat(length - inner.len())
        );
        assert_eq!(service.anybody().raw(request.as_bytes()).status, status);
        assert_eq!(service.backend().get(&format!("{LINKS}/mine")).status, 200, "{kind} {length}");
    }
}

pub(crate) fn a_body_that_does_not_arrive_is_given_up(service: &Service) {
    let head = format!(
        "POST {LINKS} HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"payload\":",
        service.first().secret_key
    );
    // The client reads for 30 seconds, the service waits for 10.
    let answer = service.anybody().raw(head.as_bytes());
    assert_eq!((answer.status, answer.problem().as_str()), (408, "request_timeout"));
}
