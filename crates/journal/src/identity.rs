//! Whose directory this is: the journal's id and the directory it was made in.
//!
//! A copy of a journal has the same id, and its records may have been read from the original
//! already. So the identity names the directory in a way that does not travel with a copy.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::disk::{Disk, RealDisk};
use crate::error::OpenError;
use crate::format::JournalId;
use crate::recovery;

const FILE: &str = "identity";
const LOCK: &str = "lock";
const TITLE: &str = "signpost journal 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: JournalId,
    directory: Directory,
}

/// What tells a directory from its copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Directory {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970; 0 where the file system does not know.
    born: u64,
}

impl Directory {
    fn of(dir: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(dir)?;
        let born = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            born: born.map_or(0, |at| u64::try_from(at.as_nanos()).unwrap_or(0)),
        })
    }

    /// A volume may come back as another device after a restart. Then the moment in which the
    /// directory was made vouches for it; no copy has the same.
    fn is(self, other: Self) -> bool {
        self.inode == other.inode
            && (self.device == other.device || (self.born != 0 && self.born == other.born))
    }
}

impl Identity {
    /// A new id for this directory.
    pub(crate) fn new(dir: &Path) -> io::Result<Self> {
        Self::of(dir, JournalId(rand::random()))
    }

    fn of(dir: &Path, id: JournalId) -> io::Result<Self> {
        Ok(Self { id, directory: Directory::of(dir)? })
    }

    /// Nothing when there is no identity file.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, OpenError> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => match str::from_utf8(&bytes).ok().and_then(Self::parse) {
                Some(identity) => Ok(Some(identity)),
                None => Err(OpenError::Identity(path)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(OpenError::io(dir)(error)),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != TITLE {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let id = u128::from_str_radix(value("id")?, 16).ok()?;
        Some(Self {
            id: JournalId(id.to_be_bytes()),
            directory: Directory {
                device: value("device")?.parse().ok()?,
                inode: value("inode")?.parse().ok()?,
                born: value("born")?.parse().ok()?,
            },
        })
    }

    /// Whether this is the directory that the journal was made in.
    pub(crate) fn is_at_home(&self, dir: &Path) -> io::Result<bool> {
        Ok(self.directory.is(Directory::of(dir)?))
    }

    pub(crate) fn write(&self, dir: &Path, disk: &dyn Disk) -> io::Result<()> {
        let Directory { device, inode, born } = self.directory;
        let id = self.id;
        let text = format!("{TITLE}\nid {id}\ndevice {device}\ninode {inode}\nborn {born}\n");
        let new = dir.join("identity.tmp");
        let mut file = disk.create(&new)?;
        file.write_all(text.as_bytes())?;
        disk.sync(&file)?;
        disk.rename(&new, &dir.join(FILE))?;
        disk.sync_dir(dir)
    }
}

/// Takes the directory for this process; nobody else can until the file is closed.
pub(crate) fn lock(dir: &Path) -> Result<File, OpenError> {
    let file = RealDisk.create(&dir.join(LOCK)).map_err(OpenError::io(dir))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(OpenError::io(dir)(error)),
    }
}

/// Makes a copied or moved directory the journal's own, under the same id, so that reading goes on
/// where it was.
///
/// Only for a directory whose original is gone for good: two journals of one id would give the
/// same sequences to different records.
///
/// # Errors
///
/// [`OpenError::InUse`] when a process has the journal, [`OpenError::NoJournal`] when there is
/// none, [`OpenError::Io`] when the file system refuses.
pub fn adopt(dir: &Path) -> Result<JournalId, OpenError> {
    if !dir.is_dir() {
        return Err(OpenError::NoJournal(dir.to_owned()));
    }
    let _lock = lock(dir)?;
    let id = match Identity::read(dir) {
        Ok(Some(identity)) => Some(identity.id),
        // The segments know it too.
        Ok(None) | Err(OpenError::Identity(_)) => {
            recovery::id_of_segments(dir).map_err(OpenError::io(dir))?
        }
        Err(error) => return Err(error),
    };
    let id = id.ok_or_else(|| OpenError::NoJournal(dir.to_owned()))?;
    Identity::of(dir, id)
        .and_then(|identity| identity.write(dir, &RealDisk))
        .map_err(OpenError::io(dir))?;
    tracing::warn!(dir = %dir.display(), %id, "the journal was adopted");
    Ok(id)
}
