//! The list of the segment files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::disk::Disk;

/// A segment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The sequence of its first record. It speaks for all from there up to the next segment's.
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
    /// The size of the file, or what it is about to grow to.
    pub(crate) bytes: u64,
}

/// Where a segment's file is.
pub(crate) fn path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}.seg"))
}

/// All segments, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Segments(Mutex<Vec<Segment>>);

impl Segments {
    pub(crate) fn new(segments: Vec<Segment>) -> Self {
        Self(Mutex::new(segments))
    }

    /// The segment that speaks for a sequence, and where the next one begins.
    pub(crate) fn holding(&self, sequence: u64) -> Option<(Segment, Option<u64>)> {
        let segments = self.lock();
        let after = segments.partition_point(|segment| segment.first <= sequence);
        let segment = segments.get(after.checked_sub(1)?)?;
        Some((segment.clone(), segments.get(after).map(|next| next.first)))
    }

    /// The first sequence that any segment speaks for.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.lock().first().map(|segment| segment.first)
    }

    /// Adds the newest segment, in the place of one that begins where it does.
    pub(crate) fn push(&self, segment: Segment) {
        let mut segments = self.lock();
        segments.retain(|other| other.first < segment.first);
        segments.push(segment);
    }

    /// Notes the size of a segment.
    pub(crate) fn resize(&self, first: u64, bytes: u64) {
        if let Some(segment) = self.lock().iter_mut().find(|segment| segment.first == first) {
            segment.bytes = bytes;
        }
    }

    /// The bytes of all.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().iter().map(|segment| segment.bytes).sum()
    }

    /// Deletes those that hold nothing beyond a sequence. Never the newest: its name is what keeps
    /// the sequences from starting again.
    pub(crate) fn release(&self, up_to: u64, disk: &dyn Disk) -> io::Result<()> {
        loop {
            let mut segments = self.lock();
            if segments.get(1).is_none_or(|next| next.first > up_to.saturating_add(1)) {
                return Ok(());
            }
            let segment = segments.remove(0);
            // A file of this size takes the file system a while; the writer needs the list.
            drop(segments);
            match disk.remove(&segment.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    self.lock().insert(0, segment);
                    return Err(error);
                }
                _ => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Segment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
