use super::*;
use crate::app::{AppId, AppSet, AppSettings};
use crate::click::ClickId;
use crate::link::{LinkId, RedirectUrl, Redirects};
use crate::ports::{MockAppDirectory, MockClickJournal, MockLinkLookup, MockTokenMac};
use crate::service::setup::tests::{FixedClock, now};

const PLAY: &str = "https://play.google.com/store/apps/details?id=x";

struct Ids;
impl IdSource for Ids {
    fn click_id(&self, _: chrono::DateTime<chrono::Utc>) -> ClickId {
        ClickId(uuid::Uuid::nil())
    }
}

/// Without an expectation a MAC that is made fails the test.
fn visits_with(links: MockLinkLookup, mode: AddressMode, macs: MockTokenMac) -> Visits {
    let mut apps = MockAppDirectory::new();
    let set = Arc::new(AppSet::new([App::for_tests(AppSettings::default())]));
    apps.expect_in_memory().returning(move || Some(set.clone()));
    Visits::new(
        Arc::new(links),
        Arc::new(apps),
        Arc::new(MockClickJournal::new()),
        Arc::new(Ids),
        Arc::new(macs),
        Arc::new(FixedClock),
        mode,
    )
}

fn visits(mode: AddressMode) -> Visits {
    visits_with(MockLinkLookup::new(), mode, MockTokenMac::new())
}

fn url(text: &str) -> Option<RedirectUrl> {
    RedirectUrl::parse(text, &[]).ok()
}

fn leading_to(web: Option<&str>) -> Route {
    Route {
        link_id: LinkId(5),
        app_id: AppId(1),
        code: ShortCode::parse("abc").unwrap(),
        redirects: Redirects { web: web.and_then(url), ..Redirects::default() },
        expires_at: None,
        og_title: None,
        og_description: None,
        og_image_url: None,
        channel: None,
        campaign: None,
    }
}

fn found_in(route: Route, settings: AppSettings) -> Found {
    Found { route: Arc::new(route), app: Arc::new(App::for_tests(settings)) }
}

fn found(expired: bool) -> Found {
    let route = leading_to(Some("https://w.example/"));
    found_in(Route { expires_at: expired.then(now), ..route }, AppSettings::default())
}

fn visitor(counts: bool) -> Visitor<'static> {
    Visitor {
        platform: Platform::Ios,
        address: [198, 51, 100, 7].into(),
        user_agent: None,
        referrer: None,
        query: "",
        previews: false,
        counts,
    }
}

fn crawler() -> Visitor<'static> {
    Visitor { previews: true, ..visitor(true) }
}

