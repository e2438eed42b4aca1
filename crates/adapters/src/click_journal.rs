//! The click journal: clicks on stable storage before their redirects are sent.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use signpost_domain::click::{NewClick, wire};
use signpost_domain::ports::{ClickJournal, Recorded, Recording};
use signpost_journal::{Journal, Lane, Outcome, Refusal, Ticket, sabotage};

pub use signpost_journal::Durability;

/// Clicks in the segment files of a [`Journal`].
///
/// A click is refused only when the disk is full or fails; then it is lost, counted and logged, and
/// its visitor is sent on all the same.
#[derive(Debug)]
pub struct SegmentJournal {
    journal: Arc<Journal>,
    max_wait: Option<Duration>,
    meters: Arc<Meters>,
}

#[derive(Debug, Default)]
struct Meters {
    recorded: AtomicU64,
    degraded: AtomicU64,
    dropped: AtomicU64,
    is_refusing: AtomicBool,
}

/// What became of all clicks since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalCounts {
    /// In the journal before their redirect was sent.
    pub recorded: u64,
    /// Answered after the longest wait, before the disk had them; a power cut in that moment may
    /// lose them.
    pub degraded: u64,
    /// Lost, because the disk was full or failed.
    pub dropped: u64,
}

thread_local! {
    /// This thread's way into a journal, and what is encoded for it.
    static WAY: RefCell<(Option<Lane>, Vec<u8>)> = const { RefCell::new((None, Vec::new())) };
}

impl SegmentJournal {
    /// Clicks in `journal`; a redirect waits for it at most `max_wait`, or for ever without one.
    pub fn new(journal: Arc<Journal>, max_wait: Option<Duration>) -> Self {
        Self { journal, max_wait, meters: Arc::default() }
    }

    /// Gives the calling thread a way of its own into the journal, on which its tasks are woken
    /// more cheaply. The future is to be spawned on this thread and ends with the way.
    pub fn join_thread(&self) -> impl Future<Output = ()> + use<> {
        let (lane, dispatcher) = self.journal.lane();
        WAY.with_borrow_mut(|(way, _)| *way = Some(lane));
        dispatcher
    }

    /// What became of all clicks since the start.
    pub fn counts(&self) -> JournalCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        JournalCounts {
            recorded: read(&self.meters.recorded),
            degraded: read(&self.meters.degraded),
            dropped: read(&self.meters.dropped),
        }
    }

    /// True while clicks are being lost: the last one was.
    pub fn is_refusing(&self) -> bool {
        self.meters.is_refusing.load(Ordering::Relaxed)
    }

    fn hand_over(&self, click: &NewClick) -> Ticket {
        WAY.with_borrow_mut(|(way, buffer)| {
            buffer.clear();
            wire::encode(click, buffer);
            match way {
                Some(lane) => lane.append(buffer),
                None => self.journal.append(buffer),
            }
        })
    }
}

impl Meters {
    fn settle(&self, outcome: Outcome) -> Recorded {
        match outcome {
            Outcome::Durable(_) | Outcome::Written(_) => {
                self.recorded.fetch_add(1, Ordering::Relaxed);
                if self.is_refusing.load(Ordering::Relaxed) {
                    self.is_refusing.store(false, Ordering::Relaxed);
                    tracing::info!("clicks are recorded again");
                }
                Recorded::Durable
            }
            Outcome::Refused(refusal) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                // Once, and not for each click: a full disk has no room for a flood of lines.
                if !self.is_refusing.swap(true, Ordering::Relaxed) {
                    let why = match refusal {
                        Refusal::Full => "the disk or the journal's budget is full",
                        Refusal::Failed => "the disk takes no writes",
                        Refusal::Busy => "the disk is too slow",
                        Refusal::Size => "a click is too large",
                        Refusal::Closed => "the journal is closed",
                    };
                    tracing::error!(why, "clicks are being lost");
                }
                Recorded::Dropped
            }
        }
    }
}

/// The outcome, or nothing when the disk takes longer than `cap`.
///
/// A record that is not even in the page cache is waited for longer: a crash of the process would
/// lose it, and that is promised to nobody. It stands behind one sync at most.
async fn wait_at_most(cap: Duration, mut ticket: Ticket) -> Option<Outcome> {
    let mut wait = cap;
    loop {
        if let Ok(outcome) = tokio::time::timeout(wait, &mut ticket).await {
            return Some(outcome);
        }
        if ticket.is_written() {
            return None;
        }
        wait = Duration::from_millis(1);
    }
}

impl ClickJournal for SegmentJournal {
    fn append(&self, click: NewClick) -> Recording {
        // Never true but for the suite that must notice.
        if sabotage::is_on("journal_skipped") && self.counts().recorded % 50 == 49 {
            return Box::pin(std::future::ready(self.meters.settle(Outcome::Durable(0))));
        }
        // Handed over here and not in the future, so that a visitor who hangs up still counts.
        let ticket = self.hand_over(&click);
        let (meters, max_wait) = (self.meters.clone(), self.max_wait);
        Box::pin(async move {
            let outcome = match max_wait {
                None => ticket.await,
                Some(cap) => {
                    let Some(outcome) = wait_at_most(cap, ticket).await else {
                        meters.degraded.fetch_add(1, Ordering::Relaxed);
                        return Recorded::Pending;
                    };
                    outcome
                }
            };
            meters.settle(outcome)
        })
    }
}
