//! Every field of a link, wrong in every way, and right up to its limit.

use serde_json::json;

use crate::service::Service;
use crate::table::Table;

const LINKS: &str = "/api/v1/public/links";
const TEXTS: [(&str, usize); 4] =
    [("ogTitle", 255), ("ogDescription", 2000), ("channel", 255), ("campaign", 255)];
const REDIRECTS: [&str; 4] =
    ["iosRedirectUrl", "androidRedirectUrl", "webRedirectUrl", "expiredRedirectUrl"];

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A table of creates with one wrong field each.
struct Creates<'a> {
    service: &'a Service,
    table: Table,
}

impl<'a> Creates<'a> {
    fn new(service: &'a Service, title: &'static str) -> Self {
        Self { service, table: Table::new(title) }
    }

    /// A create whose `field` has this JSON text is refused at `at` with `code`.
    fn refuse_at(&mut self, field: &str, value: &str, at: &str, code: &str) {
        let body = match field {
            "payload" => format!("{{\"payload\":{value}}}"),
            _ => format!("{{\"payload\":{{}},\"{field}\":{value}}}"),
        };
        let top = if code == "invalid_character" { code } else { "validation_failed" };
        let answer = self.service.backend().post(LINKS, &body);
        self.table.check(&format!("{field}: {value}"), &answer, (400, top, &[(at, code)]));
    }

    fn refuse(&mut self, field: &str, value: &str, code: &str) {
        self.refuse_at(field, value, &format!("/{field}"), code);
    }

    fn accept(&mut self, field: &str, value: &str) {
        let body = match field {
            "payload" => format!("{{\"payload\":{value}}}"),
            _ => format!("{{\"payload\":{{}},\"{field}\":{value}}}"),
        };
        let answer = self.service.backend().post(LINKS, &body);
        self.table.check(&format!("{field}: {value}"), &answer, (201, "", &[]));
    }
}

pub(crate) fn a_bad_text_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "Texts");
    for (field, max) in TEXTS {
        for value in ["5", "1.5", "true", "{}", "[]", "[\"x\"]"] {
            table.refuse(field, value, "wrong_type");
        }
        for text in ["x".repeat(max + 1), "😀".repeat(max + 1)] {
            table.refuse(field, &quoted(&text), "too_long");
        }
        for value in
            [r#""a\u0000b""#, r#""a\u0007b""#, r#""a\u007fb""#, r#""a\u0085b""#, r#""\ud800""#]
        {
            table.refuse(field, value, "invalid_character");
        }
        if field != "ogDescription" {
            table.refuse(field, r#""two\nlines""#, "invalid_character");
        }
    }
    table.table.finish();
}

pub(crate) fn a_bad_url_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "URLs");
    let long = format!("https://example.com/{}", "x".repeat(2029));
    for field in REDIRECTS.into_iter().chain(["ogImageUrl"]) {
        table.refuse(field, "5", "wrong_type");
        table.refuse(field, r#"{"url":"https://example.com"}"#, "wrong_type");
        table.refuse(field, &quoted(&long), "too_long");
        for text in [
            "nonsense",
            "//evil.example",
            "/path",
            "example.com",
            "http:evil.example",
            "https://",
            "https:///evil.example",
            "https://user@example.com",
            "https://u:p@example.com",
            "https://a b.example",
            " https://example.com",
            "https:\\\\evil.example",
            "https://example.com:99999/",
            "http://[::1",
        ] {
            table.refuse(field, &quoted(text), "invalid_url");
        }
        for text in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://example.com/1",
            "intent://x#Intent;end",
            "ftp://example.com/",
            "shop://item/1",
        ] {
            table.refuse(field, &quoted(text), "scheme_not_allowed");
        }
        for text in ["java\tscript:alert(1)", "https://example.com/\r\nx: y", "https://e.example/\0"]
        {
            table.refuse(field, &quoted(text), "invalid_character");
        }
    }
    table.refuse("ogImageUrl", r#""market://details""#, "scheme_not_allowed");
    table.table.finish();
}

