//! The next segment's file, made ahead by a thread of its own.
//!
//! A file that is already as long as it will be, and whose blocks have been written before, makes
//! an `fdatasync` a matter of its data alone: the file system has nothing to note about it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::disk::Disk;
use crate::shared::Shared;

/// Brought to stable storage piece by piece, so that the writer's disk is never far behind.
const PIECE: usize = 1 << 20;
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A file full of zeros, under a temporary name.
#[derive(Debug)]
pub(crate) struct Spare {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// How many zeros.
    pub(crate) bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Spares {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: Option<Spare>,
    is_wanted: bool,
    is_closed: bool,
    /// Files named so far.
    n: u64,
}

impl Spares {
    /// Asks for a file to be made, unless there is one.
    pub(crate) fn want(&self) {
        let mut state = self.lock();
        if state.ready.is_none() && !state.is_wanted {
            state.is_wanted = true;
            self.changed.notify_all();
        }
    }

    /// The file that was made ahead, if there is one.
    pub(crate) fn take(&self) -> Option<Spare> {
        self.lock().ready.take()
    }

    pub(crate) fn put(&self, spare: Spare) {
        self.lock().ready = Some(spare);
    }

    /// The bytes of the file that was made ahead.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().ready.as_ref().map_or(0, |spare| spare.bytes)
    }

    /// Ends the thread.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The thread: makes a file whenever one is wanted and the budget has room for it.
    pub(crate) fn run(&self, shared: &Shared) {
        loop {
            let mut state = self.lock();
            while !state.is_wanted && !state.is_closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.is_closed {
                return;
            }
            drop(state);
            let made = if shared.has_budget() {
                self.make(shared, shared.options.segment_bytes).map(Some)
            } else {
                Ok(None)
            };
            let is_made = matches!(made, Ok(Some(_)));
            let mut state = self.lock();
            match made {
                Ok(Some(spare)) => state.ready = Some(spare),
                Ok(None) => {}
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the next journal segment could not be prepared"
                ),
            }
            if !is_made && !state.is_closed {
                let waited = self.changed.wait_timeout(state, PAUSE_AFTER_FAILURE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            state.is_wanted = false;
        }
    }

    /// Makes a file with so many zeros; with none it is made at once.
    pub(crate) fn make(&self, shared: &Shared, bytes: u64) -> io::Result<Spare> {
        let n = {
            let mut state = self.lock();
            state.n += 1;
            state.n
        };
        let path = shared.dir.join(format!("spare-{n}.tmp"));
        let file = shared.disk.create(&path)?;
        match self.fill(&shared.disk, &file, bytes) {
            Ok(()) => Ok(Spare { file, path, bytes }),
            Err(error) => {
                // What little room there is belongs to the records.
                let _ = shared.disk.remove(&path);
                Err(error)
            }
        }
    }

    fn fill(&self, disk: &Arc<dyn Disk>, file: &File, bytes: u64) -> io::Result<()> {
        let zeros = vec![0; PIECE];
        let mut offset = 0;
        while offset < bytes {
            if self.lock().is_closed {
                return Err(io::Error::other("the journal was closed"));
            }
            let piece = usize::try_from(bytes - offset).unwrap_or(PIECE).min(PIECE);
            disk.write_at(file, &zeros[..piece], offset)?;
            disk.sync(file)?;
            offset += piece as u64;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
