use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::support::*;
use crate::*;

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn n(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll<F: Future + Unpin>(future: &mut F, count: &Arc<Count>) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(&Waker::from(count.clone())))
}

#[test]
fn many_threads_get_an_answer_each() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..200 {
                    let Outcome::Durable(sequence) = journal.append(b"record").wait() else {
                        panic!("refused")
                    };
                    assert!(sequence > last);
                    last = sequence;
                }
            });
        }
    });
    assert_eq!(journal.durable(), 1600);
    assert_eq!(items(&mut journal.reader(0)).len(), 1600);
}

#[test]
fn a_lane_wakes_its_dispatcher_and_the_dispatcher_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (lane, mut dispatcher) = journal.lane();
    let (hub, tasks) = (Arc::<Count>::default(), Arc::<Count>::default());
    assert!(poll(&mut dispatcher, &hub).is_pending());
    let mut tickets: Vec<_> = (1..=50).map(|n| lane.append(&payload(n))).collect();
    let waiting = tickets.iter_mut().filter_map(|ticket| match poll(ticket, &tasks) {
        Poll::Pending => Some(ticket),
        Poll::Ready(_) => None,
    });
    let mut waiting: Vec<_> = waiting.collect();
    wait_until(|| journal.durable() == 50);
    wait_until(|| {
        assert!(poll(&mut dispatcher, &hub).is_pending());
        tasks.n() == waiting.len()
    });
    assert!(hub.n() <= waiting.len());
    assert!(waiting.iter_mut().all(|ticket| poll(ticket, &tasks).is_ready()));
    drop(lane);
    assert!(poll(&mut dispatcher, &hub).is_ready());
}

#[test]
fn without_its_dispatcher_a_lane_still_wakes() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (lane, dispatcher) = journal.lane();
    let before = lane.append(b"before");
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(before.wait(), Outcome::Durable(1)));
        wait_until(|| journal.durable() == 1);
        drop(dispatcher);
    });
    assert_eq!(lane.append(b"after").wait(), Outcome::Durable(2));
}

#[test]
fn who_gives_up_is_forgotten_and_the_others_are_woken() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let count = Arc::<Count>::default();
    for _ in 0..200 {
        let mut given_up = journal.append(b"given up");
        let _ = poll(&mut given_up, &count);
        let kept = journal.append(b"kept");
        drop(given_up);
        assert!(matches!(kept.wait(), Outcome::Durable(_)));
    }
    wait_until(|| journal.durable() == 400);
    // A list that grew with those who left would hold the counter many times over.
    drop(journal);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn too_much_at_once_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { max_queued_bytes: 1000, ..options() };
    let journal = Journal::open(dir.path(), options).unwrap();
    let tickets: Vec<_> = (0..100_000).map(|_| journal.append(&[1; 400])).collect();
    let outcomes: Vec<_> = tickets.into_iter().map(Ticket::wait).collect();
    let refused = outcomes.iter().filter(|o| **o == Outcome::Refused(Refusal::Busy)).count() as u64;
    assert!(refused > 0);
    assert_eq!(journal.status().refused, refused);
    assert_eq!(journal.durable() + refused, 100_000);
}
