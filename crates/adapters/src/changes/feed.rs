//! Following the feed.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use signpost_domain::link::ShortCode;
use signpost_domain::ports::{Clock, StoreError};

use super::Trust;
use super::statements::{ChangeRow, ChangeStatements};
use crate::app_directory::CachedApps;
use crate::db::{Db, DbError, on};
use crate::link_cache::CachedLinks;

/// How often the feed is read; a change is seen by all processes within a second.
const EVERY: Duration = Duration::from_millis(250);
/// How long one reading is good for: three more may fail before memory is doubted.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// The longest a transaction lasts between taking its number and committing: lines up to this age
/// are read again, because a line may appear behind one with a higher number.
const LATE: Duration = Duration::from_secs(10);
/// How long lines are kept.
const KEPT: TimeDelta = TimeDelta::hours(1);
/// After a longer silence lines may be missing, and everything is forgotten.
const LONGEST_SILENCE: Duration = Duration::from_mins(50);
/// How often old lines are removed.
const SWEPT_EVERY: Duration = Duration::from_mins(10);

/// Reads the feed in a thread of its own until the memories are gone.
pub fn follow(
    db: Db,
    clock: Arc<dyn Clock>,
    trust: Arc<Trust>,
    links: &Arc<CachedLinks>,
    apps: &Arc<CachedApps>,
) -> std::io::Result<JoinHandle<()>> {
    let (links, apps) = (Arc::downgrade(links), Arc::downgrade(apps));
    let mut reader = Reader::new(db);
    std::thread::Builder::new().name("changes".to_owned()).spawn(move || {
        let mut swept = Instant::now();
        loop {
            std::thread::sleep(EVERY);
            let (Some(links), Some(apps)) = (Weak::upgrade(&links), Weak::upgrade(&apps)) else {
                return;
            };
            trust.asking();
            match reader.read() {
                Ok(News::Lines(lines)) => {
                    for line in &lines {
                        apply(line, &links, &apps);
                    }
                    trust.followed(GOOD_FOR);
                }
                Ok(News::TooMuch) => {
                    links.forget_all();
                    apps.doubt();
                    trust.followed(GOOD_FOR);
                }
                Err(StoreError::Unavailable(_)) => trust.store_is_away(),
                Err(error) => {
                    trust.failed();
                    tracing::error!(%error, "the feed of changes can't be read");
                }
            }
            if swept.elapsed() >= SWEPT_EVERY {
                swept = Instant::now();
                if let Err(error) = reader.sweep(clock.now() - KEPT) {
                    tracing::warn!(%error, "old changes wait to be removed");
                }
            }
        }
    })
}

fn apply(line: &ChangeRow, links: &CachedLinks, apps: &CachedApps) {
    match line.kind.as_str() {
        "link" => {
            if let Ok(code) = ShortCode::parse(&line.key) {
                links.forget_code(&code);
            }
        }
        _ => apps.doubt(),
    }
}

/// What a reading brings.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// Lines not seen before.
    Lines(Vec<ChangeRow>),
    /// Nobody can tell, the silence was too long.
    TooMuch,
}

struct Reader {
    db: Db,
    /// Lines up to this number are all seen; `None` before the first reading.
    floor: Option<i64>,
    /// Numbers above the floor that were seen.
    seen: HashSet<i64>,
    /// The highest number at moments past, to raise the floor by.
    past: VecDeque<(Instant, i64)>,
    read_at: Instant,
}

impl Reader {
    fn new(db: Db) -> Self {
        Self {
            db,
            floor: None,
            seen: HashSet::new(),
            past: VecDeque::new(),
            read_at: Instant::now(),
        }
    }

    fn read(&mut self) -> Result<News, StoreError> {
        let Some(floor) = self.floor.filter(|_| self.read_at.elapsed() < LONGEST_SILENCE) else {
            let last = on!(self.db.read()?, |conn| conn.last_change()).map_err(DbError::from)?;
            self.floor = Some(last);
            self.seen.clear();
            self.past.clear();
            self.read_at = Instant::now();
            return Ok(News::TooMuch);
        };
        let lines =
            on!(self.db.read()?, |conn| conn.changes_after(floor)).map_err(DbError::from)?;
        self.read_at = Instant::now();
        let highest = lines.last().map_or(floor, |line| line.n);
        let fresh = lines.into_iter().filter(|line| self.seen.insert(line.n)).collect();
        self.past.push_back((self.read_at, highest));
        while let Some((at, past)) = self.past.front().copied()
            && at.elapsed() > LATE
        {
            self.past.pop_front();
            self.floor = Some(past);
            self.seen.retain(|n| *n > past);
        }
        Ok(News::Lines(fresh))
    }

    fn sweep(&self, before: DateTime<Utc>) -> Result<(), StoreError> {
        on!(self.db.write()?, |conn| conn.drop_changes_before(before)).map_err(DbError::from)?;
        Ok(())
    }
}
