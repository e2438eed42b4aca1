//! The rules of the memory, over a store that does as it is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use signpost_domain::app::{AppName, AppSettings};

use super::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_hours(1);

type List = Box<dyn Fn() -> Result<Vec<App>, StoreError> + Send + Sync>;

/// What the store lists, and how often it was asked.
#[derive(Clone)]
struct Script {
    asked: Arc<AtomicUsize>,
    list: Arc<Mutex<Arc<List>>>,
}

impl Script {
    fn new(list: impl Fn() -> Result<Vec<App>, StoreError> + Send + Sync + 'static) -> Self {
        let list: Arc<List> = Arc::new(Box::new(list));
        Self { asked: Arc::default(), list: Arc::new(Mutex::new(list)) }
    }

    fn will(&self, list: impl Fn() -> Result<Vec<App>, StoreError> + Send + Sync + 'static) {
        *self.list.lock().unwrap() = Arc::new(Box::new(list));
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// A store that lists by this script and answers changes with `change`.
    fn store(&self, change: fn() -> Result<App, SaveAppError>) -> Store {
        Store { script: self.clone(), change }
    }
}

/// Not a mock: those let one caller in at a time.
struct Store {
    script: Script,
    change: fn() -> Result<App, SaveAppError>,
}

impl AppRepository for Store {
    fn insert(&self, _: &AppDraft) -> Result<App, SaveAppError> {
        (self.change)()
    }

    fn find(&self, _: AppId) -> Result<Option<App>, StoreError> {
        Ok(None)
    }

    fn find_by_slug(&self, _: &Slug) -> Result<Option<App>, StoreError> {
        Ok(None)
    }

    fn list(&self) -> Result<Vec<App>, StoreError> {
        self.script.asked.fetch_add(1, Ordering::SeqCst);
        let list = self.script.list.lock().unwrap().clone();
        list()
    }

    fn update(&self, _: AppId, _: AppPatch, _: DateTime<Utc>) -> Result<Option<App>, SaveAppError> {
        (self.change)().map(Some)
    }
}

fn app(slug: &str) -> App {
    App {
        id: AppId(1),
        slug: Slug::parse(slug).unwrap(),
        name: AppName::parse("Shop").unwrap(),
        hosts: Vec::new(),
        shares_host: false,
        settings: AppSettings::default(),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn away() -> StoreError {
    StoreError::unavailable("away")
}

fn changes() -> [fn(&CachedApps); 2] {
    [
        |apps| {
            let App { slug, name, hosts, settings, created_at, .. } = app("shop");
            drop(apps.insert(&AppDraft { slug, name, hosts, settings, created_at }));
        },
        |apps| drop(apps.update(AppId(1), AppPatch::default(), DateTime::UNIX_EPOCH)),
    ]
}

fn slug_of(apps: &AppSet) -> String {
    apps.get(AppId(1)).unwrap().slug.as_str().to_owned()
}

fn loaded(apps: &CachedApps) -> String {
    slug_of(&apps.load().unwrap())
}

fn remembered(apps: &CachedApps) -> Option<String> {
    apps.in_memory().map(|apps| slug_of(&apps))
}

#[expect(clippy::unnecessary_wraps, reason = "stands beside changes that fail")]
fn obliging() -> Result<App, SaveAppError> {
    Ok(app("shop"))
}

#[test]
fn memory_knows_what_was_loaded_and_asks_once() {
    let script = Script::new(|| Ok(vec![app("shop")]));
    let apps = CachedApps::new(Arc::new(script.store(obliging)), Arc::new(Trust::with_ttl(LONG)));
    assert_eq!(remembered(&apps), None);
    for _ in 0..3 {
        assert_eq!(loaded(&apps), "shop");
        assert_eq!(remembered(&apps).as_deref(), Some("shop"));
    }
    assert_eq!(script.asked(), 1);
}

#[test]
fn an_old_memory_is_not_trusted() {
    let script = Script::new(|| Ok(vec![app("shop")]));
    let apps = CachedApps::new(
        Arc::new(script.store(obliging)),
        Arc::new(Trust::with_ttl(Duration::ZERO)),
    );
    assert_eq!(loaded(&apps), "shop");
    assert_eq!(remembered(&apps), None);
    script.will(|| Ok(vec![app("store")]));
    assert_eq!(loaded(&apps), "store");
}

#[test]
fn many_callers_at_a_time_cause_one_query() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let script = Script::new(move || {
        wait.lock().unwrap().recv().unwrap();
        Ok(vec![app("shop")])
    });
    let apps = CachedApps::new(Arc::new(script.store(obliging)), Arc::new(Trust::with_ttl(LONG)));
    let together = Barrier::new(5);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                together.wait();
                assert_eq!(loaded(&apps), "shop");
            });
        }
        together.wait();
        go.send(()).unwrap();
    });
    assert_eq!(script.asked(), 1);
}

