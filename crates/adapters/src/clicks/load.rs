//! Storing batches: raw clicks, the statistics of their days and the journal's position in one
//! transaction.
//!
//! Who stores at the same time on Postgres takes its locks in the same order, so that nobody waits
//! in a circle: the position, user agents by hash, salts by day, clicks by key, then the days.

use std::collections::HashSet;

use diesel::prelude::*;
use signpost_domain::click::{Classification, NewClick};
use signpost_domain::ports::{Batch, LoadError, Loaded, StoreError};

use super::MAX_BINDS;
use super::agents::{self, AgentStatements, KnownAgents};
use super::days::{DayStatements, Of, merge};
use super::insert::{InsertStatements, insert_new};
use super::items::Items;
use super::journals::{JournalStatements, advance, position_of};
use super::row::NewClickRow;
use super::salts::{SaltStatements, of_days};
use crate::db::schema::links;
use crate::db::{Backend, Db, DbError, for_both, transaction};

/// Held together by all who store clicks, and alone by who erases those of deleted links.
pub(super) const LOADING_LOCK: i64 = 0x636c_6963_6b73;

/// Everything that storing clicks asks of a connection.
trait LoadStatements:
    Backend
    + JournalStatements
    + AgentStatements
    + SaltStatements
    + InsertStatements
    + DayStatements
    + LivingLinks
{
}

for_both! { impl LoadStatements {} }

pub(super) fn load(db: &Db, known: &KnownAgents, batch: &Batch) -> Result<Loaded, LoadError> {
    let mut items = Items::of(&batch.clicks);
    let outcome: Result<Result<Stored, u64>, StoreError> = transaction!(db, |conn| {
        if !advance(conn, batch)? {
            // Nothing was written, so there is nothing to take back.
            return Ok(Err(position_of(conn, batch.journal)?));
        }
        store(conn, &mut items, known).map(Ok)
    })
    .map_err(StoreError::from);
    let stored = outcome?.map_err(|position| LoadError::Elsewhere { position })?;
    remember(db, known, &items, stored.agents);
    Ok(stored.loaded)
}

pub(super) fn append(
    db: &Db,
    known: &KnownAgents,
    clicks: &[(NewClick, Classification)],
) -> Result<usize, StoreError> {
    if clicks.is_empty() {
        return Ok(0);
    }
    let mut items = Items::of(clicks);
    let stored = transaction!(db, |conn| store(conn, &mut items, known))?;
    remember(db, known, &items, stored.agents);
    Ok(stored.loaded.stored)
}

/// What a transaction has done.
struct Stored {
    loaded: Loaded,
    agents: StoredAgents,
}

/// What became of the user agents of a batch.
#[derive(Debug, Clone, Copy)]
enum StoredAgents {
    /// They were not needed.
    None,
    /// All that this process did not know are new.
    New,
    /// Some were there, perhaps with an earlier day.
    SomeKnown,
}

/// Remembers the user agents of a batch that is stored.
fn remember(db: &Db, known: &KnownAgents, items: &Items<'_>, stored: StoredAgents) {
    let dated = match stored {
        StoredAgents::None => return,
        StoredAgents::New => Ok(()),
        StoredAgents::SomeKnown => agents::date(db, known, &items.agents),
    };
    match dated {
        Ok(()) => known.note(&items.agents),
        Err(error) => tracing::warn!(%error, "the last days of user agents wait to be noted"),
    }
}

/// Stores clicks inside a transaction.
fn store(
    conn: &mut dyn LoadStatements,
    items: &mut Items<'_>,
    known: &KnownAgents,
) -> Result<Stored, DbError> {
    let all = items.list.len();
    // Waits for nobody but an erasure, which a click that comes behind it would outlive.
    conn.lock_shared(LOADING_LOCK)?;
    let mut living = HashSet::new();
    for chunk in items.links().chunks(MAX_BINDS) {
        living.extend(conn.living_links(chunk)?);
    }
    items.list.retain(|item| living.contains(&item.link));
    let mut loaded = Loaded { discarded: all - items.list.len(), ..Loaded::default() };
    items.dedup();
    if items.list.is_empty() {
        return Ok(Stored { loaded, agents: StoredAgents::None });
    }
    let unknown = known.unknown(&items.agents);
    let agents = if conn.insert_agents(&unknown)? == unknown.len() {
        StoredAgents::New
    } else {
        StoredAgents::SomeKnown
    };
    items.tell_visitors(&of_days(conn, &items.days())?);
    let rows: Vec<_> = items.list.iter().map(|item| NewClickRow::new(items, item)).collect();
    let mut is_new = insert_new(conn, &rows)?.into_iter();
    items.list.retain(|_| is_new.next().unwrap_or(false));
    loaded.stored = items.list.len();
    loaded.known_already = all - loaded.discarded - loaded.stored;
    for of in [Of::Link, Of::App] {
        merge(conn, of, items)?;
    }
    Ok(Stored { loaded, agents })
}

/// Finding out which links are there, so that no click comes back after its link was erased.
trait LivingLinks {
    /// Those of the links that are not deleted.
    fn living_links(&mut self, ids: &[i64]) -> QueryResult<Vec<i64>>;
}

for_both! {
impl LivingLinks {
    fn living_links(&mut self, ids: &[i64]) -> QueryResult<Vec<i64>> {
        links::table
            .filter(links::id.eq_any(ids))
            .filter(links::deleted_at.is_null())
            .select(links::id)
            .load(self)
    }
}
}
