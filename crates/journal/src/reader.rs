//! Reading the records back, in order, past any damage.

mod quarantine;
mod window;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use self::window::Window;
use crate::format::{Checksum, FRAME, HEADER, Header, Parsed, parse};
use crate::segments::{Segment, Segments};
use crate::shared::Shared;

/// A record as it was appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Counted from 1, without gaps.
    pub sequence: u64,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// A place where something is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, if it is known which one it was.
    pub path: Option<PathBuf>,
    /// The damaged bytes of the file; empty when they are not there any more.
    pub bytes: Range<u64>,
    /// The sequences of the records that are lost; empty when none is.
    pub missing: Range<u64>,
    /// Where the damaged bytes were copied to.
    pub quarantine: Option<PathBuf>,
}

/// What a reader comes upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record.
    Record(Record),
    /// Damage; reading goes on behind it.
    Damage(Damage),
}

/// Reads records in order.
///
/// An iterator that may go on after it has ended: nothing means that all records on stable storage
/// have been read, and more may come. A record that a power cut could still take back is never
/// handed out. An error is the file system's, and the same item is tried again by the next call.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    /// The next sequence to hand out.
    expected: u64,
    open: Option<Open>,
    /// The end of the newest segment was damaged, so that its next record has to be searched.
    is_lost: bool,
    is_over: bool,
}

#[derive(Debug)]
enum Source {
    Live(Arc<Shared>),
    Offline { segments: Segments, checksum: Checksum },
}

#[derive(Debug)]
struct Open {
    segment: Segment,
    file: File,
    window: Window,
    /// Where the next frame should be.
    at: u64,
    /// Which sequence it should have; behind the reader's while that seeks its place.
    cursor: u64,
}

impl Reader {
    pub(crate) fn live(shared: Arc<Shared>, after: u64) -> Self {
        Self::new(Source::Live(shared), after)
    }

    pub(crate) fn offline(segments: Vec<Segment>, checksum: Checksum, after: u64) -> Self {
        Self::new(Source::Offline { segments: Segments::new(segments), checksum }, after)
    }

    fn new(source: Source, after: u64) -> Self {
        let expected = after.saturating_add(1);
        Self { source, expected, open: None, is_lost: false, is_over: false }
    }

    /// The last sequence that was handed out or reported as lost.
    pub fn position(&self) -> u64 {
        self.expected - 1
    }

    fn read(&mut self) -> io::Result<Option<Item>> {
        loop {
            let limit = self.limit();
            if self.is_over || self.expected > limit {
                return Ok(None);
            }
            let Some((segment, next)) = self.segments().holding(self.expected) else {
                // Before the oldest: somebody deleted what was not read.
                let Some(oldest) = self.segments().oldest() else { return Ok(None) };
                return Ok(Some(self.lose(None, 0..0, oldest.min(limit.saturating_add(1)))));
            };
            let upper = next.map_or(limit, |next| limit.min(next - 1));
            if self.open.as_ref().is_none_or(|open| open.segment.first != segment.first)
                && let Some(damage) = self.open(segment, upper)?
            {
                return Ok(Some(damage));
            }
            if let Some(item) = self.step(limit, upper, next.is_none())? {
                return Ok(Some(item));
            }
        }
    }

    /// Opens a segment; answers the damage when it can't be, or has no header.
    fn open(&mut self, segment: Segment, upper: u64) -> io::Result<Option<Item>> {
        let file = match File::open(&segment.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(self.lose(Some(segment.path), 0..0, upper + 1)));
            }
            Err(error) => return Err(error),
        };
        let cursor = segment.first;
        let path = segment.path.clone();
        let mut window = Window::default();
        let has_header = Header::decode(window.at(&file, 0)?).is_some();
        self.open = Some(Open { segment, file, window, at: HEADER as u64, cursor });
        let is_news = !has_header && cursor == self.expected;
        Ok(is_news.then(|| self.lose(Some(path), 0..HEADER as u64, cursor)))
    }

    /// Reads one frame; nothing when it is not to be handed out.
    fn step(&mut self, limit: u64, upper: u64, is_newest: bool) -> io::Result<Option<Item>> {
        let checksum = self.checksum();
        let Some(open) = &mut self.open else { return Ok(None) };
        // What was read ahead may have been written since.
        if self.expected > open.window.limit {
            open.window.refresh(limit);
        }
        let bytes = open.window.at(&open.file, open.at)?;
        if let Parsed::Record { sequence, end } = parse(bytes, checksum)
            && (open.cursor..=upper).contains(&sequence)
        {
            if sequence > open.cursor.max(self.expected) {
                open.cursor = sequence;
                let (path, at) = (open.segment.path.clone(), open.at);
                return Ok(Some(self.lose(Some(path), at..at, sequence)));
            }
            let payload = bytes.get(FRAME..end).unwrap_or_default();
            let is_wanted = sequence == self.expected;
            let record = is_wanted.then(|| Record { sequence, payload: payload.to_vec() });
            open.at += end as u64;
            open.cursor = sequence + 1;
            if is_wanted {
                self.expected += 1;
                self.is_lost = false;
            }
            return Ok(record.map(Item::Record));
        }
        open.window.refresh(limit);
        let wanted = open.cursor..=upper;
        let from = open.at;
        if let Some((at, sequence)) = open.window.find(&open.file, from, &wanted, checksum)? {
            if at == from {
                // The window was older than the record.
                return Ok(None);
            }
            let is_old = open.cursor < self.expected || self.is_lost;
            open.at = at;
            open.cursor = sequence;
            if is_old && sequence <= self.expected {
                return Ok(None);
            }
            let path = open.segment.path.clone();
            return Ok(Some(self.lose(Some(path), from..at, sequence)));
        }
        let end = open.window.end_of_content(&open.file, from)?;
        let path = Some(open.segment.path.clone());
        if is_newest && matches!(self.source, Source::Offline { .. }) {
            self.is_over = true;
            let expected = self.expected;
            return Ok((end > from).then(|| self.lose(path, from..end, expected)));
        }
        open.cursor = upper + 1;
        self.is_lost = is_newest;
        Ok(Some(self.lose(path, from..end, upper + 1)))
    }

    /// Reports damage, and goes on with `next`.
    fn lose(&mut self, path: Option<PathBuf>, bytes: Range<u64>, next: u64) -> Item {
        let next = next.max(self.expected);
        let mut damage = Damage { path, bytes, missing: self.expected..next, quarantine: None };
        self.expected = next;
        if let Source::Live(shared) = &self.source {
            damage.quarantine = quarantine::keep(&shared.dir, &damage);
            shared.meters.damaged(&damage);
            tracing::error!(
                file = ?damage.path,
                bytes = ?damage.bytes,
                missing = ?damage.missing,
                "the journal is damaged; reading goes on behind the damage"
            );
        }
        Item::Damage(damage)
    }

    fn limit(&self) -> u64 {
        match &self.source {
            Source::Live(shared) => shared.durable.load(Ordering::Acquire),
            Source::Offline { .. } => u64::MAX - 1,
        }
    }

    fn segments(&self) -> &Segments {
        match &self.source {
            Source::Live(shared) => &shared.segments,
            Source::Offline { segments, .. } => segments,
        }
    }

    fn checksum(&self) -> Checksum {
        match &self.source {
            Source::Live(shared) => shared.checksum,
            Source::Offline { checksum, .. } => *checksum,
        }
    }
}

impl Iterator for Reader {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