pub(crate) fn a_bad_tag_is_refused_by_its_place(service: &Service) {
    let mut table = Creates::new(service, "Tags");
    for value in ["5", "\"a\"", "{}", "true"] {
        table.refuse("tags", value, "wrong_type");
    }
    let many: Vec<String> = (0..21).map(|n| format!("tag {n}")).collect();
    table.refuse("tags", &json!(many).to_string(), "too_long");
    table.refuse("tags", &json!(vec!["a"; 201]).to_string(), "too_long");
    for (value, code) in [
        (r#"["ok",5]"#.to_owned(), "wrong_type"),
        (r#"["ok",null]"#.to_owned(), "wrong_type"),
        (r#"["ok",""]"#.to_owned(), "too_short"),
        (r#"["ok","  "]"#.to_owned(), "too_short"),
        (json!(["ok", "x".repeat(65)]).to_string(), "too_long"),
        (r#"["ok","a\u0000"]"#.to_owned(), "invalid_character"),
        (r#"["ok","a\n"]"#.to_owned(), "invalid_character"),
    ] {
        table.refuse_at("tags", &value, "/tags/1", code);
    }
    table.table.finish();
}

pub(crate) fn a_bad_expiry_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "Expiry");
    for value in ["1767603600", "true", "{}"] {
        table.refuse("expiresAt", value, "wrong_type");
    }
    for text in [
        "",
        "tomorrow",
        "2099-01-05",
        "2099-1-5T09:00:00Z",
        "2099-02-30T09:00:00Z",
        "2099-01-05T25:00:00Z",
        "2099-01-05T24:00:00Z",
        "2099-01-05 09:00:00Z",
        "2099-01-05T09:00:00+25:00",
        "2099-01-05T09:00:00 UTC",
        "-2099-01-05T09:00:00Z",
        "+2099-01-05T09:00:00Z",
        "10000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
        "٢٠٩٩-01-05T09:00:00Z",
        "4070908800",
    ] {
        table.refuse("expiresAt", &quoted(text), "invalid_format");
    }
    for text in ["2020-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z"] {
        table.refuse("expiresAt", &quoted(text), "in_the_past");
    }
    table.refuse("expiresAt", r#""2099-01-05T09:00:00Z\u0000""#, "invalid_character");
    table.table.finish();
}

pub(crate) fn a_bad_code_of_ones_own_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "Own codes");
    for (value, code) in [
        ("5", "wrong_type"),
        ("[]", "wrong_type"),
        ("\"ab\"", "too_short"),
        ("\"12345\"", "invalid_format"),
        ("\"a b\"", "invalid_character"),
        ("\"a/b\"", "invalid_character"),
        ("\"a.b\"", "invalid_character"),
        ("\"a+b\"", "invalid_character"),
        ("\"süß\"", "invalid_character"),
        ("\"аbс\"", "invalid_character"),
        (r#""abc\u0000""#, "invalid_character"),
        ("\"api\"", "reserved"),
        ("\"API\"", "reserved"),
        ("\"DashBoard\"", "reserved"),
        ("\"well-known\"", "reserved"),
        ("\"Livez\"", "reserved"),
        ("\"bulk\"", "reserved"),
    ] {
        table.refuse("shortCode", value, code);
    }
    table.refuse("shortCode", &quoted(&"x".repeat(65)), "too_long");
    table.table.finish();
}

pub(crate) fn a_bad_payload_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "Payloads");
    for value in ["null", "[]", "\"x\"", "1", "true", "[{}]"] {
        table.refuse("payload", value, "wrong_type");
    }
    for value in [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
        table.refuse("payload", value, "duplicate_key");
    }
    for value in [r#"{"a":"\ud83d"}"#, r#"{"\udc00":1}"#] {
        table.refuse("payload", value, "invalid_character");
    }
    table.refuse("payload", &nested(33), "too_deep");
    table.refuse("payload", &nested(50_000), "too_deep");
    table.refuse("payload", &sized(16_385), "too_long");
    let none = service.backend().post(LINKS, "{}");
    table.table.check("{}", &none, (400, "validation_failed", &[("/payload", "required")]));
    table.table.finish();
}

/// A payload of so many levels.
fn nested(levels: usize) -> String {
    format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
}

/// A payload of so many bytes.
fn sized(bytes: usize) -> String {
    format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8))
}

pub(crate) fn a_field_that_is_not_known_is_refused_by_name(service: &Service) {
    let mut table = Creates::new(service, "Unknown and read-only fields");
    for field in ["expireAt", "expiresat", "appId", "clickCount", "__proto__", "isExpired", "url"] {
        table.refuse(field, "null", "unknown_field");
    }
    for field in ["id", "createdAt", "updatedAt"] {
        table.refuse(field, "1", "unknown_field");
    }
    let body = r#"{"ogTitle":5,"tags":["a",1],"expireAt":"2099-01-01T00:00:00Z","a/b":1}"#;
    let all = [
        ("/a~1b", "unknown_field"),
        ("/expireAt", "unknown_field"),
        ("/ogTitle", "wrong_type"),
        ("/payload", "required"),
        ("/tags/1", "wrong_type"),
    ];
    let answer = service.backend().post(LINKS, body);
    table.table.check(body, &answer, (400, "validation_failed", &all));
    table.table.finish();
}

pub(crate) fn what_lies_on_the_limit_is_accepted(service: &Service) {
    let mut table = Creates::new(service, "Accepted");
    for (field, max) in TEXTS {
        for text in ["x".repeat(max), "😀".repeat(max), "e\u{301}\u{202e}\u{200d}".to_owned()] {
            table.accept(field, &quoted(&text));
        }
        table.accept(field, "\"\"");
        table.accept(field, "null");
    }
    table.accept("ogDescription", r#""two\nlines\tand a tab""#);
    for field in REDIRECTS {
        table.accept(field, &quoted(&format!("https://example.com/{}", "x".repeat(2028))));
        for text in ["HTTPS://Example.com/ä?q=€#x", "market://details?id=x", "itms-apps://x/id1", ""]
        {
            table.accept(field, &quoted(text));
        }
    }
    table.accept("ogImageUrl", r#""http://192.0.2.1:8080/a%20b.png""#);
    table.accept("ogImageUrl", "\"\"");
    let twenty: Vec<String> = (0..20).map(|n| format!("{n}{}", "😀".repeat(62))).collect();
    table.accept("tags", &json!(twenty).to_string());
    table.accept("tags", &json!(vec![" a "; 21]).to_string());
    table.accept("tags", "null");
    for text in [
        "9999-12-31T23:59:59.999Z",
        "2099-12-31T23:59",
        "2099-12-31T23:59:60Z",
        "2099-12-31t23:59:59z",
        "2099-12-31T23:59:59+0100",
        "2099-12-31T23:59:59.123456789-11:30",
    ] {
        table.accept("expiresAt", &quoted(text));
    }
    for text in ["abc", "A-_", &"x".repeat(64), "bulk1", ""] {
        table.accept("shortCode", &quoted(text));
    }
    table.accept("payload", &nested(32));
    table.accept("payload", &sized(16_384));
    table.accept("payload", &format!("{{ \"a\" :{}\"x\" }}", " ".repeat(20_000)));
    table.accept("payload", r#"{"a":"\u0000","":1e400}"#);
    table.table.finish();
}
