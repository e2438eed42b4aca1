//! The answer to a record.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::lane::{Slot, Waiters};
use crate::queue::{Batch, Settled};

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is on stable storage under this sequence.
    Durable(u64),
    /// It is in the page cache under this sequence, and on stable storage soon.
    Written(u64),
    /// It is not in the journal.
    Refused(Refusal),
}

/// Why a record is not in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The disk is full, or the journal's budget is spent. It heals by itself when space returns.
    Full,
    /// The disk does not take writes, not even to a new file.
    Failed,
    /// Too many records wait for a disk that is too slow.
    Busy,
    /// It is empty, or larger than [`MAX_RECORD`](crate::MAX_RECORD).
    Size,
    /// The journal is closed.
    Closed,
}

/// A future that is ready when the record is as safe as the journal was told to make it.
///
/// Who drops it gives up the answer, not the record.
#[derive(Debug)]
#[must_use = "the record is not safe before the ticket is ready"]
pub struct Ticket(State);

#[derive(Debug)]
enum State {
    Settled(Outcome),
    Waiting { batch: Arc<Batch>, index: u32, waiters: Arc<Waiters>, slot: Option<Slot> },
}

impl Ticket {
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self(State::Settled(Outcome::Refused(refusal)))
    }

    pub(crate) fn waiting(batch: Arc<Batch>, index: u32, waiters: Arc<Waiters>) -> Self {
        Self(State::Waiting { batch, index, waiters, slot: None })
    }

    /// Blocks the thread until the ticket is ready.
    pub fn wait(mut self) -> Outcome {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(outcome) = Pin::new(&mut self).poll(&mut context) {
                return outcome;
            }
            std::thread::park();
        }
    }

    /// True when the record is in the page cache at least: no crash of the process loses it, and a
    /// power cut only before the ticket is ready.
    ///
    /// Who gives up waiting before that gives up a promise: the record may still be in the memory of
    /// the process, behind a sync that takes long.
    pub fn is_written(&self) -> bool {
        match &self.0 {
            State::Settled(outcome) => !matches!(outcome, Outcome::Refused(_)),
            State::Waiting { batch, .. } => batch.is_written(),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.0 {
            State::Settled(outcome) => Some(*outcome),
            State::Waiting { batch, index, .. } => batch.settled().map(|settled| match settled {
                Settled::Durable(first) => Outcome::Durable(first + u64::from(*index)),
                Settled::Written(first) => Outcome::Written(first + u64::from(*index)),
                Settled::Refused(refusal) => Outcome::Refused(refusal),
            }),
        }
    }
}

impl Future for Ticket {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.outcome() {
            return Poll::Ready(outcome);
        }
        if let State::Waiting { batch, waiters, slot, .. } = &mut self.0 {
            waiters.register(slot, batch.number(), context.waker());
        }
        // Settled while we registered: the writer may have looked before we were on the list.
        self.outcome().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let State::Waiting { waiters, slot: Some(slot), .. } = &self.0 {
            waiters.remove(*slot);
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
