//! Who waits, and how they are woken.
//!
//! Waking a task of another thread costs a system call; waking one of the own thread a few
//! nanoseconds. A web server's worker has many requests that wait for the same batch, so each
//! worker takes a [`Lane`]: the writer wakes the lane's dispatcher once, and the dispatcher, on the
//! worker's own thread, wakes the requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::shared::Shared;
use crate::ticket::Ticket;

/// A way into the journal for the tasks of one thread.
#[derive(Debug)]
pub struct Lane {
    shared: Arc<Shared>,
    waiters: Arc<Waiters>,
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>) -> (Self, Dispatcher) {
        let waiters = Arc::new(Waiters::dispatched());
        (Self { shared, waiters: waiters.clone() }, Dispatcher(waiters))
    }

    /// As [`Journal::append`](crate::Journal::append).
    pub fn append(&self, record: &[u8]) -> Ticket {
        self.shared.append(record, &self.waiters)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.waiters.leave();
    }
}

/// Wakes the tasks of a lane; to be spawned on their thread. It ends when its lane has been dropped
/// and nobody waits. When it is dropped before, the writer wakes each task itself.
#[derive(Debug)]
#[must_use = "nobody on the lane is woken before its dispatcher is polled or dropped"]
pub struct Dispatcher(Arc<Waiters>);

impl Future for Dispatcher {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if let Waking::Dispatched(waker) = &mut state.waking {
            match waker {
                Some(waker) => waker.clone_from(context.waker()),
                None => *waker = Some(context.waker().clone()),
            }
        }
        let woken = state.take_released();
        let is_over = state.is_left && state.n == 0;
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waking = Waking::Direct;
        let woken = state.take_released();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// A place on the list of those who wait. The turn tells it from a later use of the same place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    place: usize,
    turn: u64,
}

/// The tasks that wait for some batch.
#[derive(Debug)]
pub(crate) struct Waiters(Mutex<State>);

#[derive(Debug)]
struct State {
    places: Vec<Option<Waiting>>,
    free: Vec<usize>,
    n: usize,
    turns: u64,
    /// The last batch that was settled.
    released: u64,
    waking: Waking,
    is_left: bool,
}

#[derive(Debug)]
struct Waiting {
    turn: u64,
    batch: u64,
    waker: Waker,
}

#[derive(Debug)]
enum Waking {
    /// By the writer, one by one.
    Direct,
    /// By a task of their own thread, which this wakes.
    Dispatched(Option<Waker>),
}

impl Waiters {
    pub(crate) fn direct() -> Self {
        Self::new(Waking::Direct)
    }

    fn dispatched() -> Self {
        Self::new(Waking::Dispatched(None))
    }

    fn new(waking: Waking) -> Self {
        Self(Mutex::new(State {
            places: Vec::new(),
            free: Vec::new(),
            n: 0,
            turns: 0,
            released: 0,
            waking,
            is_left: false,
        }))
    }

    /// Puts a waker on the list, or in the place of the one that this slot has there.
    pub(crate) fn register(&self, slot: &mut Option<Slot>, batch: u64, waker: &Waker) {
        let mut state = self.lock();
        if let Some(slot) = slot
            && let Some(waiting) = &mut state.places[slot.place]
            && waiting.turn == slot.turn
        {
            waiting.waker.clone_from(waker);
            return;
        }
        state.turns += 1;
        let turn = state.turns;
        let waiting = Some(Waiting { turn, batch, waker: waker.clone() });
        let place = if let Some(place) = state.free.pop() {
            state.places[place] = waiting;
            place
        } else {
            state.places.push(waiting);
            state.places.len() - 1
        };
        state.n += 1;
        *slot = Some(Slot { place, turn });
    }

    pub(crate) fn remove(&self, slot: Slot) {
        let mut state = self.lock();
        if state.places[slot.place].as_ref().is_some_and(|waiting| waiting.turn == slot.turn) {
            state.places[slot.place] = None;
            state.free.push(slot.place);
            state.n -= 1;
        }
    }

    /// Wakes those who wait for a batch up to this one. The batches are marked as settled before.
    pub(crate) fn release(&self, batch: u64) {
        let mut state = self.lock();
        state.released = state.released.max(batch);
        if state.n == 0 {
            return;
        }
        match &state.waking {
            Waking::Dispatched(waker) => {
                // Without one the dispatcher has not been polled yet; its first poll looks.
                let waker = waker.clone();
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Waking::Direct => {
                let woken = state.take_released();
                drop(state);
                woken.into_iter().for_each(Waker::wake);
            }
        }
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.is_left = true;
        let waker = match &state.waking {
            Waking::Dispatched(waker) => waker.clone(),
            Waking::Direct => None,
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// A panic elsewhere leaves a list of wakers as good as it was.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_released(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for (place, waiting) in self.places.iter_mut().enumerate() {
            if let Some(waiting) = waiting.take_if(|waiting| waiting.batch <= self.released) {
                wakers.push(waiting.waker);
                self.free.push(place);
                self.n -= 1;
            }
        }
        wakers
    }
}
