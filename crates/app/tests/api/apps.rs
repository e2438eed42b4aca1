//! Apps and their settings.

use serde_json::{Value, json};

use crate::service::Service;
use crate::table::Table;

const APPS: &str = "/api/v1/admin/apps";

/// Everything one may say about an app.
fn everything() -> Value {
    let fingerprint = vec!["AB"; 32].join(":");
    json!({
        "name": "Shop", "slug": "shop", "hosts": ["go.shop.example", "xn--bcher-kva.example"],
        "ios": {
            "appIds": ["TEAMID1234.com.example.shop"],
            "storeUrl": "https://apps.apple.com/app/id1", "fallbackUrl": "shop://ios",
        },
        "android": {
            "packageName": "com.example.shop", "certificateFingerprints": [fingerprint],
            "storeUrl": "market://details?id=com.example.shop", "fallbackUrl": "https://a.example/",
        },
        "webFallbackUrl": "https://w.example/", "customSchemes": ["shop"],
        "matching": {
            "installReferrerHours": 1, "clipboardHours": 168, "probabilisticAndroid": false,
            "probabilisticIos": true, "probabilisticMinutes": 1440, "threshold": 0.5,
        },
        "interstitial": {"enabled": true},
    })
}

/// The settings of an answer, without what the service says by itself.
fn settings(answer: &Value) -> Value {
    let mut settings = answer.as_object().unwrap().clone();
    for name in ["id", "createdAt", "updatedAt"] {
        assert!(settings.remove(name).is_some_and(|value| !value.is_null()), "{name}");
    }
    Value::Object(settings)
}

pub(crate) fn an_app_is_created_with_all_its_settings(service: &Service) {
    let owner = service.owner();
    let made = owner.post(APPS, &everything().to_string());
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(settings(&made.json()), everything());
    let path = made.header("location").unwrap().to_owned();
    assert_eq!(path, format!("{APPS}/{}", made.json()["id"]));
    assert_eq!(owner.get(&path).text, made.text);
    let list = owner.get(APPS).json();
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    assert!(list["data"].as_array().unwrap().contains(&made.json()));
    // An answer can be sent back as it is.
    let back = owner.patch(&path, &made.text);
    assert_eq!((back.status, settings(&back.json())), (200, everything()), "{}", back.text);
    service.restart();
    assert_eq!(settings(&service.owner().get(&path).json()), everything());
}

