//! Why a journal does not open.

use std::io;
use std::path::{Path, PathBuf};

/// Why a journal does not open. Each message says what to do where there is something to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("the journal in {} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The directory is not the one that the journal was made in.
    #[error(
        "the journal in {} is a copy: its records may have been read elsewhere. If the original is \
         gone for good, adopt the copy and start again",
        .0.display()
    )]
    Copied(PathBuf),
    /// The identity file can't be read.
    #[error(
        "the file {} is damaged; if this directory holds the only copy of the journal, adopt it \
         and start again",
        .0.display()
    )]
    Identity(PathBuf),
    /// There is no journal to adopt.
    #[error("there is no journal in {}", .0.display())]
    NoJournal(PathBuf),
    /// The file system refuses.
    #[error("the journal in {} can't be opened", dir.display())]
    Io {
        /// The journal's directory.
        dir: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(dir: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { dir: dir.to_owned(), source }
    }
}
