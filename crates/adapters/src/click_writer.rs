//! Clicks on their way into the database: one thread stores all that wait in one transaction.

mod queue;
mod storing;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signpost_domain::click::NewClick;
use signpost_domain::ports::{ClickJournal, ClickRepository, Recorded, Recording};

use self::queue::Queue;
use self::storing::Storing;
use crate::classify::UserAgents;

/// How a [`ClickWriter`] behaves when the store is slow or away.
#[derive(Debug, Clone, Copy)]
pub struct ClickWriterOptions {
    /// How long a visitor waits for their click to be stored.
    pub max_wait: Duration,
    /// How many clicks are held in memory. At half a kilobyte each, the default is 50 MB.
    pub capacity: usize,
    /// The pause after the first failure; each further one doubles it, up to twentyfold.
    pub first_pause: Duration,
}

impl Default for ClickWriterOptions {
    fn default() -> Self {
        Self {
            max_wait: Duration::from_secs(1),
            capacity: 100_000,
            first_pause: Duration::from_millis(100),
        }
    }
}

/// What became of all clicks since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClickCounts {
    /// Stored for good.
    pub recorded: u64,
    /// Answered before they were stored. Most of them are stored later and counted again then.
    pub pending: u64,
    /// Lost.
    pub dropped: u64,
}

#[derive(Default)]
struct Counters {
    recorded: AtomicU64,
    pending: AtomicU64,
    dropped: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, n: usize) {
        counter.fetch_add(n as u64, Ordering::Relaxed);
    }
}

/// Records clicks by storing them in groups, each group in one transaction.
///
/// While the store is away the clicks wait in memory, and the visitors don't wait longer than they
/// may.
pub struct ClickWriter {
    queue: Arc<Queue>,
    counters: Arc<Counters>,
    max_wait: Duration,
    is_full: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl ClickWriter {
    /// Starts the thread that stores clicks.
    pub fn start(
        store: Arc<dyn ClickRepository>,
        agents: Arc<UserAgents>,
        options: ClickWriterOptions,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::new(options.capacity));
        let counters = Arc::new(Counters::default());
        let storing = Storing {
            store,
            agents,
            queue: queue.clone(),
            counters: counters.clone(),
            first_pause: options.first_pause,
        };
        let thread =
            std::thread::Builder::new().name("clicks".to_owned()).spawn(move || storing.run())?;
        Ok(Self {
            queue,
            counters,
            max_wait: options.max_wait,
            is_full: AtomicBool::new(false),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// What became of all clicks since the start.
    pub fn counts(&self) -> ClickCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ClickCounts {
            recorded: read(&self.counters.recorded),
            pending: read(&self.counters.pending),
            dropped: read(&self.counters.dropped),
        }
    }

    /// How many clicks are in memory only.
    pub fn backlog(&self) -> usize {
        self.queue.len()
    }

    /// Takes no further clicks, stores those that wait and ends the thread, within `limit`.
    ///
    /// Answers how many clicks could not be stored in time; they are counted as dropped.
    pub fn shutdown(&self, limit: Duration) -> usize {
        self.queue.close(Instant::now() + limit);
        let lost = self.queue.wait_until_ended();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A thread that hangs in the store can't be joined in time.
        if let Some(thread) = thread.filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
        if lost > 0 {
            Counters::add(&self.counters.dropped, lost);
            tracing::error!(clicks = lost, "clicks were lost: the store did not take them in time");
        }
        lost
    }

    fn refuse(&self) -> Recorded {
        Counters::add(&self.counters.dropped, 1);
        // Once per time that the queue fills up: a line for each click would help nobody.
        if !self.is_full.swap(true, Ordering::Relaxed) {
            tracing::error!("clicks are being dropped: too many wait for the store");
        }
        Recorded::Dropped
    }
}

/// Lets the thread end, which would keep the store open for ever. Who wants to be sure that
/// everything is stored calls [`ClickWriter::shutdown`] before.
impl Drop for ClickWriter {
    fn drop(&mut self) {
        self.queue.close(Instant::now() + Duration::from_secs(1));
    }
}

impl std::fmt::Debug for ClickWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClickWriter").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl ClickJournal for ClickWriter {
    fn append(&self, click: NewClick) -> Recording {
        // Queued here and not in the future, so that a visitor who hangs up still counts.
        let Some(answer) = self.queue.push(click) else {
            return Box::pin(std::future::ready(self.refuse()));
        };
        self.is_full.store(false, Ordering::Relaxed);
        let counters = self.counters.clone();
        let max_wait = self.max_wait;
        Box::pin(async move {
            match tokio::time::timeout(max_wait, answer).await {
                Ok(Ok(recorded)) => recorded,
                // The thread gave the click up at shutdown, and it is counted there.
                Ok(Err(_)) => Recorded::Dropped,
                Err(_) => {
                    Counters::add(&counters.pending, 1);
                    Recorded::Pending
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
