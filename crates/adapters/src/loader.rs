//! The loader: clicks from the journal into the database, each exactly once.

mod dead_letters;
mod work;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signpost_domain::ports::{ClickRepository, Clock};
use signpost_journal::Journal;

use self::work::Work;
use crate::classify::UserAgents;

pub use self::dead_letters::{DeadLetter, DeadLetters};

/// How the loader works.
#[derive(Debug, Clone)]
pub struct LoaderOptions {
    /// The most clicks stored in one transaction. Larger ones are cheaper by the click and keep
    /// other writers of the embedded database waiting for longer.
    pub batch: usize,
    /// How often new clicks are looked for; statistics are behind by that at most.
    pub every: Duration,
    /// The pause after a failure; each further one doubles it, up to fivefold.
    pub first_pause: Duration,
    /// The name of this node, for people who look into the database.
    pub node: String,
}

impl LoaderOptions {
    /// The usual way to work, for a node of this name.
    pub fn of(node: String) -> Self {
        Self {
            batch: 10_000,
            every: Duration::from_millis(100),
            first_pause: Duration::from_millis(100),
            node,
        }
    }
}

/// Where the loader stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoaderStatus {
    /// The last record that is in the database, or was set aside.
    pub position: u64,
    /// Clicks stored since the start.
    pub stored: u64,
    /// Clicks that were stored already, as happens after a crash between two steps.
    pub known_already: u64,
    /// Clicks of links that were deleted meanwhile.
    pub discarded: u64,
    /// Records set aside, because they can't be read or stored.
    pub dead_letters: u64,
    /// Tries that failed.
    pub failures: u64,
}

#[derive(Debug, Default)]
struct Meters {
    position: AtomicU64,
    stored: AtomicU64,
    known_already: AtomicU64,
    discarded: AtomicU64,
    dead_letters: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct Signal {
    stop_by: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Signal {
    fn stop_by(&self) -> Option<Instant> {
        *self.stop_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps, but no longer than until somebody asks to stop.
    fn sleep(&self, how_long: Duration) {
        let stop_by = self.stop_by.lock().unwrap_or_else(PoisonError::into_inner);
        if stop_by.is_none() {
            let waited = self.changed.wait_timeout_while(stop_by, how_long, |by| by.is_none());
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        } else {
            drop(stop_by);
            std::thread::sleep(how_long.min(Duration::from_millis(50)));
        }
    }
}

/// A thread that loads the journal.
#[derive(Debug)]
pub struct Loader {
    meters: Arc<Meters>,
    signal: Arc<Signal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Loader {
    /// Starts loading `journal` into `store`.
    pub fn start(
        journal: Arc<Journal>,
        store: Arc<dyn ClickRepository>,
        agents: Arc<UserAgents>,
        clock: Arc<dyn Clock>,
        dead_letters: DeadLetters,
        options: LoaderOptions,
    ) -> std::io::Result<Self> {
        let (meters, signal) = (Arc::<Meters>::default(), Arc::<Signal>::default());
        let work = Work {
            journal,
            store,
            agents,
            clock,
            dead_letters,
            options,
            meters: meters.clone(),
            signal: signal.clone(),
        };
        let thread =
            std::thread::Builder::new().name("loader".to_owned()).spawn(move || work.run())?;
        Ok(Self { meters, signal, thread: Mutex::new(Some(thread)) })
    }

    /// Where the loader stands.
    pub fn status(&self) -> LoaderStatus {
        let read = |meter: &AtomicU64| meter.load(Ordering::Relaxed);
        LoaderStatus {
            position: read(&self.meters.position),
            stored: read(&self.meters.stored),
            known_already: read(&self.meters.known_already),
            discarded: read(&self.meters.discarded),
            dead_letters: read(&self.meters.dead_letters),
            failures: read(&self.meters.failures),
        }
    }

    /// Loads what is left and ends the thread, within `limit`; what is not loaded stays in the
    /// journal for the next start. False when time was up.
    pub fn stop(&self, limit: Duration) -> bool {
        let by = Instant::now() + limit;
        *self.signal.stop_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(by);
        self.signal.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return true };
        // A database that hangs can hold the thread for longer than anybody wants to wait.
        while !thread.is_finished() && Instant::now() < by + Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        thread.is_finished() && thread.join().is_ok()
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        let now = Instant::now();
        *self.signal.stop_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.signal.changed.notify_all();
    }
}
