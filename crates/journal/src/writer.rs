//! The thread that writes: takes all that wait, writes once, syncs once, lets them go.

mod segment;

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::disk::is_full;
use crate::format::{HEADER, stamp};
use crate::options::Durability;
use crate::queue::{Load, Settled, Taken};
use crate::recovery::Tail;
use crate::sabotage;
use crate::shared::Shared;
use crate::status::now;
use crate::ticket::Refusal;

/// How long a full or broken disk is left alone. Every try makes a file.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// Nothing after a failure, until a new one could be made.
    current: Option<Current>,
    /// A segment that failed, while its records have no other place.
    abandoned: Option<Current>,
    /// The frames beyond `durable`. They can be written again elsewhere when a sync fails.
    unsynced: Vec<u8>,
    unsynced_since: Option<Instant>,
    /// The last sequence given.
    written: u64,
    /// The last sequence on stable storage.
    durable: u64,
    /// The failure that goes on, and when to try again.
    failing: Option<(Refusal, Instant)>,
}

/// The segment that is written.
struct Current {
    file: File,
    first: u64,
    end: u64,
    /// Where the part ends that is on stable storage.
    durable_end: u64,
    /// The bytes it may grow to.
    capacity: u64,
    /// When its first record came.
    since: Option<Instant>,
}

/// Ends the queue however the thread ends, so that nobody waits for a thread that panicked.
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.spares.close();
        self.0.queue.end();
    }
}

impl Writer {
    /// A writer that goes on where `tail` ends, or begins with sequence 1.
    pub(crate) fn new(shared: Arc<Shared>, tail: Option<Tail>, age: Duration) -> Self {
        let written = tail.as_ref().map_or(0, |tail| tail.next - 1);
        let segment_bytes = shared.options.segment_bytes;
        let started = Instant::now();
        let current = tail.map(|tail| Current {
            file: tail.file,
            first: tail.first,
            end: tail.end,
            durable_end: tail.end,
            capacity: tail.bytes.max(segment_bytes),
            // Older than the clock can tell is old enough to be closed, an hour later at most.
            since: tail.has_records.then(|| started.checked_sub(age).unwrap_or(started)),
        });
        shared.written.store(written, Ordering::Release);
        shared.durable.store(written, Ordering::Release);
        Self {
            shared,
            current,
            abandoned: None,
            unsynced: Vec::new(),
            unsynced_since: None,
            written,
            durable: written,
            failing: None,
        }
    }

    pub(crate) fn run(mut self) {
        let _end = EndOnDrop(self.shared.clone());
        loop {
            match self.shared.queue.take(self.deadline()) {
                Taken::Load(load) => self.write(load),
                Taken::Idle => self.failing = self.failing.map(|(why, _)| (why, Instant::now())),
                Taken::Closed => break,
            }
            self.look_around();
        }
        if !self.unsynced.is_empty() && self.sync().is_err() && self.open_segment().is_err() {
            tracing::error!("the journal's last records could not be brought to stable storage");
        }
        if let Some(spare) = self.shared.spares.take() {
            let _ = self.shared.disk.remove(&spare.path);
        }
    }

    fn write(&mut self, mut load: Load) {
        let first = self.written + 1;
        stamp(&mut load.frames, first, self.shared.checksum);
        if sabotage::is_on("release_before_write") {
            load.settle(Settled::Durable(first));
            std::thread::sleep(Duration::from_millis(5));
        }
        match self.store(&load) {
            Ok(()) => {
                self.shared.meters.mark(first, now());
                self.publish();
                load.settle(match self.shared.options.durability {
                    Durability::Disk => Settled::Durable(first),
                    Durability::Process => Settled::Written(first),
                });
            }
            Err(refusal) => {
                self.shared.meters.refused.fetch_add(u64::from(load.n), Ordering::Relaxed);
                load.settle(Settled::Refused(refusal));
            }
        }
        self.shared.queue.recycle(std::mem::take(&mut load.frames));
    }

    /// Puts frames where they are as safe as they have to be, or nowhere.
    fn store(&mut self, load: &Load) -> Result<(), Refusal> {
        let n = load.n;
        if let Some(current) = &self.current
            && current.end > HEADER as u64
            && current.end + load.frames.len() as u64 > current.capacity
        {
            self.close_segment();
        }
        if self.current.is_none()
            && let Some((refusal, until)) = self.failing
            && Instant::now() < until
        {
            return Err(refusal);
        }
        self.written += u64::from(n);
        self.place(load).map_err(|error| {
            self.written -= u64::from(n);
            self.fail(&error)
        })?;
        if self.failing.take().is_some() {
            tracing::info!("the journal takes records again");
        }
        Ok(())
    }

