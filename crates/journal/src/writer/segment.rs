//! The life of the segment that is written: begun, synced, ended or abandoned.

use std::io;
use std::time::Instant;

use super::{Current, Writer};
use crate::format::{HEADER, Header};
use crate::sabotage;
use crate::segments::{self, Segment};
use crate::shared::Shared;
use crate::spare::Spare;
use crate::status::now;

impl Writer {
    /// Brings the current segment to stable storage, or abandons it.
    ///
    /// After a failure the kernel forgets which pages it could not write: a second try on the same
    /// file would succeed and mean nothing.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let Some(current) = &mut self.current else {
            return Err(io::Error::other("the segment was abandoned"));
        };
        let started = Instant::now();
        let mut result = self.shared.disk.sync(&current.file);
        if result.is_err() && sabotage::is_on("retry_fdatasync") {
            result = self.shared.disk.sync(&current.file);
        }
        self.shared.meters.synced(started.elapsed(), result.is_ok());
        match result {
            Ok(()) => {
                current.durable_end = current.end;
                self.all_is_durable();
                Ok(())
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a sync of the journal failed; its records are written to another segment"
                );
                self.abandoned = self.current.take();
                Err(error)
            }
        }
    }

    /// Begins a segment with the records that are not on stable storage yet, if there are any.
    ///
    /// It gets its name when it is complete, so that a crash never leaves half a segment. One that
    /// was abandoned with nothing durable in it has the same name and is replaced.
    pub(crate) fn open_segment(&mut self) -> io::Result<()> {
        let shared = self.shared.clone();
        let spare = match shared.spares.take() {
            Some(spare) => spare,
            None if shared.has_budget() => shared.spares.make(&shared, 0)?,
            None => {
                let why = "the journal's budget is spent";
                return Err(io::Error::new(io::ErrorKind::StorageFull, why));
            }
        };
        let first = self.durable + 1;
        let path = segments::path(&shared.dir, first);
        if let Err(error) = self.begin(&spare, first) {
            let _ = shared.disk.remove(&spare.path);
            return Err(error);
        }
        let end = (HEADER + self.unsynced.len()) as u64;
        let capacity = shared.options.segment_bytes.max(spare.bytes);
        shared.segments.push(Segment { first, path, bytes: capacity.max(end) });
        self.current = Some(Current {
            file: spare.file,
            first,
            end,
            durable_end: end,
            capacity,
            since: (!self.unsynced.is_empty()).then(Instant::now),
        });
        self.abandoned = None;
        self.all_is_durable();
        Ok(())
    }

    fn begin(&self, spare: &Spare, first: u64) -> io::Result<()> {
        let Shared { disk, dir, id, .. } = &*self.shared;
        let header = Header { id: *id, first, created_at: now() };
        disk.write_at(&spare.file, &header.encode(), 0)?;
        disk.write_at(&spare.file, &self.unsynced, HEADER as u64)?;
        disk.sync(&spare.file)?;
        let path = segments::path(dir, first);
        disk.rename(&spare.path, &path)?;
        disk.sync_dir(dir).inspect_err(|_| {
            // Its records are about to be refused or written elsewhere.
            let _ = disk.remove(&path);
        })
    }

    /// Ends the current segment. It may fail to, and then is abandoned.
    pub(super) fn close_segment(&mut self) {
        if !self.unsynced.is_empty() && self.sync().is_err() {
            return;
        }
        if let Some(current) = self.current.take()
            && self.shared.disk.set_len(&current.file, current.end).is_ok()
        {
            self.shared.segments.resize(current.first, current.end);
        }
    }

    fn all_is_durable(&mut self) {
        self.unsynced.clear();
        self.unsynced_since = None;
        self.durable = self.written;
    }
}
