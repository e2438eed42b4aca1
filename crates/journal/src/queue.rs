//! The records that wait for the writer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::format::{FRAME, MAX_RECORD, push_frame};
use crate::lane::Waiters;
use crate::ticket::{Refusal, Ticket};

/// Records that are written together and share their fate.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Counted from 1; batches are settled in order.
    number: u64,
    /// In the page cache, from where only a power cut can take it.
    is_written: AtomicBool,
    settled: OnceLock<Settled>,
}

/// The fate of a batch, with the sequence of its first record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Settled {
    Durable(u64),
    Written(u64),
    Refused(Refusal),
}

impl Batch {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn settled(&self) -> Option<Settled> {
        self.settled.get().copied()
    }

    pub(crate) fn is_written(&self) -> bool {
        self.is_written.load(Ordering::Acquire)
    }
}

/// A batch and all that the writer needs of it. When it is dropped unsettled, because the writer
/// panicked, its records are refused, so that nobody waits for ever.
#[derive(Debug)]
pub(crate) struct Load {
    batch: Arc<Batch>,
    /// The frames, without their sequences.
    pub(crate) frames: Vec<u8>,
    /// How many records.
    pub(crate) n: u32,
    waiters: Vec<Arc<Waiters>>,
}

impl Load {
    /// Notes that the records are in the page cache, for those who can't wait for the disk.
    pub(crate) fn note_written(&self) {
        self.batch.is_written.store(true, Ordering::Release);
    }

    /// Tells all who wait. Only the first word counts.
    pub(crate) fn settle(&self, settled: Settled) {
        if self.batch.settled.set(settled).is_ok() {
            for waiters in &self.waiters {
                waiters.release(self.batch.number);
            }
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.settle(Settled::Refused(Refusal::Closed));
    }
}

/// What the writer gets when it asks for work.
#[derive(Debug)]
pub(crate) enum Taken {
    Load(Load),
    /// Nothing came in time.
    Idle,
    /// Nothing will come any more.
    Closed,
}

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    pushed: Condvar,
    ended: Condvar,
    batch_bytes: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    loads: VecDeque<Load>,
    bytes: usize,
    /// Batches made so far.
    batches: u64,
    /// The writer sleeps. To wake it is a system call, which most pushes can spare.
    is_awaited: bool,
    /// The writer was called for another reason than a record.
    is_called: bool,
    phase: Phase,
    /// A buffer to use again.
    spare: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Open,
    /// Takes no further records.
    Closed,
    /// The writer has ended.
    Ended,
}

impl Queue {
    pub(crate) fn new(batch_bytes: usize, max_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            pushed: Condvar::new(),
            ended: Condvar::new(),
            batch_bytes,
            max_bytes,
        }
    }

    pub(crate) fn push(&self, record: &[u8], waiters: &Arc<Waiters>) -> Result<Ticket, Refusal> {
        if record.is_empty() || record.len() > MAX_RECORD {
            return Err(Refusal::Size);
        }
        let frame = FRAME + record.len();
        let mut state = self.lock();
        if state.phase != Phase::Open {
            return Err(Refusal::Closed);
        }
        if state.bytes + frame > self.max_bytes {
            return Err(Refusal::Busy);
        }
        state.bytes += frame;
        let has_room =
            state.loads.back().is_some_and(|load| load.frames.len() + frame <= self.batch_bytes);
        if !has_room {
            state.open_batch();
        }
        let Some(load) = state.loads.back_mut() else { return Err(Refusal::Busy) };
        push_frame(&mut load.frames, record);
        let ticket = Ticket::waiting(load.batch.clone(), load.n, waiters.clone());
        load.n += 1;
        if !load.waiters.iter().any(|known| Arc::ptr_eq(known, waiters)) {
            load.waiters.push(waiters.clone());
        }
        let is_awaited = std::mem::take(&mut state.is_awaited);
        drop(state);
        if is_awaited {
            self.pushed.notify_one();
        }
        Ok(ticket)
    }

    /// Waits for records until `deadline` and takes a batch of them.
    pub(crate) fn take(&self, deadline: Option<Instant>) -> Taken {
        let mut state = self.lock();
        loop {
            if let Some(load) = state.loads.pop_front() {
                state.bytes -= load.frames.len();
                return Taken::Load(load);
            }
            if state.phase != Phase::Open {
                return Taken::Closed;
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if std::mem::take(&mut state.is_called) || left.is_some_and(|left| left.is_zero()) {
                return Taken::Idle;
            }
            state.is_awaited = true;
            state = match left {
                None => self.pushed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.pushed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.is_awaited = false;
        }
    }

    /// Gives a buffer back.
    pub(crate) fn recycle(&self, mut frames: Vec<u8>) {
        frames.clear();
        self.lock().spare = frames;
    }

    /// Lets the writer look around.
    pub(crate) fn call(&self) {
        self.lock().is_called = true;
        self.pushed.notify_one();
    }

    /// Takes no further records.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.phase = state.phase.max(Phase::Closed);
        drop(state);
        self.pushed.notify_one();
    }

    /// The writer's last word: what still waits is refused.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.phase = Phase::Ended;
        state.bytes = 0;
        let loads = std::mem::take(&mut state.loads);
        drop(state);
        // Outside of the lock, since it wakes those who wait.
        drop(loads);
        self.ended.notify_all();
    }

    /// Waits for the writer; false when it has not ended by then.
    pub(crate) fn wait_until_ended(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        while state.phase != Phase::Ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.ended.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// How many bytes wait.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// A panic elsewhere leaves a list of records as good as it was.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open_batch(&mut self) {
        self.batches += 1;
        self.loads.push_back(Load {
            batch: Arc::new(Batch {
                number: self.batches,
                is_written: AtomicBool::new(false),
                settled: OnceLock::new(),
            }),
            frames: std::mem::take(&mut self.spare),
            n: 0,
            waiters: Vec::new(),
        });
    }
}
