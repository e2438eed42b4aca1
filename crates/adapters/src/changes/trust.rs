//! How far memory is trusted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Judges what memory remembers.
///
/// While somebody follows the feed of changes, everything is trusted until the feed says otherwise.
/// While the store is away or silent it is trusted as well: nobody can tell, and hours of outage
/// must not turn links that are known into errors. Without a feed, memory is trusted for a second,
/// the longest that another process's change may go unseen.
#[derive(Debug)]
pub struct Trust {
    begun: Instant,
    /// Milliseconds since `begun` until which the feed is good.
    followed_until: AtomicU64,
    is_store_away: AtomicBool,
    /// Milliseconds since `begun` at which the feed was asked for; 0 when it has answered.
    asked_at: AtomicU64,
    ttl: Duration,
}

impl Default for Trust {
    fn default() -> Self {
        Self::with_ttl(Self::TTL)
    }
}

impl Trust {
    /// How long memory is trusted without a feed.
    pub const TTL: Duration = Duration::from_secs(1);
    /// A store that owes an answer for so long is silent. Together with the time between two
    /// readings this is less than one reading is good for, so that there is no gap.
    const SILENT: Duration = Duration::from_millis(300);

    /// The same with another time.
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            begun: Instant::now(),
            followed_until: AtomicU64::new(0),
            is_store_away: AtomicBool::new(false),
            asked_at: AtomicU64::new(0),
            ttl,
        }
    }

    /// True when what was read at `checked_at` may be used.
    pub(crate) fn holds(&self, checked_at: Instant) -> bool {
        self.is_store_away.load(Ordering::Relaxed)
            || self.now() < self.followed_until.load(Ordering::Relaxed)
            || self.is_recent(checked_at)
            || self.is_store_silent()
    }

    /// True while the store hangs: it neither answers nor refuses, so that nobody is told that it
    /// is away.
    fn is_store_silent(&self) -> bool {
        let asked_at = self.asked_at.load(Ordering::Relaxed);
        asked_at != 0 && u128::from(self.now().saturating_sub(asked_at)) >= Self::SILENT.as_millis()
    }

    /// True when `checked_at` is so short ago that nobody needs a feed.
    pub(crate) fn is_recent(&self, checked_at: Instant) -> bool {
        checked_at.elapsed() < self.ttl
    }

    /// The feed is being asked for; one of the next three follows.
    pub(super) fn asking(&self) {
        self.asked_at.store(self.now().max(1), Ordering::Relaxed);
    }

    /// The feed was read: everything is known for `good_for`.
    pub(super) fn followed(&self, good_for: Duration) {
        let until = self.now() + u64::try_from(good_for.as_millis()).unwrap_or(0);
        self.followed_until.store(until, Ordering::Relaxed);
        self.is_store_away.store(false, Ordering::Relaxed);
        self.asked_at.store(0, Ordering::Relaxed);
    }

    /// The feed could not be read, because the store is away.
    pub(super) fn store_is_away(&self) {
        self.is_store_away.store(true, Ordering::Relaxed);
        self.asked_at.store(0, Ordering::Relaxed);
    }

    /// The store answers, and the feed can't be read all the same.
    pub(super) fn failed(&self) {
        self.asked_at.store(0, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_feed_memory_ages() {
        let now = Instant::now();
        assert!(Trust::with_ttl(Duration::from_hours(1)).holds(now));
        assert!(!Trust::with_ttl(Duration::ZERO).holds(now));
    }

    #[test]
    fn with_a_feed_and_in_an_outage_memory_does_not_age() {
        let trust = Trust::with_ttl(Duration::ZERO);
        trust.followed(Duration::from_hours(1));
        assert!(trust.holds(Instant::now()));
        trust.followed(Duration::ZERO);
        assert!(!trust.holds(Instant::now()));
        trust.store_is_away();
        assert!(trust.holds(Instant::now()));
        assert!(!trust.is_recent(Instant::now()));
    }

    #[test]
    fn while_the_store_is_silent_memory_does_not_age() {
        let trust = Trust::with_ttl(Duration::ZERO);
        trust.asking();
        std::thread::sleep(Trust::SILENT + Duration::from_millis(20));
        assert!(trust.holds(Instant::now()));
        trust.failed();
        assert!(!trust.holds(Instant::now()), "it has answered");
    }
}
