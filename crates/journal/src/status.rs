//! What can be measured.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::reader::Damage;

/// A journal's state, for metrics and for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// The bytes of all segment files, the prepared one included.
    pub bytes: u64,
    /// The bytes of the records that wait in memory for the disk.
    pub queued_bytes: u64,
    /// The last sequence in the page cache.
    pub written: u64,
    /// The last sequence on stable storage.
    pub durable: u64,
    /// The last sequence that was released.
    pub released: u64,
    /// How old the oldest record is that was not released, to the second; nothing when all were.
    pub oldest: Option<Duration>,
    /// How many times records were brought to stable storage.
    pub syncs: u64,
    /// How many of these failed.
    pub sync_failures: u64,
    /// How long all of these took together.
    pub sync_time: Duration,
    /// How long the last one took.
    pub last_sync: Duration,
    /// Records refused since the journal was opened.
    pub refused: u64,
    /// Damaged places found since the journal was opened, each counted once.
    pub damaged_places: u64,
    /// Records lost in these.
    pub damaged_records: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Meters {
    pub(crate) syncs: AtomicU64,
    pub(crate) sync_failures: AtomicU64,
    sync_nanos: AtomicU64,
    last_sync_nanos: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) released: AtomicU64,
    /// The lost records by place, since a reader may pass a place more than once.
    damage: Mutex<BTreeMap<(u64, u64), u64>>,
    marks: Marks,
}

impl Meters {
    pub(crate) fn synced(&self, took: Duration, is_ok: bool) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.sync_nanos.fetch_add(nanos, Ordering::Relaxed);
        self.last_sync_nanos.store(nanos, Ordering::Relaxed);
        if !is_ok {
            self.sync_failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn damaged(&self, damage: &Damage) {
        let lost = damage.missing.end - damage.missing.start;
        let place = (damage.missing.start, damage.bytes.start);
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).insert(place, lost);
    }

    /// Notes when a sequence came.
    pub(crate) fn mark(&self, sequence: u64, at: i64) {
        self.marks.add(sequence, at);
    }

    pub(crate) fn fill(&self, status: &mut Status) {
        let nanos = |meter: &AtomicU64| Duration::from_nanos(meter.load(Ordering::Relaxed));
        status.syncs = self.syncs.load(Ordering::Relaxed);
        status.sync_failures = self.sync_failures.load(Ordering::Relaxed);
        status.sync_time = nanos(&self.sync_nanos);
        status.last_sync = nanos(&self.last_sync_nanos);
        status.refused = self.refused.load(Ordering::Relaxed);
        status.released = self.released.load(Ordering::Relaxed);
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        status.damaged_places = damage.len() as u64;
        status.damaged_records = damage.values().sum();
        drop(damage);
        if status.released < status.written {
            let age = now().saturating_sub(self.marks.of(status.released + 1).unwrap_or(now()));
            status.oldest = Some(Duration::from_micros(age.try_into().unwrap_or(0)));
        }
    }
}

/// When sequences came, to the second.
#[derive(Debug, Default)]
struct Marks(Mutex<VecDeque<(u64, i64)>>);

impl Marks {
    /// More than an hour of seconds; beyond, every other mark is dropped.
    const MOST: usize = 4096;

    fn add(&self, sequence: u64, at: i64) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if marks.back().is_some_and(|(_, last)| (0..1_000_000).contains(&(at - last))) {
            return;
        }
        if marks.len() >= Self::MOST {
            let mut n = 0;
            marks.retain(|_| {
                n += 1;
                n % 2 == 1
            });
        }
        marks.push_back((sequence, at));
    }

    fn of(&self, sequence: u64) -> Option<i64> {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while marks.get(1).is_some_and(|(next, _)| *next <= sequence) {
            marks.pop_front();
        }
        marks.front().map(|(_, at)| *at)
    }
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
