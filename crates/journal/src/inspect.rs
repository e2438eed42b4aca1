//! Looking into a journal that is not open, or is another process's.

use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::format::{Checksum, JournalId};
use crate::identity::Identity;
use crate::reader::{Damage, Item, Reader};
use crate::recovery;

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The journal's id.
    pub id: JournalId,
    /// How many segment files.
    pub segments: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// How many whole records.
    pub records: u64,
    /// The sequences of the first and the last of these.
    pub first_and_last: Option<(u64, u64)>,
    /// Every place that is damaged. One at the very end is what a crash leaves, and is cut when the
    /// journal opens.
    pub damage: Vec<Damage>,
    /// Files that look like segments and are none of this journal's.
    pub strange: Vec<PathBuf>,
}

/// Reads all that is in a journal, and changes nothing.
///
/// # Errors
///
/// [`OpenError::NoJournal`] when there is none, [`OpenError::Io`] when it can't be read.
pub fn verify(dir: &Path) -> Result<Report, OpenError> {
    let io = OpenError::io(dir);
    let id = id(dir)?;
    let (segments, strange) = recovery::list(dir, id).map_err(&io)?;
    let mut report = Report {
        id,
        segments: segments.len() as u64,
        bytes: segments.iter().map(|segment| segment.bytes).sum(),
        records: 0,
        first_and_last: None,
        damage: Vec::new(),
        strange,
    };
    for item in dump(dir, 0)? {
        match item.map_err(&io)? {
            Item::Record(record) => {
                report.records += 1;
                let last = record.sequence;
                report.first_and_last =
                    Some((report.first_and_last.map_or(last, |(first, _)| first), last));
            }
            Item::Damage(damage) => report.damage.push(damage),
        }
    }
    Ok(report)
}

/// Reads the records after a sequence, 0 for all that are there, and changes nothing. That records
/// are missing before the oldest segment is no damage: they were released.
///
/// # Errors
///
/// As [`verify`].
pub fn dump(dir: &Path, after: u64) -> Result<Dump, OpenError> {
    let id = id(dir)?;
    let (segments, _) = recovery::list(dir, id).map_err(OpenError::io(dir))?;
    let oldest = segments.first().map_or(0, |segment| segment.first - 1);
    Ok(Dump(Reader::offline(segments, Checksum::new(id), after.max(oldest))))
}

/// The items of a journal, in order.
#[derive(Debug)]
pub struct Dump(Reader);

impl Iterator for Dump {
    type Item = std::io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

fn id(dir: &Path) -> Result<JournalId, OpenError> {
    if !dir.is_dir() {
        return Err(OpenError::NoJournal(dir.to_owned()));
    }
    if let Ok(Some(identity)) = Identity::read(dir) {
        return Ok(identity.id);
    }
    let id = recovery::id_of_segments(dir).map_err(OpenError::io(dir))?;
    id.ok_or_else(|| OpenError::NoJournal(dir.to_owned()))
}
