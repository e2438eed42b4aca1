use std::collections::VecDeque;
use std::pin::Pin;

use chrono::DateTime;
use signpost_domain::app::AppId;
use signpost_domain::click::{Classification, ClickId, DateRange, Platform, Tally};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{ClickPage, ClickQuery, StoreError};

use super::*;

/// A store that fails as told, refuses link 666 and remembers the rest.
#[derive(Default)]
struct Fake {
    failures: Mutex<VecDeque<StoreError>>,
    is_away: AtomicBool,
    batches: Mutex<Vec<Vec<i64>>>,
    gate: Mutex<()>,
}

impl ClickRepository for Fake {
    fn append(&self, clicks: &[(NewClick, Classification)]) -> Result<usize, StoreError> {
        let _open = self.gate.lock().unwrap();
        if self.is_away.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("away"));
        }
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(error);
        }
        let links: Vec<i64> = clicks.iter().map(|(click, _)| click.link_id.0).collect();
        if links.contains(&666) {
            return Err(StoreError::failed("poison"));
        }
        self.batches.lock().unwrap().push(links);
        Ok(clicks.len())
    }

    fn page(&self, _: &ClickQuery) -> Result<ClickPage, StoreError> {
        unreachable!("a writer reads nothing")
    }

    fn tally(&self, _: LinkId, _: DateRange) -> Result<Vec<Tally>, StoreError> {
        unreachable!("a writer reads nothing")
    }

    fn visitors(&self, _: LinkId, _: DateRange) -> Result<Option<u64>, StoreError> {
        unreachable!("a writer reads nothing")
    }

    fn erase_orphans(&self, _: u32) -> Result<usize, StoreError> {
        unreachable!("a writer erases nothing")
    }
}

impl Fake {
    fn stored(&self) -> Vec<i64> {
        let mut links: Vec<i64> = self.batches.lock().unwrap().concat();
        links.sort_unstable();
        links
    }
}

const LONG: Duration = Duration::from_secs(30);

fn options() -> ClickWriterOptions {
    ClickWriterOptions { max_wait: LONG, capacity: 100, first_pause: Duration::from_millis(1) }
}

fn writer(store: &Arc<Fake>, options: ClickWriterOptions) -> ClickWriter {
    ClickWriter::start(store.clone(), Arc::new(UserAgents::new()), options).unwrap()
}

fn click(link: i64) -> NewClick {
    NewClick {
        id: ClickId(uuid::Uuid::from_u128(1)),
        link_id: LinkId(link),
        app_id: AppId(1),
        at: DateTime::from_timestamp(0, 0).unwrap(),
        address: None,
        user_agent: None,
        referrer: None,
        platform: Platform::Web,
    }
}

fn wait<T>(future: Pin<Box<dyn Future<Output = T> + Send>>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn counts(recorded: u64, pending: u64, dropped: u64) -> ClickCounts {
    ClickCounts { recorded, pending, dropped }
}

#[test]
fn a_click_is_durable_once_it_is_stored() {
    let store = Arc::new(Fake::default());
    let writer = writer(&store, options());
    assert_eq!(wait(writer.append(click(1))), Recorded::Durable);
    assert_eq!(store.stored(), [1]);
    assert_eq!(writer.counts(), counts(1, 0, 0));
    assert_eq!(writer.backlog(), 0);
}

#[test]
fn all_that_wait_are_stored_together() {
    let store = Arc::new(Fake::default());
    let writer = writer(&store, options());
    let closed = store.gate.lock().unwrap();
    let answers: Vec<_> = (1..=20).map(|link| writer.append(click(link))).collect();
    drop(closed);
    for answer in answers {
        assert_eq!(wait(answer), Recorded::Durable);
    }
    assert_eq!(store.stored(), (1..=20).collect::<Vec<_>>());
    // The thread may have taken some of them before the others came.
    assert!(store.batches.lock().unwrap().len() <= 2);
}

#[test]
fn an_outage_is_waited_out() {
    let store = Arc::new(Fake::default());
    store.failures.lock().unwrap().extend((0..5).map(|_| StoreError::unavailable("away")));
    let writer = writer(&store, options());
    assert_eq!(wait(writer.append(click(1))), Recorded::Durable);
    assert_eq!(writer.counts(), counts(1, 0, 0));
}

#[test]
fn who_has_waited_long_enough_is_told_so_and_the_click_is_stored_later() {
    let store = Arc::new(Fake::default());
    store.is_away.store(true, Ordering::Relaxed);
    let writer =
        writer(&store, ClickWriterOptions { max_wait: Duration::from_millis(20), ..options() });
    assert_eq!(wait(writer.append(click(1))), Recorded::Pending);
    assert_eq!(writer.counts(), counts(0, 1, 0));
    assert_eq!(writer.backlog(), 1);
    store.is_away.store(false, Ordering::Relaxed);
    assert_eq!(writer.shutdown(LONG), 0);
    assert_eq!(store.stored(), [1]);
    assert_eq!(writer.counts(), counts(1, 1, 0));
}

#[test]
fn a_full_queue_drops_and_counts() {
    let store = Arc::new(Fake::default());
    store.is_away.store(true, Ordering::Relaxed);
    let writer = writer(&store, ClickWriterOptions { capacity: 2, ..options() });
    let accepted = [writer.append(click(1)), writer.append(click(2))];
    assert_eq!(wait(writer.append(click(3))), Recorded::Dropped);
    store.is_away.store(false, Ordering::Relaxed);
    for answer in accepted {
        assert_eq!(wait(answer), Recorded::Durable);
    }
    assert_eq!(writer.counts(), counts(2, 0, 1));
}

#[test]
fn a_click_that_cant_be_stored_takes_no_other_with_it() {
    let store = Arc::new(Fake::default());
    let writer = writer(&store, options());
    let closed = store.gate.lock().unwrap();
    let links = [1, 2, 666, 3, 4, 666, 5];
    let answers: Vec<_> = links.iter().map(|link| writer.append(click(*link))).collect();
    drop(closed);
    for (link, answer) in links.into_iter().zip(answers) {
        let expected = if link == 666 { Recorded::Dropped } else { Recorded::Durable };
        assert_eq!(wait(answer), expected, "{link}");
    }
    assert_eq!(store.stored(), [1, 2, 3, 4, 5]);
    assert_eq!(writer.counts(), counts(5, 0, 2));
}

#[test]
fn a_shutdown_stores_what_is_left_and_takes_no_more() {
    let store = Arc::new(Fake::default());
    let writer = writer(&store, options());
    let answers: Vec<_> = (1..=50).map(|link| writer.append(click(link))).collect();
    drop(answers);
    assert_eq!(writer.shutdown(LONG), 0);
    assert_eq!(store.stored(), (1..=50).collect::<Vec<_>>());
    assert_eq!(wait(writer.append(click(51))), Recorded::Dropped);
    assert_eq!(writer.shutdown(LONG), 0);
}

#[test]
fn a_shutdown_does_not_wait_for_a_store_that_stays_away() {
    let store = Arc::new(Fake::default());
    store.is_away.store(true, Ordering::Relaxed);
    let writer = writer(&store, options());
    let answer = writer.append(click(1));
    assert_eq!(writer.shutdown(Duration::from_millis(50)), 1);
    assert_eq!(wait(answer), Recorded::Dropped);
    assert_eq!(writer.counts(), counts(0, 0, 1));
}
