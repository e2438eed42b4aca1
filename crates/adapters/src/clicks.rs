//! Clicks in the database.

mod append;
mod erase;
mod page;
mod row;
mod tally;

use signpost_domain::click::{Classification, DateRange, NewClick, Tally};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{ClickPage, ClickQuery, ClickRepository, StoreError};

use crate::db::Db;

/// Clicks in SQL.
#[derive(Clone)]
pub struct SqlClicks {
    write: Db,
    read: Db,
}

impl SqlClicks {
    /// The clicks of a database, written through one set of pools and read through another, so
    /// that slow statistics don't hold up what visitors wait for.
    pub fn new(write: Db, read: Db) -> Self {
        Self { write, read }
    }
}

impl ClickRepository for SqlClicks {
    fn append(&self, clicks: &[(NewClick, Classification)]) -> Result<usize, StoreError> {
        append::append(&self.write, clicks)
    }

    fn page(&self, query: &ClickQuery) -> Result<ClickPage, StoreError> {
        page::page(&self.read, query)
    }

    fn tally(&self, link: LinkId, range: DateRange) -> Result<Vec<Tally>, StoreError> {
        tally::tally(&self.read, link, range)
    }

    fn visitors(&self, link: LinkId, range: DateRange) -> Result<Option<u64>, StoreError> {
        tally::visitors(&self.read, link, range)
    }

    fn erase_orphans(&self, limit: u32) -> Result<usize, StoreError> {
        erase::erase_orphans(&self.write, limit)
    }
}

/// A row's number of clicks. The databases count in signed numbers.
fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
