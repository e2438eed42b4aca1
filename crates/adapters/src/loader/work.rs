//! What the loader's thread does.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use chrono::SecondsFormat;
use sha2::{Digest, Sha256};
use signpost_domain::click::{Classification, NewClick, wire};
use signpost_domain::ports::{
    Batch, ClickRepository, Clock, JournalId, LoadError, Loaded, StoreError,
};
use signpost_journal::{Item, Journal, Reader, Record, sabotage};

use super::dead_letters::hex;
use super::{DeadLetter, DeadLetters, LoaderOptions, Meters, Signal};
use crate::classify::UserAgents;

pub(super) struct Work {
    pub(super) journal: Arc<Journal>,
    pub(super) store: Arc<dyn ClickRepository>,
    pub(super) agents: Arc<UserAgents>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) dead_letters: DeadLetters,
    pub(super) options: LoaderOptions,
    pub(super) meters: Arc<Meters>,
    pub(super) signal: Arc<Signal>,
}

/// Records on their way, with the place after the last of them.
struct Cargo {
    records: Vec<Record>,
    upto: u64,
}

/// Time is up.
struct Stopped;

impl Work {
    pub(super) fn run(self) {
        while let Ok((id, position)) = self.register() {
            if self.load_from(id, position).is_err() {
                return;
            }
        }
    }

    /// The journal's number in the database and the position there.
    fn register(&self) -> Result<(JournalId, u64), Stopped> {
        let own = self.journal.id().0;
        let mut id = JournalId(own);
        loop {
            let node = &self.options.node;
            let position = self.insist(|| self.store.register(id, node, self.clock.now()))?;
            let durable = self.journal.durable();
            if position <= durable {
                self.reached(position);
                return Ok((id, position));
            }
            // An older copy of the directory was put back, or the disk has lost what it had
            // promised. New records would pass for loaded; under another number none does, and
            // those that are known are passed over.
            tracing::error!(
                position,
                durable,
                "the journal has fewer records than were loaded from it; loading it anew"
            );
            let digest = Sha256::new().chain_update(own).chain_update(position.to_le_bytes());
            let mut reborn = [0; 16];
            reborn.copy_from_slice(&digest.finalize()[..16]);
            id = JournalId(reborn);
        }
    }

    /// Loads batch after batch; returns when the position has to be asked for again.
    fn load_from(&self, id: JournalId, mut position: u64) -> Result<(), Stopped> {
        let mut reader = self.journal.reader(position);
        loop {
            let cargo = self.fetch(&mut reader);
            let is_full = cargo.records.len() >= self.options.batch;
            if cargo.upto > position {
                match self.store(id, position, &cargo)? {
                    Some(reached) => position = reached,
                    None => return Ok(()),
                }
                if let Err(error) = self.journal.release(position) {
                    tracing::warn!(%error, "loaded segments wait to be deleted");
                }
            } else if self.signal.stop_by().is_some() {
                return Err(Stopped);
            }
            if self.signal.stop_by().is_some_and(|by| Instant::now() >= by) {
                return Err(Stopped);
            }
            // With a backlog there is always more.
            if !is_full {
                self.signal.sleep(self.options.every);
            }
        }
    }

