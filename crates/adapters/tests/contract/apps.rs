//! Apps and their hosts.

use std::thread;

use signpost_domain::Change;
use signpost_domain::app::{
    AndroidPackage, App, AppDraft, AppId, AppName, AppPatch, AppSettings, CertificateFingerprint,
    Host, IosAppId, Matching, Slug, Threshold,
};
use signpost_domain::link::{CustomScheme, RedirectUrl};
use signpost_domain::ports::{SaveAppError, StoreError};

use crate::fixtures::{app_draft, later};
use crate::world::World;

fn hosts(texts: &[&str]) -> Vec<Host> {
    texts.iter().map(|text| Host::parse(text).unwrap()).collect()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn settings() -> AppSettings {
    let url = |text| Some(RedirectUrl::from_stored(text).unwrap());
    AppSettings {
        ios_app_ids: vec![IosAppId::parse("TEAMID1234.com.example.shop").unwrap()],
        ios_store_url: url("https://apps.apple.com/app/id1"),
        ios_fallback_url: url("https://i.example/"),
        android_package: Some(AndroidPackage::parse("com.example.shop").unwrap()),
        android_fingerprints: vec![CertificateFingerprint::parse(&["AB"; 32].join(":")).unwrap()],
        android_store_url: url("market://details?id=com.example.shop"),
        android_fallback_url: url("https://a.example/"),
        web_fallback_url: url("https://w.example/"),
        custom_schemes: vec![CustomScheme::parse("shop").unwrap()],
        matching: Matching {
            install_referrer_hours: 1,
            clipboard_hours: 2,
            probabilistic_android: false,
            probabilistic_ios: true,
            probabilistic_minutes: 3,
            threshold: Threshold::new(0.9).unwrap(),
        },
        interstitial: true,
    }
}

pub(crate) fn an_inserted_app_is_found_by_number_and_slug(world: &World) {
    let apps = world.apps();
    let full = AppDraft {
        settings: settings(),
        ..app_draft("shop", &["go.shop.example", "a.shop.example"])
    };
    for draft in [full, app_draft("bare", &[])] {
        let app = apps.insert(&draft).unwrap();
        let expected = App {
            id: app.id,
            slug: draft.slug.clone(),
            name: draft.name.clone(),
            hosts: draft.hosts.clone(),
            shares_host: false,
            settings: draft.settings.clone(),
            created_at: draft.created_at,
            updated_at: draft.created_at,
        };
        assert_eq!(app, expected);
        assert_eq!(apps.find(app.id).unwrap(), Some(expected));
        assert_eq!(apps.find_by_slug(&draft.slug).unwrap(), Some(app));
    }
}

pub(crate) fn what_was_never_stored_is_not_found(world: &World) {
    let apps = world.apps();
    assert_eq!(apps.find(AppId(1)).unwrap(), None);
    assert_eq!(apps.find_by_slug(&slug("shop")).unwrap(), None);
    assert_eq!(apps.update(AppId(1), AppPatch::default(), later(1)).unwrap(), None);
    assert!(apps.list().unwrap().is_empty());
}

pub(crate) fn a_taken_slug_is_refused_and_nothing_stored(world: &World) {
    let apps = world.apps();
    let first = apps.insert(&app_draft("shop", &[])).unwrap();
    let refused = apps.insert(&app_draft("shop", &["go.example"]));
    assert!(matches!(refused, Err(SaveAppError::SlugTaken)));
    assert_eq!(apps.list().unwrap(), [first]);
    assert_eq!(world.count("app_hosts", "1 = 1"), 0);
}

pub(crate) fn all_apps_are_listed_by_number(world: &World) {
    let apps = world.apps();
    let expected: Vec<App> = ["zoo", "shop", "news"]
        .iter()
        .map(|slug| apps.insert(&app_draft(slug, &[&format!("{slug}.example")])).unwrap())
        .collect();
    assert_eq!(apps.list().unwrap(), expected);
}

pub(crate) fn an_app_whose_first_host_is_anothers_too_shares_it(world: &World) {
    let apps = world.apps();
    let shop = apps.insert(&app_draft("shop", &["go.example", "shop.example"])).unwrap();
    assert!(!shop.shares_host);
    let news = apps.insert(&app_draft("news", &["news.example", "go.example"])).unwrap();
    let zoo = apps.insert(&app_draft("zoo", &["news.example"])).unwrap();
    apps.insert(&app_draft("bare", &[])).unwrap();
    assert!(!news.shares_host && zoo.shares_host);
    let shares: Vec<bool> = apps.list().unwrap().iter().map(|app| app.shares_host).collect();
    // `news` names go.example second, which still makes it shared for `shop`.
    assert_eq!(shares, [true, true, true, false]);
    assert!(apps.find(shop.id).unwrap().unwrap().shares_host);
    let patch = AppPatch { hosts: Change::Clear, ..AppPatch::default() };
    apps.update(zoo.id, patch, later(1)).unwrap();
    assert!(!apps.find_by_slug(&slug("news")).unwrap().unwrap().shares_host);
}

pub(crate) fn a_patch_keeps_clears_and_sets(world: &World) {
    let apps = world.apps();
    let draft = AppDraft {
        settings: settings(),
        ..app_draft("shop", &["go.shop.example", "a.shop.example"])
    };
    let app = apps.insert(&draft).unwrap();
    let patch = AppPatch {
        slug: Some(slug("store")),
        name: Some(AppName::parse("Store").unwrap()),
        hosts: Change::Set(hosts(&["b.shop.example", "go.shop.example"])),
        ios_store_url: Change::Clear,
        threshold: Change::Clear,
        interstitial: Change::Set(false),
        ..AppPatch::default()
    };
    let updated = apps.update(app.id, patch, later(60)).unwrap().unwrap();
    let mut expected = App {
        slug: slug("store"),
        name: AppName::parse("Store").unwrap(),
        hosts: hosts(&["b.shop.example", "go.shop.example"]),
        updated_at: later(60),
        ..app
    };
    expected.settings.ios_store_url = None;
    expected.settings.matching.threshold = Matching::default().threshold;
    expected.settings.interstitial = false;
    assert_eq!(updated, expected);
    assert_eq!(apps.find(expected.id).unwrap(), Some(expected));
    assert_eq!(apps.find_by_slug(&slug("shop")).unwrap(), None);
    assert_eq!(world.count("apps", "version = 2"), 1);
}

pub(crate) fn a_patch_to_a_taken_slug_changes_nothing(world: &World) {
    let apps = world.apps();
    apps.insert(&app_draft("shop", &[])).unwrap();
    let news = apps.insert(&app_draft("news", &["news.example"])).unwrap();
    let patch = AppPatch {
        slug: Some(slug("shop")),
        hosts: Change::Clear,
        interstitial: Change::Set(true),
        ..AppPatch::default()
    };
    let refused = apps.update(news.id, patch, later(60));
    assert!(matches!(refused, Err(SaveAppError::SlugTaken)));
    assert_eq!(apps.find(news.id).unwrap().as_ref(), Some(&news));
    let own = AppPatch { slug: Some(slug("news")), ..AppPatch::default() };
    assert_eq!(apps.update(news.id, own, later(60)).unwrap().unwrap().slug, slug("news"));
}

pub(crate) fn of_two_patches_at_once_neither_is_lost(world: &World) {
    let apps = world.apps();
    let app = apps.insert(&app_draft("shop", &[])).unwrap();
    thread::scope(|scope| {
        for n in 0..6 {
            let (apps, id) = (apps.clone(), app.id);
            scope.spawn(move || {
                let default = AppPatch::default();
                let patch = match n {
                    0 => AppPatch { slug: Some(slug("store")), ..default },
                    1 => AppPatch { hosts: Change::Set(hosts(&["go.example"])), ..default },
                    2 => AppPatch { interstitial: Change::Set(true), ..default },
                    3 => AppPatch { clipboard_hours: Change::Set(7), ..default },
                    4 => AppPatch { probabilistic_ios: Change::Set(true), ..default },
                    _ => AppPatch { name: Some(AppName::parse("Store").unwrap()), ..default },
                };
                apps.update(id, patch, later(60)).unwrap();
            });
        }
    });
    let after = apps.find(app.id).unwrap().unwrap();
    assert_eq!((after.slug.as_str(), after.name.as_str()), ("store", "Store"));
    assert_eq!(after.hosts, hosts(&["go.example"]));
    let matching = after.settings.matching;
    assert!(after.settings.interstitial && matching.probabilistic_ios);
    assert_eq!(matching.clipboard_hours, 7);
    assert_eq!(world.count("apps", "version = 7"), 1);
}

pub(crate) fn an_impossible_row_is_an_error(world: &World) {
    let apps = world.apps();
    for (n, damage) in [
        "UPDATE apps SET slug = '-'",
        "UPDATE apps SET name = ''",
        "UPDATE apps SET settings = '{}'",
        r#"UPDATE apps SET settings = replace(settings, '{"ios', '{"new":1,"ios')"#,
        "UPDATE app_hosts SET host = 'a b'",
        "UPDATE apps SET created_at = 9223372036854775807",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("app{n}");
        let app = apps.insert(&app_draft(&name, &[&format!("{name}.example")])).unwrap();
        let column = if damage.contains("app_hosts") { "app_id" } else { "id" };
        world.execute(&format!("{damage} WHERE {column} = {}", app.id.0));
        let found = apps.find(app.id);
        assert!(matches!(found, Err(StoreError::Failed(_))), "{damage}: {found:?}");
    }
    assert!(apps.list().is_err());
}
