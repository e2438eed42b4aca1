//! Clicks and the statistics of their days in the database.

mod agents;
mod days;
mod erase;
mod insert;
mod items;
mod journals;
mod load;
mod page;
mod partitions;
mod retention;
mod row;
mod salts;

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use signpost_domain::app::AppId;
use signpost_domain::click::{Classification, DateRange, DayStats, NewClick};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{
    Batch, ClickPage, ClickQuery, ClickRepository, JournalId, LoadError, Loaded, StoreError,
};
use signpost_domain::time::MICROS_PER_DAY;

use self::agents::KnownAgents;
use self::days::Of;
use crate::db::Db;

/// Clicks in SQL.
#[derive(Clone)]
pub struct SqlClicks {
    write: Db,
    read: Db,
    agents: Arc<KnownAgents>,
}

impl SqlClicks {
    /// The clicks of a database, written through one set of pools and read through another, so
    /// that slow statistics don't hold up what visitors wait for.
    pub fn new(write: Db, read: Db) -> Self {
        Self { write, read, agents: Arc::default() }
    }
}

impl ClickRepository for SqlClicks {
    fn register(
        &self,
        journal: JournalId,
        node: &str,
        now: DateTime<Utc>,
    ) -> Result<u64, StoreError> {
        journals::register(&self.write, journal, node, now)
    }

    fn load(&self, batch: &Batch) -> Result<Loaded, LoadError> {
        load::load(&self.write, &self.agents, batch)
    }

    fn append(&self, clicks: &[(NewClick, Classification)]) -> Result<usize, StoreError> {
        load::append(&self.write, &self.agents, clicks)
    }

    fn page(&self, query: &ClickQuery) -> Result<ClickPage, StoreError> {
        page::page(&self.read, query)
    }

    fn days(
        &self,
        link: LinkId,
        range: DateRange,
    ) -> Result<Vec<(NaiveDate, DayStats)>, StoreError> {
        days::read(&self.read, Of::Link, link.0, range)
    }

    fn app_days(
        &self,
        app: AppId,
        range: DateRange,
    ) -> Result<Vec<(NaiveDate, DayStats)>, StoreError> {
        days::read(&self.read, Of::App, app.0, range)
    }

    fn erase_orphans(&self, limit: u32) -> Result<usize, StoreError> {
        erase::erase_orphans(&self.write, limit)
    }

    fn forget_salts(&self, now: DateTime<Utc>) -> Result<usize, StoreError> {
        salts::forget(&self.write, now)
    }

    fn truncate_addresses(&self, before: DateTime<Utc>, limit: u32) -> Result<usize, StoreError> {
        retention::truncate_addresses(&self.write, before, limit)
    }

    fn erase_clicks_before(&self, before: DateTime<Utc>, limit: u32) -> Result<bool, StoreError> {
        retention::erase_before(&self.write, before, limit)
    }

    fn prepare_partitions(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        partitions::prepare(&self.write, now)
    }
}

/// What `SQLite` binds in one statement at most; Postgres takes twice as many.
const MAX_BINDS: usize = 32_766;

/// A row's number of clicks. The databases count in signed numbers.
fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// A UTC day as its number since 1970, the form in which rows name it.
fn day_of(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros().div_euclid(MICROS_PER_DAY)
}
