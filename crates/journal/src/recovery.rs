//! What is found in the directory when a journal opens, and how it is put in order.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::format::{
    Checksum, HEADER, Header, JournalId, Parsed, find, parse, without_trailing_zeros,
};
use crate::segments::{self, Segment};

/// Where damaged bytes and files that don't belong here are kept.
pub(crate) const QUARANTINE: &str = "quarantine";
/// The name of a segment that is on its way to its own name.
const MOVING: &str = "seg.moving";

/// A file that claims to be a segment.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    bytes: u64,
    /// What its name says.
    named: Option<u64>,
    header: Option<Header>,
}

impl Found {
    /// Its first sequence: the header knows better than the name, which anyone can change. Nothing
    /// when the file belongs to another journal or can't be made out.
    fn first(&self, id: JournalId) -> Option<u64> {
        match self.header {
            Some(header) => (header.id == id).then_some(header.first),
            None => self.named,
        }
        .filter(|first| *first > 0)
    }
}

fn look(dir: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((stem, "seg" | MOVING)) = name.split_once('.') else { continue };
        let named = stem.parse().ok();
        let file = File::open(&path)?;
        let mut header = [0; HEADER];
        let header = file.read_exact_at(&mut header, 0).ok().and_then(|()| Header::decode(&header));
        found.push(Found { named, header, bytes: file.metadata()?.len(), path });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The id that most recent segments bear.
pub(crate) fn id_of_segments(dir: &Path) -> io::Result<Option<JournalId>> {
    let headers = look(dir)?.into_iter().filter_map(|found| found.header);
    Ok(headers.max_by_key(|header| (header.created_at, header.first)).map(|header| header.id))
}

/// When a segment was made, in microseconds since 1970; 0 when it does not say.
pub(crate) fn created_at(path: &Path) -> i64 {
    let mut header = [0; HEADER];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut header))
        .ok()
        .and_then(|()| Header::decode(&header))
        .map_or(0, |header| header.created_at)
}

/// The segments of a journal in order, and the files that are none of its.
pub(crate) fn list(dir: &Path, id: JournalId) -> io::Result<(Vec<Segment>, Vec<PathBuf>)> {
    let mut segments: Vec<(bool, Segment)> = Vec::new();
    let mut strange = Vec::new();
    for found in look(dir)? {
        match found.first(id) {
            Some(first) => {
                let is_misnamed = found.path != segments::path(dir, first);
                segments
                    .push((is_misnamed, Segment { first, path: found.path, bytes: found.bytes }));
            }
            None => strange.push(found.path),
        }
    }
    // Of two that claim the same place the one with the right name has it.
    segments.sort_by_key(|(is_misnamed, segment)| (segment.first, *is_misnamed));
    let mut ordered: Vec<Segment> = Vec::with_capacity(segments.len());
    for (_, segment) in segments {
        if ordered.last().is_some_and(|last| last.first == segment.first) {
            strange.push(segment.path);
        } else {
            ordered.push(segment);
        }
    }
    Ok((ordered, strange))
}

/// As [`list`], and puts the directory in order: every segment gets its own name, what is none is
/// set aside, what was left half made is deleted.
pub(crate) fn tidy(dir: &Path, id: JournalId, disk: &dyn Disk) -> io::Result<Vec<Segment>> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            disk.remove(&path)?;
        }
    }
    let (mut segments, strange) = list(dir, id)?;
    for path in strange {
        let quarantine = dir.join(QUARANTINE);
        std::fs::create_dir_all(&quarantine)?;
        let to = quarantine.join(path.file_name().unwrap_or_default());
        disk.rename(&path, &to)?;
        tracing::error!(file = %to.display(), "a file that is no segment of this journal was set aside");
    }
    // In two steps, since the names may be one another's.
    let misnamed = segments.iter_mut().filter(|s| s.path != segments::path(dir, s.first));
    let mut moving: Vec<_> = misnamed.collect();
    for segment in &mut moving {
        let to = segments::path(dir, segment.first).with_extension(MOVING);
        disk.rename(&segment.path, &to)?;
        segment.path = to;
    }
    for segment in moving {
        let to = segments::path(dir, segment.first);
        disk.rename(&segment.path, &to)?;
        tracing::warn!(file = %to.display(), "a journal segment had another one's name");
        segment.path = to;
    }
    disk.sync_dir(dir)?;
    Ok(segments)
}

/// The newest segment, ready to be written on.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) file: File,
    pub(crate) first: u64,
    /// Behind its last record.
    pub(crate) end: u64,
    /// The size of the file.
    pub(crate) bytes: u64,
    /// The sequence that the next record gets.
    pub(crate) next: u64,
    pub(crate) has_records: bool,
}

/// Reads the newest segment to its last whole record, cuts what a crash left behind that, and
/// brings all of it to stable storage.
pub(crate) fn open_tail(
    dir: &Path,
    segment: &Segment,
    checksum: Checksum,
    disk: &dyn Disk,
) -> io::Result<Tail> {
    let mut file = OpenOptions::new().read(true).write(true).open(&segment.path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let (next, end) = scan(&bytes, segment.first, checksum);
    let torn = without_trailing_zeros(&bytes).len().saturating_sub(end);
    if torn > 0 {
        tracing::warn!(
            segment = segment.first,
            bytes = torn,
            "the journal's last write was torn and is cut; nobody was told that it was safe"
        );
        disk.write_at(&file, &vec![0; torn], end as u64)?;
    }
    // A crash of the process leaves records that only the page cache holds.
    if let Err(error) = disk.sync(&file) {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "the journal's newest segment can't be synced and is written anew"
        );
        bytes.truncate(end);
        file = rewrite(dir, &segment.path, &bytes, disk)?;
    }
    let bytes = file.metadata()?.len();
    let has_records = next > segment.first;
    Ok(Tail { file, first: segment.first, end: end as u64, bytes, next, has_records })
}

/// A file whose sync failed once is never believed again, whatever it says the next time.
fn rewrite(dir: &Path, path: &Path, bytes: &[u8], disk: &dyn Disk) -> io::Result<File> {
    let new = dir.join("rewritten.tmp");
    let file = disk.create(&new)?;
    disk.write_at(&file, bytes, 0)?;
    disk.sync(&file)?;
    disk.rename(&new, path)?;
    disk.sync_dir(dir)?;
    Ok(file)
}

/// The next sequence and the end of the last record, in the bytes of a segment.
///
/// A place with something valid behind it is damage, which is left as it is for the reader to
/// report; only what has nothing valid behind it is a torn tail.
fn scan(bytes: &[u8], first: u64, checksum: Checksum) -> (u64, usize) {
    let stop = without_trailing_zeros(bytes).len();
    let last = first + bytes.len() as u64;
    let (mut next, mut at) = (first, HEADER.min(bytes.len()));
    let mut end = at.max(HEADER);
    while at < stop {
        match parse(&bytes[at..], checksum) {
            Parsed::Record { sequence, end: length } if (next..=last).contains(&sequence) => {
                next = sequence + 1;
                at += length;
                end = at;
            }
            _ => match find(bytes, at + 1..stop, &(next..=last), checksum) {
                Some((found, _)) => at = found,
                None => break,
            },
        }
    }
    (next, end)
}
