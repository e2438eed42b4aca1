//! The rules of the memory, over a store that does as it is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use signpost_domain::link::{CodeChoice, LinkContent, Payload, Redirects};
use signpost_domain::ports::MockLinkRepository;

use super::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_hours(1);

type Answer = Box<dyn Fn() -> Result<Option<Route>, StoreError> + Send + Sync>;

/// Answers as it is told and counts the questions.
struct Source {
    asked: AtomicUsize,
    answer: Mutex<Arc<Answer>>,
}

impl Source {
    fn new() -> Arc<Self> {
        let answer = Mutex::new(Arc::new(Box::new(|| Ok(None)) as Answer));
        Arc::new(Self { asked: AtomicUsize::new(0), answer })
    }

    fn will(&self, answer: impl Fn() -> Result<Option<Route>, StoreError> + Send + Sync + 'static) {
        *self.answer.lock().unwrap() = Arc::new(Box::new(answer));
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl RouteSource for Source {
    fn route(&self, _: &ShortCode) -> Result<Option<Route>, StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answer.lock().unwrap().clone();
        answer()
    }
}

fn code() -> ShortCode {
    ShortCode::parse("abc").unwrap()
}

fn route(number: i64) -> Route {
    Route {
        link_id: LinkId(number),
        app_id: AppId(1),
        code: code(),
        redirects: Redirects::default(),
        expires_at: None,
        og_title: None,
        og_description: None,
        og_image_url: None,
        channel: None,
        campaign: None,
    }
}

fn link() -> Link {
    Link {
        id: LinkId(1),
        app_id: AppId(1),
        code: code(),
        content: LinkContent::new(Payload::parse("{}").unwrap()),
        version: LinkVersion(1),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn draft() -> LinkDraft {
    LinkDraft {
        app_id: AppId(1),
        code: CodeChoice::Generated(vec![code()]),
        content: link().content,
        created_at: DateTime::UNIX_EPOCH,
    }
}

/// A store in which every change succeeds.
fn obliging() -> MockLinkRepository {
    let mut store = MockLinkRepository::new();
    store
        .expect_insert()
        .returning(|_, _| Ok(Insertion::Fresh(vec![Outcome::Stored(Box::new(link()))])));
    store.expect_update().returning(|_, _, _, _, _| Ok(Some(link())));
    store.expect_remove().returning(|_, _, _| Ok(true));
    store
}

/// A store that can't be reached, so that nobody knows what became of a change.
fn silent() -> MockLinkRepository {
    let mut store = MockLinkRepository::new();
    store.expect_insert().returning(|_, _| Err(away()));
    store.expect_update().returning(|_, _, _, _, _| Err(away().into()));
    store.expect_remove().returning(|_, _, _| Err(away()));
    store
}

fn away() -> StoreError {
    StoreError::unavailable("away")
}

fn cache(store: MockLinkRepository, source: &Arc<Source>, ttl: Duration) -> CachedLinks {
    let trust = Arc::new(Trust::with_ttl(ttl));
    CachedLinks::new(Arc::new(store), source.clone(), 10, trust)
}

/// The three ways to change a link.
fn changes() -> [fn(&CachedLinks); 3] {
    [
        |links| drop(links.insert(&[draft()], None)),
        |links| {
            let edit = LinkEdit::default();
            drop(links.update(AppId(1), &code(), edit, None, DateTime::UNIX_EPOCH));
        },
        |links| drop(links.remove(AppId(1), &code(), DateTime::UNIX_EPOCH)),
    ]
}

fn loaded(links: &CachedLinks) -> Option<i64> {
    links.load(&code()).unwrap().map(|route| route.link_id.0)
}

fn remembered(links: &CachedLinks) -> Option<i64> {
    match links.in_memory(&code()) {
        Cached::Known(route) => Some(route.link_id.0),
        Cached::Absent => Some(0),
        Cached::Unknown => None,
    }
}

#[test]
fn memory_knows_what_was_loaded_and_asks_once() {
    for (answer, expected) in [(Some(route(7)), 7), (None, 0)] {
        let source = Source::new();
        source.will(move || Ok(answer.clone()));
        let links = cache(MockLinkRepository::new(), &source, LONG);
        assert_eq!(remembered(&links), None);
        for _ in 0..3 {
            assert_eq!(loaded(&links).unwrap_or(0), expected);
            assert_eq!(remembered(&links), Some(expected));
        }
        assert_eq!(source.asked(), 1);
    }
}

#[test]
fn an_old_memory_is_not_trusted() {
    let source = Source::new();
    let links = cache(MockLinkRepository::new(), &source, Duration::ZERO);
    assert_eq!(loaded(&links), None);
    assert_eq!(remembered(&links), None);
    source.will(|| Ok(Some(route(7))));
    assert_eq!(loaded(&links), Some(7));
    assert_eq!(remembered(&links), None);
    source.will(|| Ok(None));
    assert_eq!(loaded(&links), None);
    assert_eq!(source.asked(), 3);
}

#[test]
fn many_callers_at_a_time_cause_one_query() {
    let source = Source::new();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    source.will(move || {
        wait.lock().unwrap().recv().unwrap();
        Ok(Some(route(7)))
    });
    let links = cache(MockLinkRepository::new(), &source, LONG);
    let together = Barrier::new(9);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                together.wait();
                assert_eq!(loaded(&links), Some(7));
            });
        }
        together.wait();
        go.send(()).unwrap();
    });
    assert_eq!(source.asked(), 1);
}

