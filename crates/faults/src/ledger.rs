//! What the load has sent and what was answered: the truth that the database is held against.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Answered with this status.
    Answered(u16),
    /// Sent, wholly or in part, and never answered. Its click may be stored or not.
    Unanswered,
}

/// A request that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    /// Which of the links.
    pub(crate) link: usize,
    /// When it was sent, since the ledger was opened.
    pub(crate) at: Duration,
    /// From when it was to be sent to the answer: a request that has to wait behind a slow one
    /// counts as slow, too.
    pub(crate) took: Duration,
    pub(crate) fate: Fate,
}

/// All requests of a run, in memory and in a file.
#[derive(Debug)]
pub(crate) struct Ledger {
    run: String,
    begun: Instant,
    next: AtomicU64,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    entries: Vec<Entry>,
    file: BufWriter<File>,
}

impl Ledger {
    /// An empty ledger, written to a file as it grows.
    pub(crate) fn open(run: String, path: &Path) -> std::io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let book = Mutex::new(Book { entries: Vec::new(), file });
        Ok(Self { run, begun: Instant::now(), next: AtomicU64::new(1), book })
    }

    /// Names the run in every request.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// A number that no other request has.
    pub(crate) fn draw(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Since the ledger was opened.
    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn note(&self, entry: Entry) {
        let Entry { seq, link, at, took, fate } = entry;
        let fate = match fate {
            Fate::Answered(status) => status.to_string(),
            Fate::Unanswered => "-".to_owned(),
        };
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.entries.push(entry);
        // A ledger that can't be written would make a clean run of a broken one.
        writeln!(book.file, "{seq} {link} {} {} {fate}", at.as_micros(), took.as_micros())
            .expect("the ledger's file takes its lines");
    }

    /// Brings the file to stable storage.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.file.flush()?;
        book.file.get_ref().sync_all()
    }

    /// Everything that was sent, by number.
    pub(crate) fn entries(&self) -> BTreeMap<u64, Entry> {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.entries.iter().map(|entry| (entry.seq, *entry)).collect()
    }

    /// How many redirects were answered so far.
    pub(crate) fn redirects(&self) -> usize {
        self.statuses(Duration::ZERO, Duration::MAX).get("302").copied().unwrap_or(0)
    }

    /// What was answered to the requests of a span of time: how often which status, `-` for none.
    pub(crate) fn statuses(&self, since: Duration, until: Duration) -> BTreeMap<String, usize> {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statuses = BTreeMap::new();
        for entry in book.entries.iter().filter(|e| (since..until).contains(&e.at)) {
            let status = match entry.fate {
                Fate::Answered(status) => status.to_string(),
                Fate::Unanswered => "-".to_owned(),
            };
            *statuses.entry(status).or_default() += 1;
        }
        statuses
    }
}
