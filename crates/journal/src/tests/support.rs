//! A journal in a directory of its own, and the questions that most tests ask.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::*;

pub(super) const LONG: Duration = Duration::from_secs(30);

/// Segments of a few dozen records, so that a test sees many.
pub(super) fn options() -> Options {
    Options { segment_bytes: 2048, ..Options::default() }
}

pub(super) fn open(dir: &Path) -> Journal {
    Journal::open(dir, options()).unwrap()
}

/// What record `n` holds.
pub(super) fn payload(n: u64) -> Vec<u8> {
    format!("record number {n}").into_bytes()
}

/// Appends records `range` and waits for each.
pub(super) fn append(journal: &Journal, range: std::ops::RangeInclusive<u64>) {
    for n in range {
        assert_eq!(journal.append(&payload(n)).wait(), Outcome::Durable(n));
    }
}

pub(super) fn items(reader: &mut Reader) -> Vec<Item> {
    reader.map(Result::unwrap).collect()
}

/// The sequences that can be read, each with the payload that belongs to it, and all damage.
pub(super) fn sequences(items: &[Item]) -> (Vec<u64>, Vec<Damage>) {
    let (mut sequences, mut damage) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Record(record) => {
                assert_eq!(record.payload, payload(record.sequence));
                sequences.push(record.sequence);
            }
            Item::Damage(found) => damage.push(found.clone()),
        }
    }
    (sequences, damage)
}

/// As [`sequences`], of all that a journal holds.
pub(super) fn read(journal: &Journal) -> (Vec<u64>, Vec<Damage>) {
    sequences(&items(&mut journal.reader(0)))
}

/// Every sequence is either read or reported as missing, once and in order.
pub(super) fn assert_complete(items: &[Item], last: u64) {
    let mut next = 1;
    for item in items {
        match item {
            Item::Record(record) => {
                assert_eq!(record.sequence, next);
                assert_eq!(record.payload, payload(next));
                next += 1;
            }
            Item::Damage(damage) => {
                assert_eq!(damage.missing.start, next);
                next = damage.missing.end;
            }
        }
    }
    assert_eq!(next, last + 1);
}

/// The segment files, oldest first.
pub(super) fn segments(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "seg")).collect();
    files.sort();
    files
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

pub(super) fn wait_until(mut is_true: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + LONG;
    while !is_true() {
        assert!(std::time::Instant::now() < end, "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}
