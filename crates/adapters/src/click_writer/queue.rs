//! The clicks that wait, between the visitors and the one thread that stores.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use signpost_domain::click::NewClick;
use signpost_domain::ports::Recorded;
use tokio::sync::oneshot;

/// Most clicks stored in one transaction. It keeps the embedded database's only writer free for
/// others after an outage; without one, a group is a few dozen.
const MAX_GROUP: usize = 5_000;

/// A click and who waits for it.
pub(super) struct Waiting {
    pub(super) click: NewClick,
    pub(super) answer: oneshot::Sender<Recorded>,
}

pub(super) struct Queue {
    state: Mutex<State>,
    /// Something was pushed, or the queue was closed.
    changed: Condvar,
    /// The thread has ended.
    ended: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    /// Taken by the thread, but not yet stored.
    in_hand: usize,
    /// Set when closed: until when the thread may go on.
    deadline: Option<Instant>,
    has_ended: bool,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), ended: Condvar::new(), capacity }
    }

    /// Adds a click; nothing when there is no room or the queue is closed.
    pub(super) fn push(&self, click: NewClick) -> Option<oneshot::Receiver<Recorded>> {
        let mut state = self.lock();
        if state.deadline.is_some() || state.waiting.len() + state.in_hand >= self.capacity {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        state.waiting.push(Waiting { click, answer });
        self.changed.notify_all();
        Some(answered)
    }

    /// Waits for clicks and takes all of them, as many as a group may hold; nothing once the queue
    /// is closed and empty, or its time is over.
    pub(super) fn take(&self) -> Option<Vec<Waiting>> {
        let mut state = self.lock();
        loop {
            if state.deadline.is_some_and(|end| Instant::now() >= end) {
                return None;
            }
            if !state.waiting.is_empty() {
                let n = state.waiting.len().min(MAX_GROUP);
                state.in_hand = n;
                return Some(state.waiting.drain(..n).collect());
            }
            if state.deadline.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that so many of the clicks in hand are settled, one way or the other.
    pub(super) fn settle(&self, n: usize) {
        let mut state = self.lock();
        state.in_hand = state.in_hand.saturating_sub(n);
    }

    /// Waits before another try; false when there is no time left for one.
    pub(super) fn pause(&self, length: Duration) -> bool {
        let over = Instant::now() + length;
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if state.deadline.is_some_and(|end| now >= end) {
                return false;
            }
            let until = state.deadline.map_or(over, |end| end.min(over));
            if now >= until {
                return true;
            }
            let waited = self.changed.wait_timeout(state, until - now);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many clicks are not settled.
    pub(super) fn len(&self) -> usize {
        let state = self.lock();
        state.waiting.len() + state.in_hand
    }

    /// Takes no further clicks; those that wait may be stored until the deadline.
    pub(super) fn close(&self, deadline: Instant) {
        self.lock().deadline = Some(deadline);
        self.changed.notify_all();
    }

    /// The thread's last word.
    pub(super) fn end(&self) {
        self.lock().has_ended = true;
        self.ended.notify_all();
    }

    /// Waits for the thread until the deadline, and answers how many clicks it left behind.
    pub(super) fn wait_until_ended(&self) -> usize {
        let mut state = self.lock();
        while !state.has_ended {
            let left = state.deadline.and_then(|end| end.checked_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero()) else { break };
            let waited = self.ended.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let left = std::mem::take(&mut state.waiting).len() + state.in_hand;
        state.in_hand = 0;
        left
    }

    /// A panic elsewhere leaves a list of clicks as good as it was.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
