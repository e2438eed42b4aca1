//! What the parts of an open journal have in common.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::Disk;
use crate::format::{Checksum, JournalId};
use crate::lane::Waiters;
use crate::options::Options;
use crate::queue::Queue;
use crate::segments::Segments;
use crate::spare::Spares;
use crate::status::Meters;
use crate::ticket::Ticket;

pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) id: JournalId,
    pub(crate) checksum: Checksum,
    pub(crate) options: Options,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) segments: Segments,
    pub(crate) queue: Queue,
    pub(crate) spares: Spares,
    pub(crate) meters: Meters,
    /// The last sequence in the page cache.
    pub(crate) written: AtomicU64,
    /// The last sequence on stable storage.
    pub(crate) durable: AtomicU64,
}

impl Shared {
    pub(crate) fn append(&self, record: &[u8], waiters: &Arc<Waiters>) -> Ticket {
        self.queue.push(record, waiters).unwrap_or_else(|refusal| {
            self.meters.refused.fetch_add(1, Ordering::Relaxed);
            Ticket::refused(refusal)
        })
    }

    /// Whether another segment may be made.
    pub(crate) fn has_budget(&self) -> bool {
        self.segments.bytes() + self.options.segment_bytes <= self.options.budget()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("dir", &self.dir)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
