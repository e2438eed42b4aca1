//! The journal as its users see it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::disk::{Disk, RealDisk};
use crate::error::OpenError;
use crate::format::{Checksum, JournalId};
use crate::identity::{self, Identity};
use crate::lane::{Dispatcher, Lane, Waiters};
use crate::options::Options;
use crate::queue::Queue;
use crate::reader::Reader;
use crate::recovery;
use crate::segments::Segments;
use crate::shared::Shared;
use crate::spare::Spares;
use crate::status::{Meters, Status, now};
use crate::ticket::Ticket;
use crate::writer::Writer;

/// No segment is smaller, whatever the options say.
const MIN_SEGMENT: u64 = 512;

/// An open journal. Dropping it writes what waits and ends its threads.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    waiters: Arc<Waiters>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    _lock: File,
}

impl Journal {
    /// Opens the journal in a directory, or makes a new one there.
    ///
    /// Only the newest segment is read. What a crash tore is cut; what survived it is brought to
    /// stable storage.
    ///
    /// # Errors
    ///
    /// [`OpenError::InUse`] when another process has it, [`OpenError::Copied`] when the directory
    /// is a copy, [`OpenError::Identity`] when that can't be told, and [`OpenError::Io`].
    pub fn open(dir: &Path, options: Options) -> Result<Self, OpenError> {
        Self::open_on(dir, options, Arc::new(RealDisk))
    }

    pub(crate) fn open_on(
        dir: &Path,
        mut options: Options,
        disk: Arc<dyn Disk>,
    ) -> Result<Self, OpenError> {
        let io = OpenError::io(dir);
        options.segment_bytes = options.segment_bytes.max(MIN_SEGMENT);
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(&io)?;
        let lock = identity::lock(dir)?;
        let id = settle_identity(dir, &*disk)?;
        let segments = recovery::tidy(dir, id, &*disk).map_err(&io)?;
        let checksum = Checksum::new(id);
        let tail = segments.last().map(|last| recovery::open_tail(dir, last, checksum, &*disk));
        let tail = tail.transpose().map_err(&io)?;

        let meters = Meters::default();
        for segment in &segments {
            meters.mark(segment.first, recovery::created_at(&segment.path));
        }
        let age = segments.last().map_or(0, |last| now() - recovery::created_at(&last.path));
        let shared = Arc::new(Shared {
            dir: dir.to_owned(),
            id,
            checksum,
            disk,
            segments: Segments::new(segments),
            queue: Queue::new(options.batch_bytes(), options.max_queued_bytes),
            spares: Spares::default(),
            meters,
            written: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            options,
        });
        let is_new = tail.is_none();
        let age = Duration::from_micros(u64::try_from(age).unwrap_or(0));
        let mut writer = Writer::new(shared.clone(), tail, age);
        if is_new {
            let spare = shared.spares.make(&shared, shared.options.segment_bytes).map_err(&io)?;
            shared.spares.put(spare);
            writer.open_segment().map_err(&io)?;
        }
        let spare = shared.clone();
        let threads = vec![
            spawn("journal", move || writer.run()).map_err(&io)?,
            spawn("journal-spare", move || spare.spares.run(&spare)).map_err(&io)?,
        ];
        let waiters = Arc::new(Waiters::direct());
        Ok(Self { shared, waiters, threads: Mutex::new(threads), _lock: lock })
    }

    /// The journal's id. Sequences are unique under it.
    pub fn id(&self) -> JournalId {
        self.shared.id
    }

    /// Hands over a record of 1 to [`MAX_RECORD`](crate::MAX_RECORD) bytes.
    ///
    /// It is on its way when this returns, whether anybody waits for the ticket or not. Never
    /// blocks on the disk.
    pub fn append(&self, record: &[u8]) -> Ticket {
        self.shared.append(record, &self.waiters)
    }

    /// A way into the journal for the tasks of one thread, which wakes them more cheaply; the
    /// dispatcher is to be spawned on that thread.
    pub fn lane(&self) -> (Lane, Dispatcher) {
        Lane::new(self.shared.clone())
    }

    /// Reads the records after a sequence, 0 for all that are there.
    pub fn reader(&self, after: u64) -> Reader {
        Reader::live(self.shared.clone(), after)
    }

    /// Forgets the records up to a sequence: deletes the segments that hold no other.
    ///
    /// # Errors
    ///
    /// When a segment can't be deleted; it is tried again by the next call. That one is gone
    /// already is no error.
    pub fn release(&self, up_to: u64) -> io::Result<()> {
        let durable = self.shared.durable.load(Ordering::Acquire);
        let up_to = up_to.min(durable);
        self.shared.meters.released.fetch_max(up_to, Ordering::Relaxed);
        let released = self.shared.segments.release(up_to, &*self.shared.disk);
        // There may be room again.
        self.shared.queue.call();
        released
    }

    /// The last sequence on stable storage; 0 when there is none.
    pub fn durable(&self) -> u64 {
        self.shared.durable.load(Ordering::Acquire)
    }

    /// What can be measured, now.
    pub fn status(&self) -> Status {
        let shared = &self.shared;
        let mut status = Status {
            bytes: shared.segments.bytes() + shared.spares.bytes(),
            queued_bytes: shared.queue.bytes() as u64,
            // In this order, so that what is durable is never more than what is written.
            durable: shared.durable.load(Ordering::Acquire),
            written: shared.written.load(Ordering::Acquire),
            ..Status::default()
        };
        shared.meters.fill(&mut status);
        status
    }

    /// Takes no further records, brings those that wait to stable storage and ends the threads.
    ///
    /// False when that was not done within `limit`; a thread that hangs in the disk goes on trying.
    pub fn close(&self, limit: Duration) -> bool {
        self.shared.queue.close();
        self.shared.spares.close();
        let has_ended = self.shared.queue.wait_until_ended(Instant::now() + limit);
        if has_ended {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            for thread in threads.drain(..) {
                // A thread that panicked has refused what it had.
                let _ = thread.join();
            }
        }
        has_ended
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close(Duration::from_secs(10));
    }
}

/// The identity of the directory: checked, or a new one where there are no segments. An id that
/// has lost its segments has lost count of its sequences, and must not be used again.
fn settle_identity(dir: &Path, disk: &dyn Disk) -> Result<JournalId, OpenError> {
    let io = OpenError::io(dir);
    if recovery::id_of_segments(dir).map_err(&io)?.is_none() && !has_segments(dir).map_err(&io)? {
        let identity = Identity::new(dir).map_err(&io)?;
        identity.write(dir, disk).map_err(&io)?;
        return Ok(identity.id);
    }
    match Identity::read(dir)? {
        None => Err(OpenError::Identity(dir.join("identity"))),
        Some(identity) if identity.is_at_home(dir).map_err(&io)? => Ok(identity.id),
        Some(_) => Err(OpenError::Copied(dir.to_owned())),
    }
}

fn has_segments(dir: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        if entry?.path().extension().is_some_and(|extension| extension == "seg") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run)
}
