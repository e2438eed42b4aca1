//! How a journal behaves.

use std::time::Duration;

use crate::format::{FRAME, HEADER};

/// What a record has survived when its ticket is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on stable storage: neither a crash nor a power cut loses it.
    Disk,
    /// It is in the page cache: a crash of the process does not lose it, a power cut within
    /// [`Options::sync_within`] does.
    Process,
}

/// How a [`Journal`](crate::Journal) behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// What a ticket waits for.
    pub durability: Durability,
    /// The size of a segment file in bytes. A record that is larger gets a larger segment.
    pub segment_bytes: u64,
    /// How many bytes all segments together may take; beyond, records are refused. Two segments are
    /// always allowed, or a full one could never be left.
    pub max_bytes: u64,
    /// After how long a segment with records is closed, so that it can be deleted once it is read.
    pub max_segment_age: Duration,
    /// How soon a record is on stable storage with [`Durability::Process`].
    pub sync_within: Duration,
    /// How many bytes may wait in memory for the disk; beyond, records are refused.
    pub max_queued_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Disk,
            segment_bytes: 32 << 20,
            max_bytes: 10 << 30,
            max_segment_age: Duration::from_hours(1),
            sync_within: Duration::from_millis(100),
            max_queued_bytes: 64 << 20,
        }
    }
}

impl Options {
    /// The budget that can be kept.
    pub(crate) fn budget(&self) -> u64 {
        self.max_bytes.max(2 * self.segment_bytes)
    }

    /// The most bytes written at once. A batch always fits into an empty segment, unless it is a
    /// single record that is larger than one.
    pub(crate) fn batch_bytes(&self) -> usize {
        let room = self.segment_bytes.saturating_sub(HEADER as u64);
        usize::try_from(room).unwrap_or(usize::MAX).clamp(FRAME, 1 << 20)
    }
}