pub(crate) fn an_app_needs_a_name_and_no_more(service: &Service) {
    let made = service.owner().post(APPS, r#"{"name":" My Shop! "}"#);
    assert_eq!(made.status, 201, "{}", made.text);
    let expected = json!({
        "name": "My Shop!", "slug": "my-shop", "hosts": [],
        "ios": {"appIds": [], "storeUrl": null, "fallbackUrl": null},
        "android": {
            "packageName": null, "certificateFingerprints": [], "storeUrl": null,
            "fallbackUrl": null,
        },
        "webFallbackUrl": null, "customSchemes": [],
        "matching": {
            "installReferrerHours": 720, "clipboardHours": 24, "probabilisticAndroid": true,
            "probabilisticIos": false, "probabilisticMinutes": 120, "threshold": 0.85,
        },
        "interstitial": {"enabled": false},
    });
    assert_eq!(settings(&made.json()), expected);
    let foreign = service.owner().post(APPS, r#"{"name":"日本"}"#);
    assert_eq!(foreign.refused(), [("/slug".to_owned(), "required".to_owned())]);
    let slugged = service.owner().post(APPS, r#"{"name":"日本","slug":"japan"}"#);
    assert_eq!((slugged.status, &slugged.json()["name"]), (201, &json!("日本")));
}

pub(crate) fn a_patch_merges_objects_and_replaces_lists(service: &Service) {
    let owner = service.owner();
    let path = owner.post(APPS, &everything().to_string()).header("location").unwrap().to_owned();
    let mut expected = everything();
    for (patch, at, value) in [
        (json!({"name": "New"}), "/name", json!("New")),
        (json!({"slug": "new-shop"}), "/slug", json!("new-shop")),
        (json!({"hosts": ["B.example", "b.example"]}), "/hosts", json!(["b.example"])),
        (json!({"ios": {"storeUrl": null}}), "/ios/storeUrl", Value::Null),
        (json!({"ios": {"appIds": []}}), "/ios/appIds", json!([])),
        (json!({"android": {"packageName": ""}}), "/android/packageName", Value::Null),
        (json!({"android": {"certificateFingerprints": null}}), "/android/certificateFingerprints", json!([])),
        (json!({"matching": {"threshold": 0.99}}), "/matching/threshold", json!(0.99)),
        (json!({"matching": {"clipboardHours": null}}), "/matching/clipboardHours", json!(24)),
        (json!({"interstitial": {"enabled": false}}), "/interstitial/enabled", json!(false)),
        (json!({"webFallbackUrl": null}), "/webFallbackUrl", Value::Null),
        (json!({"hosts": null}), "/hosts", json!([])),
        (json!({"ios": {}, "matching": {}}), "/matching/clipboardHours", json!(24)),
    ] {
        *expected.pointer_mut(at).unwrap() = value;
        let patched = owner.patch(&path, &patch.to_string());
        assert_eq!(patched.status, 200, "{patch}: {}", patched.text);
        assert_eq!(settings(&patched.json()), expected, "{patch}");
    }
    let before = owner.get(&path);
    assert_eq!(owner.patch(&path, "{}").text, before.text, "nothing asked, nothing changed");
}

pub(crate) fn a_bad_setting_is_named_by_its_path(service: &Service) {
    let owner = service.owner();
    let path = format!("{APPS}/{}", service.first().app_id);
    let before = owner.get(&path).text;
    let mut table = Table::new("Settings of apps");
    let many = json!({"hosts": (0..21).map(|n| format!("h{n}.example")).collect::<Vec<_>>()}).to_string();
    for (body, field, code) in [
        (r#"{"name":null}"#, "/name", "wrong_type"),
        (r#"{"name":" "}"#, "/name", "too_short"),
        (&json!({"name": "x".repeat(101)}).to_string(), "/name", "too_long"),
        (r#"{"slug":"Shop"}"#, "/slug", "invalid_format"),
        (r#"{"slug":"api"}"#, "/slug", "reserved"),
        (r#"{"slug":"a"}"#, "/slug", "too_short"),
        (&json!({"slug": "x".repeat(41)}).to_string(), "/slug", "too_long"),
        (r#"{"slug":null}"#, "/slug", "wrong_type"),
        (r#"{"hosts":"go.example"}"#, "/hosts", "wrong_type"),
        (r#"{"hosts":["go.example","https://x.example"]}"#, "/hosts/1", "invalid_format"),
        (r#"{"hosts":["go.example:8080"]}"#, "/hosts/0", "invalid_format"),
        (r#"{"hosts":["127.0.0.1"]}"#, "/hosts/0", "invalid_format"),
        (&many, "/hosts", "too_long"),
        (r#"{"ios":null}"#, "/ios", "wrong_type"),
        (r#"{"ios":[]}"#, "/ios", "wrong_type"),
        (r#"{"ios":{"appIds":["com.example"]}}"#, "/ios/appIds/0", "invalid_format"),
        (r#"{"ios":{"storeUrl":"javascript:x"}}"#, "/ios/storeUrl", "scheme_not_allowed"),
        (r#"{"ios":{"fallbackUrl":"shop://x"}}"#, "/ios/fallbackUrl", "scheme_not_allowed"),
        (r#"{"ios":{"appId":[]}}"#, "/ios/appId", "unknown_field"),
        (r#"{"android":{"packageName":"shop"}}"#, "/android/packageName", "invalid_format"),
        (r#"{"android":{"certificateFingerprints":["14:6D"]}}"#, "/android/certificateFingerprints/0", "invalid_format"),
        (r#"{"webFallbackUrl":5}"#, "/webFallbackUrl", "wrong_type"),
        (r#"{"customSchemes":["https"]}"#, "/customSchemes/0", "scheme_not_allowed"),
        (r#"{"customSchemes":["a b"]}"#, "/customSchemes/0", "invalid_format"),
        (r#"{"matching":{"threshold":0.49}}"#, "/matching/threshold", "out_of_range"),
        (r#"{"matching":{"threshold":"0.9"}}"#, "/matching/threshold", "wrong_type"),
        (r#"{"matching":{"threshold":1e400}}"#, "/matching/threshold", "wrong_type"),
        (r#"{"matching":{"clipboardHours":0}}"#, "/matching/clipboardHours", "out_of_range"),
        (r#"{"matching":{"clipboardHours":169}}"#, "/matching/clipboardHours", "out_of_range"),
        (r#"{"matching":{"clipboardHours":1.5}}"#, "/matching/clipboardHours", "out_of_range"),
        (r#"{"matching":{"clipboardHours":"1"}}"#, "/matching/clipboardHours", "wrong_type"),
        (r#"{"matching":{"installReferrerHours":2161}}"#, "/matching/installReferrerHours", "out_of_range"),
        (r#"{"matching":{"probabilisticMinutes":1441}}"#, "/matching/probabilisticMinutes", "out_of_range"),
        (r#"{"matching":{"probabilisticIos":1}}"#, "/matching/probabilisticIos", "wrong_type"),
        (r#"{"interstitial":true}"#, "/interstitial", "wrong_type"),
        (r#"{"interstitial":{"enabled":"yes"}}"#, "/interstitial/enabled", "wrong_type"),
        (r#"{"nope":1}"#, "/nope", "unknown_field"),
    ] {
        table.check(body, &owner.patch(&path, body), (400, "validation_failed", &[(field, code)]));
    }
    for (body, field) in [(r#"{"name":"a\u0000"}"#, "/name"), (r#"{"name":"a\nb"}"#, "/name")] {
        let fields = [(field, "invalid_character")];
        table.check(body, &owner.patch(&path, body), (400, "invalid_character", &fields));
    }
    let body = r#"{"slug":"API","hosts":[5]}"#;
    let fields = [("/hosts/0", "wrong_type"), ("/name", "required"), ("/slug", "invalid_format")];
    table.check(body, &owner.post(APPS, body), (400, "validation_failed", &fields));
    table.finish();
    assert_eq!(owner.get(&path).text, before, "nothing has changed");
}

pub(crate) fn a_slug_belongs_to_one_app(service: &Service) {
    let owner = service.owner();
    assert_eq!(owner.post(APPS, r#"{"name":"Shop"}"#).status, 201);
    let path = format!("{APPS}/{}", service.first().app_id);
    for refused in [
        owner.post(APPS, r#"{"name":"Shop"}"#),
        owner.post(APPS, r#"{"name":"Other","slug":"shop"}"#),
        owner.patch(&path, r#"{"slug":"shop","name":"Renamed"}"#),
    ] {
        assert_eq!((refused.status, refused.problem().as_str()), (409, "slug_taken"));
        assert_eq!(refused.refused(), [("/slug".to_owned(), "taken".to_owned())]);
    }
    assert_eq!(owner.get(&path).json()["name"], "My app", "all or nothing");
    assert_eq!(owner.patch(&path, r#"{"slug":"first"}"#).status, 200, "one's own slug is no conflict");
}

pub(crate) fn a_member_sees_the_apps_named_for_them(service: &Service) {
    let (rival, _) = service.another_app("Rival");
    let member = service.member(&[rival]);
    let list = member.get(APPS).json();
    let ids: Vec<i64> =
        list["data"].as_array().unwrap().iter().map(|app| app["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [rival]);
    assert_eq!(member.get(&format!("{APPS}/{rival}")).status, 200);
    assert_eq!(member.patch(&format!("{APPS}/{rival}"), r#"{"name":"Ours"}"#).status, 200);
    let first = service.first().app_id.to_string();
    for id in [first.as_str(), "999999", "nonsense", "-1", "9223372036854775808"] {
        let path = format!("{APPS}/{id}");
        assert_eq!(member.get(&path).problem(), "not_found", "{id}");
        assert_eq!(member.patch(&path, "{").problem(), "not_found", "{id}");
    }
    let refused = member.post(APPS, r#"{"name":"Mine"}"#);
    assert_eq!((refused.status, refused.problem().as_str()), (403, "owner_only"));
    assert_eq!(service.owner().get(APPS).json()["data"].as_array().unwrap().len(), 2);
}