    fn fetch(&self, reader: &mut Reader) -> Cargo {
        let mut records = Vec::new();
        while records.len() < self.options.batch {
            match reader.next() {
                Some(Ok(Item::Record(record))) => records.push(record),
                Some(Ok(Item::Damage(damage))) => {
                    let missing = damage.missing.end - damage.missing.start;
                    tracing::error!(?damage, missing, "the journal is damaged");
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, "the journal can't be read now");
                    break;
                }
                None => break,
            }
        }
        Cargo { records, upto: Reader::position(reader) }
    }

    /// Stores a batch; `None` when somebody else has moved the position.
    fn store(&self, id: JournalId, after: u64, cargo: &Cargo) -> Result<Option<u64>, Stopped> {
        let mut clicks = Vec::with_capacity(cargo.records.len());
        for record in &cargo.records {
            match wire::decode(&record.payload) {
                Ok(click) => clicks.push((record.sequence, self.classified(click))),
                Err(error) => self.set_aside(record, &format!("unreadable: {error}"))?,
            }
        }
        let batch = Batch {
            journal: id,
            after,
            upto: cargo.upto,
            clicks: clicks.iter().map(|(_, click)| click.clone()).collect(),
        };
        match self.load(&batch)? {
            Ok(()) => Ok(Some(cargo.upto)),
            Err(Trouble::Elsewhere) => Ok(None),
            Err(Trouble::Poison(reason)) => self.bisect(id, after, cargo, &clicks, &reason),
        }
    }

    /// Finds the record that a batch fails for and sets it aside; the rest goes on.
    fn bisect(
        &self,
        id: JournalId,
        after: u64,
        cargo: &Cargo,
        clicks: &[(u64, (NewClick, Classification))],
        reason: &str,
    ) -> Result<Option<u64>, Stopped> {
        let [first, .., last] = clicks else {
            if let [(sequence, _)] = clicks
                && let Some(record) = cargo.records.iter().find(|r| r.sequence == *sequence)
            {
                self.set_aside(record, reason)?;
            }
            let nothing = Batch { journal: id, after, upto: cargo.upto, clicks: Vec::new() };
            return match self.load(&nothing)? {
                Ok(()) => Ok(Some(cargo.upto)),
                Err(Trouble::Elsewhere) => Ok(None),
                Err(Trouble::Poison(reason)) => {
                    // Not the clicks, then: the database refuses even the position.
                    tracing::error!(reason, "the position can't be stored; trying again");
                    self.signal.sleep(self.options.first_pause * 20);
                    Ok(None)
                }
            };
        };
        let middle = u64::midpoint(first.0, last.0);
        let split = clicks.partition_point(|(sequence, _)| *sequence <= middle);
        let mut reached = after;
        for (half, upto) in [(&clicks[..split], middle), (&clicks[split..], cargo.upto)] {
            let records: Vec<Record> = cargo
                .records
                .iter()
                .filter(|r| r.sequence > reached && r.sequence <= upto)
                .cloned()
                .collect();
            let part = Cargo { records, upto };
            let batch = Batch {
                journal: id,
                after: reached,
                upto,
                clicks: half.iter().map(|(_, click)| click.clone()).collect(),
            };
            let stored = match self.load(&batch)? {
                Ok(()) => Some(upto),
                Err(Trouble::Elsewhere) => None,
                Err(Trouble::Poison(reason)) => self.bisect(id, reached, &part, half, &reason)?,
            };
            match stored {
                Some(upto) => reached = upto,
                None => return Ok(None),
            }
        }
        Ok(Some(reached))
    }

    /// Loads one batch, trying again for as long as the database is away.
    fn load(&self, batch: &Batch) -> Result<Result<(), Trouble>, Stopped> {
        let loaded = self.insist(|| match self.hand_over(batch) {
            Ok(loaded) => Ok(Ok(loaded)),
            Err(LoadError::Elsewhere { position }) => Ok(Err(Ok(position))),
            Err(LoadError::Store(error @ StoreError::Failed(_))) => Ok(Err(Err(error))),
            Err(LoadError::Store(error)) => Err(error),
        })?;
        match loaded {
            Ok(loaded) => {
                let add = |meter: &std::sync::atomic::AtomicU64, n: usize| {
                    meter.fetch_add(n as u64, Ordering::Relaxed);
                };
                add(&self.meters.stored, loaded.stored);
                add(&self.meters.known_already, loaded.known_already);
                add(&self.meters.discarded, loaded.discarded);
                self.reached(batch.upto);
                Ok(Ok(()))
            }
            Err(Ok(position)) if position == batch.upto => {
                // Our own commit, whose answer was lost on the way.
                self.reached(position);
                Ok(Ok(()))
            }
            Err(Ok(position)) => {
                tracing::error!(
                    expected = batch.after,
                    position,
                    "another process loads this journal; is its directory a copy?"
                );
                self.signal.sleep(Duration::from_secs(5));
                Ok(Err(Trouble::Elsewhere))
            }
            Err(Err(error)) => Ok(Err(Trouble::Poison(chain(&error)))),
        }
    }

    /// Clicks and position together; apart only for the suite that must notice.
    fn hand_over(&self, batch: &Batch) -> Result<Loaded, LoadError> {
        if !sabotage::is_on("position_early") {
            return self.store.load(batch);
        }
        self.store.load(&Batch { clicks: Vec::new(), ..batch.clone() })?;
        std::thread::sleep(Duration::from_millis(100));
        self.store.load(&Batch { after: batch.upto, ..batch.clone() })
    }

    fn classified(&self, click: NewClick) -> (NewClick, Classification) {
        let read = self.agents.classify(click.user_agent.as_deref());
        (click, read)
    }

    fn set_aside(&self, record: &Record, reason: &str) -> Result<(), Stopped> {
        let letter = DeadLetter {
            journal: hex(&self.journal.id().0),
            sequence: record.sequence,
            at: self.clock.now().to_rfc3339_opts(SecondsFormat::Millis, true),
            reason: reason.to_owned(),
            record: hex(&record.payload),
        };
        tracing::error!(sequence = record.sequence, reason, "a record was set aside");
        self.insist(|| self.dead_letters.add(&letter).map_err(StoreError::unavailable))?;
        self.meters.dead_letters.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Tries again until it works or time is up.
    fn insist<T>(&self, mut act: impl FnMut() -> Result<T, StoreError>) -> Result<T, Stopped> {
        let mut pause = self.options.first_pause;
        let mut is_told = false;
        loop {
            match act() {
                Ok(value) => {
                    if is_told {
                        tracing::info!("clicks are loaded again");
                    }
                    return Ok(value);
                }
                Err(error) => {
                    self.meters.failures.fetch_add(1, Ordering::Relaxed);
                    // At the start, and after a hiccup, the next try works: nobody needs to know.
                    if !is_told && pause > self.options.first_pause * 4 {
                        is_told = true;
                        let why = chain(&error);
                        tracing::warn!(why, "clicks wait in the journal for the database");
                    }
                }
            }
            if self.signal.stop_by().is_some_and(|by| Instant::now() >= by) {
                return Err(Stopped);
            }
            self.signal.sleep(pause);
            pause = (pause * 2).min(self.options.first_pause * 5);
        }
    }

    fn reached(&self, position: u64) {
        self.meters.position.store(position, Ordering::Relaxed);
    }
}

/// Why a batch was not loaded.
enum Trouble {
    /// The position is another one.
    Elsewhere,
    /// The database refuses something in it.
    Poison(String),
}

/// An error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        text = format!("{text}: {next}");
        source = next.source();
    }
    text
}
