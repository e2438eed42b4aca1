//! The memories in front of the stores: a decorator keeps the contract of what it decorates.

use std::sync::Arc;
use std::time::Duration;

use signpost_adapters::app_directory::CachedApps;
use signpost_adapters::apps::SqlApps;
use signpost_adapters::changes::{Trust, follow};
use signpost_adapters::link_cache::CachedLinks;
use signpost_adapters::links::SqlLinks;
use signpost_adapters::system::SystemClock;
use signpost_domain::Change;
use signpost_domain::app::{AppPatch, Host, Slug};
use signpost_domain::link::{LinkEdit, Route};
use signpost_domain::ports::{AppDirectory, AppRepository, Cached, LinkLookup, LinkRepository};

use crate::fixtures::{app, app_draft, code, later, now, own, stored};
use crate::world::World;

macro_rules! decorated {
    ($($module:ident { $($case:ident,)* })*) => {
        $($(pub(crate) fn $case(world: &World) {
            world.remember();
            crate::$module::$case(world);
        })*)*
    };
}

decorated! {
    links {
        an_inserted_link_is_found_by_app_and_code_by_number_and_by_code,
        another_app_does_not_see_the_link,
        one_taken_code_does_not_spoil_the_others,
        a_deleted_link_is_gone_and_its_content_erased,
    }
    link_pages {
        newest_come_first_and_equal_times_by_falling_number,
    }
    link_edits {
        an_edit_keeps_clears_and_sets,
        an_edit_that_changes_nothing_writes_nothing,
        an_edit_of_another_version_changes_nothing,
        of_two_edits_at_once_neither_is_lost,
    }
    link_requests {
        a_request_sent_again_stores_nothing_and_gets_its_answer_again,
        a_key_used_with_another_body_is_a_mismatch,
        of_many_twins_one_stores_and_the_others_replay,
    }
    apps {
        an_inserted_app_is_found_by_number_and_slug,
        a_taken_slug_is_refused_and_nothing_stored,
        all_apps_are_listed_by_number,
        a_patch_keeps_clears_and_sets,
        a_patch_to_a_taken_slug_changes_nothing,
    }
}

fn cached(world: &World, ttl: Duration) -> CachedLinks {
    let sql = Arc::new(SqlLinks::new(world.databases.api.clone()));
    CachedLinks::new(sql.clone(), sql, 100, Arc::new(Trust::with_ttl(ttl)))
}

/// Long enough to end after any test.
const LONG: Duration = Duration::from_hours(1);

pub(crate) fn a_change_through_the_memory_is_seen_by_the_next_visit(world: &World) {
    let links = cached(world, LONG);
    let app = app(world, "shop");
    let code = code("mine");
    assert_eq!(links.load(&code).unwrap(), None);
    assert_eq!(links.in_memory(&code), Cached::Absent);
    let link = stored(&links, own(app, "mine"));
    let route = Arc::new(Route::from(&link));
    assert_eq!(links.in_memory(&code), Cached::Unknown);
    assert_eq!(links.load(&code).unwrap(), Some(route.clone()));
    assert_eq!(links.in_memory(&code), Cached::Known(route));
    let edit = LinkEdit { expires_at: Change::Set(later(1)), ..LinkEdit::default() };
    let edited = links.update(app, &code, edit, None, now()).unwrap().unwrap();
    assert_eq!(links.load(&code).unwrap(), Some(Arc::new(Route::from(&edited))));
    assert!(links.remove(app, &code, now()).unwrap());
    assert_eq!(links.load(&code).unwrap(), None);
}

pub(crate) fn a_change_elsewhere_is_seen_when_the_memory_is_too_old(world: &World) {
    let (elsewhere, trusting, wary) =
        (world.links(), cached(world, LONG), cached(world, Duration::ZERO));
    let app = app(world, "shop");
    let link = stored(&*elsewhere, own(app, "mine"));
    let route = Some(Arc::new(Route::from(&link)));
    for links in [&trusting, &wary] {
        assert_eq!(links.load(&link.code).unwrap(), route);
    }
    assert!(elsewhere.remove(app, &link.code, now()).unwrap());
    assert_eq!(trusting.load(&link.code).unwrap(), route);
    assert_eq!(wary.load(&link.code).unwrap(), None);
}

pub(crate) fn a_change_of_an_app_is_seen_at_once(world: &World) {
    let apps = CachedApps::new(
        Arc::new(SqlApps::new(world.databases.api.clone())),
        Arc::new(Trust::with_ttl(LONG)),
    );
    let id = apps.insert(&app_draft("shop", &[])).unwrap().id;
    assert!(apps.in_memory().is_none());
    assert_eq!(apps.load().unwrap().get(id).unwrap().slug.as_str(), "shop");
    assert!(apps.in_memory().is_some());
    let patch = AppPatch { slug: Slug::parse("store").ok(), ..AppPatch::default() };
    apps.update(id, patch, later(1)).unwrap();
    assert!(apps.in_memory().is_none());
    assert_eq!(apps.load().unwrap().get(id).unwrap().slug.as_str(), "store");
}

pub(crate) fn a_change_through_another_process_is_forgotten_when_the_feed_tells(world: &World) {
    let (here, _apps) = followed(world);
    let elsewhere = world.links();
    let link = stored(&*elsewhere, own(app(world, "shop"), "mine"));
    assert!(here.load(&link.code).unwrap().is_some());
    let edit = LinkEdit { expires_at: Change::Set(later(1)), ..LinkEdit::default() };
    elsewhere.update(link.app_id, &link.code, edit, None, later(0)).unwrap();
    eventually(|| match here.load(&link.code).unwrap() {
        Some(route) => route.expires_at.is_some(),
        None => false,
    });
    assert!(elsewhere.remove(link.app_id, &link.code, later(2)).unwrap());
    eventually(|| here.load(&link.code).unwrap().is_none());
}

pub(crate) fn a_host_taken_through_another_process_is_known_when_the_feed_tells(world: &World) {
    let (_links, here) = followed(world);
    let host = Host::parse("go.example").unwrap();
    assert!(!here.load().unwrap().is_app_host(&host));
    let app = world.apps().insert(&app_draft("shop", &[])).unwrap();
    let patch = AppPatch { hosts: Change::Set(vec![host.clone()]), ..AppPatch::default() };
    world.apps().update(app.id, patch, later(0)).unwrap();
    eventually(|| here.load().unwrap().is_app_host(&host));
}

/// Memories that never age by themselves, so that only the feed can make them forget.
fn followed(world: &World) -> (Arc<CachedLinks>, Arc<CachedApps>) {
    let trust = Arc::new(Trust::with_ttl(LONG));
    let sql = Arc::new(SqlLinks::new(world.databases.api.clone()));
    let links = Arc::new(CachedLinks::new(sql.clone(), sql, 100, trust.clone()));
    let apps = Arc::new(CachedApps::new(
        Arc::new(SqlApps::new(world.databases.api.clone())),
        trust.clone(),
    ));
    let db = world.databases.hot.clone();
    follow(db, Arc::new(SystemClock), trust, &links, &apps).unwrap();
    // The first reading forgets everything, which would pass for news.
    std::thread::sleep(Duration::from_millis(600));
    (links, apps)
}

/// Waits for something that happens within a second on a machine at rest.
fn eventually(mut happened: impl FnMut() -> bool) {
    for _ in 0..300 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it did not happen in half a minute");
}
