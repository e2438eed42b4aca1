//! What the journal asks of a file system, so that a test can refuse any of it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::sabotage;

/// The operations that change something. A batch needs one or two of them, so that a dynamic call
/// costs nothing that could be measured.
pub(crate) trait Disk: Send + Sync {
    /// Makes a new file, or empties one that is there, for reading and writing.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Writes all bytes; after an error any of them may be written.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Brings a file's content to stable storage.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Brings the names in a directory to stable storage.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Gives a file another name, in the place of one that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()>;
}

/// The file system of the machine.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        // Records may be about people: nobody else needs to read them.
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        if sabotage::is_on("no_fdatasync") {
            return Ok(());
        }
        file.sync_data()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }
}

/// Whether an error says that there is no room, which passes by itself, rather than that the disk
/// is broken.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