    fn place(&mut self, load: &Load) -> io::Result<()> {
        let shared = self.shared.clone();
        let frames = &load.frames;
        if let Some(current) = &mut self.current {
            match shared.disk.write_at(&current.file, frames, current.end) {
                Ok(()) => {
                    load.note_written();
                    current.end += frames.len() as u64;
                    current.since.get_or_insert_with(Instant::now);
                    if current.end > current.capacity / 2 {
                        shared.spares.want();
                    }
                    self.unsynced.extend_from_slice(frames);
                    self.unsynced_since.get_or_insert_with(Instant::now);
                    if shared.options.durability == Durability::Process || self.sync().is_ok() {
                        return Ok(());
                    }
                }
                Err(error) => {
                    // Whole records among the torn bytes would come back after a crash, although
                    // they were refused or got another place.
                    let is_cut = shared.disk.set_len(&current.file, current.end).is_ok();
                    if !is_cut || !is_full(&error) {
                        self.abandoned = self.current.take();
                    }
                    if is_full(&error) {
                        return Err(error);
                    }
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "a write to the journal failed; another segment is begun"
                    );
                    self.unsynced.extend_from_slice(frames);
                }
            }
        } else {
            self.unsynced.extend_from_slice(frames);
        }
        self.open_segment()
            .or_else(|error| {
                // One bad file may be bad luck.
                if is_full(&error) { Err(error) } else { self.open_segment() }
            })
            .inspect_err(|_| self.forget(frames.len()))
    }

    /// Takes back the frames that were added last.
    fn forget(&mut self, bytes: usize) {
        self.unsynced.truncate(self.unsynced.len() - bytes);
        if self.unsynced.is_empty()
            && let Some(abandoned) = &self.abandoned
        {
            let _ = self.shared.disk.set_len(&abandoned.file, abandoned.durable_end);
        }
    }

    /// What has to be done by the clock.
    fn look_around(&mut self) {
        let is_due =
            |at: Option<Instant>, after: Duration| at.is_some_and(|at| at.elapsed() >= after);
        let (within, age) = (self.shared.options.sync_within, self.shared.options.max_segment_age);
        if self.current.is_some() && is_due(self.unsynced_since, within / 2) {
            // A failure leaves the records in memory and no segment, which is seen to below.
            let _ = self.sync();
        }
        let since = self.current.as_ref().and_then(|current| current.since);
        if is_due(since, age / 2) {
            self.shared.spares.want();
        }
        if is_due(since, age) {
            self.close_segment();
        }
        let may_try = self.failing.is_none_or(|(_, until)| Instant::now() >= until);
        if self.current.is_none() && may_try {
            match self.open_segment() {
                Ok(()) if self.failing.take().is_some() => {
                    tracing::info!("the journal takes records again");
                }
                Ok(()) => {}
                Err(error) => {
                    self.fail(&error);
                }
            }
        }
        self.publish();
    }

    /// When to look around next, if no record comes before.
    fn deadline(&self) -> Option<Instant> {
        let options = &self.shared.options;
        let retry = self.failing.filter(|_| self.current.is_none()).map(|(_, until)| until);
        let sync = self.unsynced_since.map(|at| at + options.sync_within / 2);
        let since = self.current.as_ref().and_then(|current| current.since);
        let close = since.and_then(|at| at.checked_add(options.max_segment_age));
        let sync = sync.filter(|_| self.current.is_some());
        [retry, sync, close].into_iter().flatten().min()
    }

    /// Lets the readers see.
    fn publish(&self) {
        self.shared.written.store(self.written, Ordering::Release);
        self.shared.durable.store(self.durable, Ordering::Release);
    }

    /// Notes a failure; says so once while it lasts.
    fn fail(&mut self, error: &io::Error) -> Refusal {
        let refusal = if is_full(error) { Refusal::Full } else { Refusal::Failed };
        if self.failing.is_none_or(|(before, _)| before != refusal) {
            tracing::error!(
                error = error as &dyn std::error::Error,
                "the journal refuses records until this is over"
            );
        }
        self.failing = Some((refusal, Instant::now() + PAUSE));
        refusal
    }
}