fn location<'a>(visit: &'a Visit<'_>) -> &'a str {
    match &visit.reply {
        Reply::Redirect(target) | Reply::ExpiredRedirect(target) => target.as_str(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_person_who_is_sent_on_is_a_click() {
    let found = found(false);
    let visit = visits(AddressMode::Truncated).arrive(&found, visitor(true));
    assert_eq!(location(&visit), "https://w.example/");
    let click = visit.click.unwrap();
    assert_eq!(click.link_id, LinkId(5));
    assert_eq!(click.address, Some([198, 51, 100, 0].into()));
}

#[test]
fn neither_a_prefetch_nor_a_visit_after_expiry_is_a_click() {
    let service = visits(AddressMode::Full);
    assert!(service.arrive(&found(false), visitor(false)).click.is_none());
    let expired = found(true);
    let late = service.arrive(&expired, visitor(true));
    assert_eq!(late.reply, Reply::Expired);
    assert!(late.click.is_none());
}

#[test]
fn a_preview_is_no_click_and_no_consolation_for_an_expired_link() {
    let service = visits(AddressMode::Full);
    for found in [found(false), found_in(leading_to(None), AppSettings::default())] {
        let visit = service.arrive(&found, crawler());
        assert_eq!((visit.reply, visit.click), (Reply::Preview, None));
    }
    assert_eq!(service.arrive(&found(true), crawler()).reply, Reply::Expired);
}

#[test]
fn a_visitors_parameters_come_along_even_after_expiry() {
    let mut route = leading_to(Some("https://w.example/?a=0"));
    route.redirects.expired = url("https://late.example/");
    let asked = Visitor { query: "a=1&b=2", ..visitor(true) };
    let fresh = found_in(route.clone(), AppSettings::default());
    let service = visits(AddressMode::Full);
    assert_eq!(location(&service.arrive(&fresh, asked.clone())), "https://w.example/?a=0&b=2");
    route.expires_at = Some(now());
    let late = found_in(route, AppSettings::default());
    assert_eq!(location(&service.arrive(&late, asked)), "https://late.example/?a=1&b=2");
}

#[test]
fn the_play_store_hears_of_the_click_and_a_visit_that_is_none_has_no_token() {
    let mut macs = MockTokenMac::new();
    let nil = ClickId(uuid::Uuid::nil());
    macs.expect_mac().withf(move |c, l| (*c, *l) == (nil, LinkId(5))).once().return_const(7_u64);
    let service = visits_with(MockLinkLookup::new(), AddressMode::Full, macs);
    let found = found_in(leading_to(Some(PLAY)), AppSettings::default());
    let asked = |counts| Visitor { query: "referrer=dlc%3Dmine&hl=de", ..visitor(counts) };
    let utm = "utm_source%3Dlink%26utm_medium%3Ddeeplink";
    let token = token::encode(nil, LinkId(5), 7);
    let counted = service.arrive(&found, asked(true));
    assert_eq!(location(&counted), format!("{PLAY}&referrer={utm}%26dlc%3D{token}&hl=de"));
    let looked = service.arrive(&found, asked(false));
    assert_eq!(location(&looked), format!("{PLAY}&referrer={utm}&hl=de"));
}

#[test]
fn a_page_offers_the_stores_and_tells_the_play_store_of_the_click() {
    let mut macs = MockTokenMac::new();
    macs.expect_mac().once().return_const(7_u64);
    let service = visits_with(MockLinkLookup::new(), AddressMode::Full, macs);
    // A phone would be sent to its store; a desktop has no default here.
    let settings = AppSettings {
        ios_store_url: url("https://apps.apple.com/app/id1"),
        android_store_url: url(PLAY),
        ..AppSettings::default()
    };
    let found = found_in(leading_to(None), settings);
    let visit = service.arrive(&found, Visitor { platform: Platform::Web, ..visitor(true) });
    let Reply::Landing(None, stores) = visit.reply else { panic!("{:?}", visit.reply) };
    assert_eq!(stores.app_store.unwrap().as_str(), "https://apps.apple.com/app/id1");
    assert!(stores.google_play.unwrap().as_str().contains("%26dlc%3D"));
}

#[test]
fn an_inspection_names_the_target_of_every_platform_and_counts_nothing() {
    let service = visits(AddressMode::Full);
    let texts = |found: &Found| {
        let inspection = service.inspect(found);
        let text = |t: Option<Target<'_>>| t.map(|t| t.as_str().to_owned());
        (inspection.targets.map(|(p, t)| (p, text(t))), inspection.is_expired)
    };
    let mut route = leading_to(Some("https://w.example/"));
    route.redirects.android = url(PLAY);
    let (targets, expired) = texts(&found_in(route.clone(), AppSettings::default()));
    let web = Some("https://w.example/".to_owned());
    let play = Some(PLAY.to_owned());
    let expected = [(Platform::Ios, web.clone()), (Platform::Android, play), (Platform::Web, web)];
    assert_eq!((targets, expired), (expected, false));
    route.expires_at = Some(now());
    let (targets, expired) = texts(&found_in(route, AppSettings::default()));
    assert_eq!((targets, expired), (Platform::ALL.map(|p| (p, None)), true));
}

#[test]
fn another_apps_slug_hides_a_known_link() {
    let mut links = MockLinkLookup::new();
    links.expect_in_memory().returning(|_| Cached::Known(found(false).route));
    let service = visits_with(links, AddressMode::Full, MockTokenMac::new());
    let code = ShortCode::parse("abc").unwrap();
    let at = |slug| Place { host: None, slug };
    assert!(matches!(service.in_memory(&code, at(Some("shop"))), Lookup::Found(_)));
    assert!(matches!(service.in_memory(&code, at(Some("news"))), Lookup::Absent));
}