#[test]
fn callers_for_another_code_do_not_wait() {
    let source = Source::new();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let (begun, has_begun) = mpsc::channel::<()>();
    source.will(move || {
        begun.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        Ok(None)
    });
    let links = cache(MockLinkRepository::new(), &source, LONG);
    thread::scope(|scope| {
        scope.spawn(|| loaded(&links));
        has_begun.recv().unwrap();
        source.will(|| Ok(None));
        assert!(links.load(&ShortCode::parse("other").unwrap()).unwrap().is_none());
        assert_eq!(remembered(&links), None);
        go.send(()).unwrap();
    });
}

#[test]
fn a_change_is_seen_by_the_next_visit() {
    for change in changes() {
        let source = Source::new();
        let links = cache(obliging(), &source, LONG);
        assert_eq!(loaded(&links), None);
        source.will(|| Ok(Some(route(8))));
        change(&links);
        assert_eq!(remembered(&links), None);
        assert_eq!(loaded(&links), Some(8));
    }
}

#[test]
fn a_load_begun_before_a_change_is_neither_kept_nor_joined() {
    for change in changes() {
        let source = Source::new();
        let (go, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let (begun, has_begun) = mpsc::channel::<()>();
        source.will(move || {
            begun.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
            Ok(Some(route(7)))
        });
        let links = cache(obliging(), &source, LONG);
        thread::scope(|scope| {
            let early = scope.spawn(|| loaded(&links));
            has_begun.recv().unwrap();
            change(&links);
            source.will(|| Ok(Some(route(8))));
            assert_eq!(loaded(&links), Some(8));
            go.send(()).unwrap();
            assert_eq!(early.join().unwrap(), Some(7));
        });
        assert_eq!(remembered(&links), Some(8));
    }
}

#[test]
fn what_changed_nothing_is_not_forgotten() {
    let source = Source::new();
    source.will(|| Ok(Some(route(7))));
    let mut store = MockLinkRepository::new();
    store.expect_insert().returning(|_, _| Ok(Insertion::Fresh(vec![Outcome::CodeTaken])));
    store.expect_update().returning(|_, _, _, _, _| Err(UpdateError::VersionMismatch));
    store.expect_remove().returning(|_, _, _| Ok(false));
    let links = cache(store, &source, LONG);
    assert_eq!(loaded(&links), Some(7));
    for change in changes() {
        change(&links);
        assert_eq!(remembered(&links), Some(7));
    }
}

#[test]
fn a_known_link_outlives_the_store() {
    let source = Source::new();
    source.will(|| Ok(Some(route(7))));
    let links = cache(MockLinkRepository::new(), &source, Duration::ZERO);
    assert_eq!(loaded(&links), Some(7));
    source.will(|| Err(away()));
    for _ in 0..3 {
        assert_eq!(loaded(&links), Some(7));
    }
    source.will(|| Ok(Some(route(8))));
    assert_eq!(loaded(&links), Some(8));
}

#[test]
fn a_silent_store_is_not_asked_for_every_visit() {
    let source = Source::new();
    source.will(|| Ok(Some(route(7))));
    let links = cache(silent(), &source, LONG);
    assert_eq!(loaded(&links), Some(7));
    source.will(|| Err(away()));
    // Has the link checked again, as its age would.
    changes()[1](&links);
    assert_eq!(remembered(&links), None);
    for _ in 0..3 {
        assert_eq!(loaded(&links), Some(7));
        assert_eq!(remembered(&links), Some(7));
    }
    assert_eq!(source.asked(), 2);
}

#[test]
fn after_a_change_of_unknown_outcome_the_store_is_asked() {
    for change in changes() {
        let source = Source::new();
        source.will(|| Ok(Some(route(7))));
        let links = cache(silent(), &source, LONG);
        assert_eq!(loaded(&links), Some(7));
        source.will(|| Ok(Some(route(8))));
        change(&links);
        assert_eq!(remembered(&links), None);
        assert_eq!(loaded(&links), Some(8));
    }
}

#[test]
fn a_deleted_link_does_not_come_back_with_an_outage() {
    let source = Source::new();
    source.will(|| Ok(Some(route(7))));
    let links = cache(obliging(), &source, LONG);
    assert_eq!(loaded(&links), Some(7));
    assert!(links.remove(AppId(1), &code(), DateTime::UNIX_EPOCH).unwrap());
    source.will(|| Err(away()));
    assert!(matches!(links.load(&code()), Err(StoreError::Unavailable(_))));
}

#[test]
fn only_an_unreachable_store_is_stood_in_for_and_only_for_known_links() {
    let source = Source::new();
    let links = cache(MockLinkRepository::new(), &source, Duration::ZERO);
    assert_eq!(loaded(&links), None);
    source.will(|| Err(away()));
    assert!(matches!(links.load(&code()), Err(StoreError::Unavailable(_))));
    source.will(|| Ok(Some(route(7))));
    assert_eq!(loaded(&links), Some(7));
    source.will(|| Err(StoreError::failed("damage")));
    let error = links.load(&code()).unwrap_err();
    assert!(matches!(error, StoreError::Failed(_)));
    let cause = std::error::Error::source(&error).and_then(std::error::Error::source);
    assert_eq!(cause.map(ToString::to_string), Some("damage".to_owned()));
}

#[test]
fn memory_is_bounded() {
    let source = Source::new();
    source.will(|| Ok(Some(route(7))));
    let links = cache(MockLinkRepository::new(), &source, LONG);
    for n in 0..1000 {
        links.load(&ShortCode::parse(&format!("code{n}")).unwrap()).unwrap();
    }
    assert!(links.entries.len() <= 10);
    assert!(links.flights().is_empty());
}
