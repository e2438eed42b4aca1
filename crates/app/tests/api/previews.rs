//! What preview crawlers get.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::service::Service;
use crate::visits::{IPHONE, three_targets};

const LINKS: &str = "/api/v1/public/links";
const FACEBOOK: &str =
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)";

/// Markup, quotes and the line separator that ends a line in scripts of old.
pub(crate) const HOSTILE: &str = "</title><script>alert(1)</script>\u{2028}\" onload=\"alert(2)\" \
    ' onerror='alert(3)' --><img src=x onerror=alert(4)>&lt;&quot;";

/// Creates a link in which every text that a page might show is hostile.
pub(crate) fn hostile_link(service: &Service, code: &str) {
    let url = |letters: &str| format!("https://w.example/\"><script>alert({letters})</script>'");
    let body = json!({
        "shortCode": code,
        "payload": { "secret": HOSTILE, "</script>": "payload-word" },
        "ogTitle": HOSTILE,
        "ogDescription": HOSTILE,
        "ogImageUrl": url("image"),
        "channel": HOSTILE,
        "campaign": HOSTILE,
        "tags": ["<script>tag</script>"],
        "iosRedirectUrl": "market://details?id=\"><script>alert('ios')</script>",
        "androidRedirectUrl": format!("https://play.google.com/store/apps/details?id=x&referrer={}", "%22%3E%3Cscript%3E"),
        "webRedirectUrl": url("web"),
    });
    let created = service.backend().post(LINKS, &body.to_string());
    assert_eq!(created.status, 201, "{}", created.text);
}

/// True text only: no element and no attribute beside the template's own.
pub(crate) fn assert_harmless(page: &Answer) {
    let html = &page.text;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("script-src"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    for escaped in ["<script", "</script", "<img src=x", "\" onload", "' onerror", "-->"] {
        assert!(!html.contains(escaped), "{escaped}: {html}");
    }
    assert_eq!(html.matches("</title>").count(), 1, "{html}");
    for never in ["http-equiv", "payload-word", "secret", "javascript:"] {
        assert!(!html.contains(never), "{never}: {html}");
    }
}

fn clicks(service: &Service, code: &str) -> Value {
    let owner = service.owner();
    owner.get(&format!("/api/v1/admin/links/{code}/clicks?includeBots=true")).json()
}

pub(crate) fn a_crawler_gets_the_preview_and_is_no_click(service: &Service) {
    let body = json!({
        "shortCode": "seen",
        "payload": { "promo": "SUMMER50" },
        "ogTitle": "Ünder 50 € 🎉",
        "ogDescription": "Two\nlines",
        "ogImageUrl": "https://c.example/a.png?w=1&h=2",
        "webRedirectUrl": "https://w.example/target",
    });
    assert_eq!(service.backend().post(LINKS, &body.to_string()).status, 201);
    let crawler = service.anybody().with("user-agent", FACEBOOK);
    let page = crawler.get("/seen?fbclid=1");
    assert_eq!((page.status, page.header("location")), (200, None));
    assert_eq!(page.header("cache-control"), Some("private, no-store"));
    assert_eq!(page.header("x-robots-tag"), Some("noindex"));
    let url = format!("http://{}/seen", service.address());
    for tag in [
        r#"<meta property="og:title" content="Ünder 50 € 🎉">"#.to_owned(),
        "<meta property=\"og:description\" content=\"Two\nlines\">".to_owned(),
        r#"<meta property="og:image" content="https://c.example/a.png?w=1&#38;h=2">"#.to_owned(),
        format!(r#"<meta property="og:url" content="{url}">"#),
        format!(r#"<link rel="canonical" href="{url}">"#),
        r#"<meta name="twitter:card" content="summary_large_image">"#.to_owned(),
    ] {
        assert!(page.text.contains(&tag), "{tag}: {}", page.text);
    }
    assert!(!page.text.contains("SUMMER50") && !page.text.contains("w.example"));
    let head = crawler.head("/seen");
    assert_eq!((head.status, head.header("content-type")), (200, page.header("content-type")));
    assert!(head.text.is_empty());
    assert_eq!(clicks(service, "seen"), json!([]));
    // A search engine's robot shows nothing to anybody: it is sent on, and marked as a bot.
    let robot = service.anybody().with("user-agent", "Mozilla/5.0 (compatible; Googlebot/2.1)");
    assert_eq!(robot.get("/seen").header("location"), Some("https://w.example/target"));
    assert_eq!(clicks(service, "seen")[0]["isBot"], true);
}

pub(crate) fn an_expired_link_has_no_preview(service: &Service) {
    three_targets(service, "late");
    let path = format!("{LINKS}/late");
    service.backend().put(&path, r#"{"expiresAt":"2020-01-01T00:00:00Z","ogTitle":"Gone"}"#);
    let crawler = service.anybody().with("user-agent", FACEBOOK);
    let answer = crawler.get("/late");
    assert_eq!(answer.status, 410);
    assert!(!answer.text.contains("og:") && !answer.text.contains("Gone"));
    service.backend().put(&path, r#"{"expiredRedirectUrl":"https://late.example/"}"#);
    let answer = crawler.get("/late");
    assert_eq!((answer.status, answer.header("location")), (302, Some("https://late.example/")));
    assert_eq!(crawler.get("/unknown").status, 404);
}

pub(crate) fn no_text_of_a_link_becomes_markup(service: &Service) {
    hostile_link(service, "hostile");
    let preview = service.anybody().with("user-agent", FACEBOOK).get("/hostile");
    assert!(preview.text.contains("&#60;script&#62;alert(1)"), "{}", preview.text);
    assert_harmless(&preview);
    let inspection = service.anybody().get("/hostile+");
    assert!(inspection.text.contains("market://"), "{}", inspection.text);
    assert_harmless(&inspection);
    // Without a target of its own it is a page for people, with the same texts.
    let bare = r#"{"iosRedirectUrl":null,"androidRedirectUrl":null,"webRedirectUrl":null}"#;
    assert_eq!(service.backend().put(&format!("{LINKS}/hostile"), bare).status, 200);
    let landing = service.anybody().with("user-agent", IPHONE).get("/hostile");
    assert_eq!(landing.status, 200);
    assert!(landing.text.contains("&#60;script&#62;alert(1)"), "{}", landing.text);
    assert_harmless(&landing);
}