#[test]
fn a_change_is_seen_at_once_even_one_of_unknown_outcome() {
    let outcomes: [fn() -> Result<App, SaveAppError>; 2] = [obliging, || Err(away().into())];
    for outcome in outcomes {
        for change in changes() {
            let script = Script::new(|| Ok(vec![app("shop")]));
            let apps =
                CachedApps::new(Arc::new(script.store(outcome)), Arc::new(Trust::with_ttl(LONG)));
            assert_eq!(loaded(&apps), "shop");
            script.will(|| Ok(vec![app("store")]));
            change(&apps);
            assert_eq!(remembered(&apps), None);
            assert_eq!(loaded(&apps), "store");
        }
    }
}

#[test]
fn a_refused_change_is_no_reason_to_ask() {
    let script = Script::new(|| Ok(vec![app("shop")]));
    let apps = CachedApps::new(
        Arc::new(script.store(|| Err(SaveAppError::SlugTaken))),
        Arc::new(Trust::with_ttl(LONG)),
    );
    assert_eq!(loaded(&apps), "shop");
    for change in changes() {
        change(&apps);
        assert!(remembered(&apps).is_some());
    }
}

#[test]
fn a_load_begun_before_a_change_is_neither_kept_nor_joined() {
    for change in changes() {
        let (go, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let (begun, has_begun) = mpsc::channel::<()>();
        let script = Script::new(move || {
            begun.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
            Ok(vec![app("shop")])
        });
        let apps =
            CachedApps::new(Arc::new(script.store(obliging)), Arc::new(Trust::with_ttl(LONG)));
        thread::scope(|scope| {
            let early = scope.spawn(|| loaded(&apps));
            has_begun.recv().unwrap();
            change(&apps);
            script.will(|| Ok(vec![app("store")]));
            assert_eq!(loaded(&apps), "store");
            go.send(()).unwrap();
            assert_eq!(early.join().unwrap(), "shop");
        });
        assert_eq!(remembered(&apps).as_deref(), Some("store"));
    }
}

#[test]
fn memory_stands_in_for_an_unreachable_store_and_does_not_ask_for_every_visit() {
    let script = Script::new(|| Ok(vec![app("shop")]));
    let apps = CachedApps::new(Arc::new(script.store(obliging)), Arc::new(Trust::with_ttl(LONG)));
    assert_eq!(loaded(&apps), "shop");
    script.will(|| Err(away()));
    changes()[1](&apps);
    for _ in 0..3 {
        assert_eq!(loaded(&apps), "shop");
        assert!(remembered(&apps).is_some());
    }
    assert_eq!(script.asked(), 2);
}

#[test]
fn without_a_memory_or_with_a_damaged_store_the_error_is_told() {
    let script = Script::new(|| Err(away()));
    let apps = CachedApps::new(
        Arc::new(script.store(obliging)),
        Arc::new(Trust::with_ttl(Duration::ZERO)),
    );
    assert!(matches!(apps.load(), Err(StoreError::Unavailable(_))));
    script.will(|| Ok(vec![app("shop")]));
    assert_eq!(loaded(&apps), "shop");
    script.will(|| Err(StoreError::failed("damage")));
    assert!(matches!(apps.load(), Err(StoreError::Failed(_))));
}
