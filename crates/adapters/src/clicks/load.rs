//! Storing batches: raw clicks, the statistics of their days and the journal's position in one
//! transaction.
//!
//! Who stores at the same time on Postgres takes its locks in the same order, so that nobody waits
//! in a circle: the position, user agents by hash, salts by day, clicks by key, then the days.

use std::collections::HashSet;

use diesel::prelude::*;
use signpost_domain::click::{Classification, NewClick};
use signpost_domain::ports::{Batch, LoadError, Loaded, StoreError};

use super::agents::{self, AgentRow, AgentStatements, Agents, KnownAgents};
use super::days::{DayStatements, Of, facts, merge};
use super::insert::{InsertStatements, insert_new};
use super::journals::{JournalStatements, advance, position_of};
use super::row::NewClickRow;
use super::salts::{SaltStatements, of_days};
use super::{MAX_BINDS, day_of};
use crate::db::schema::links;
use crate::db::{Backend, Db, DbError, for_both, transaction};

/// Held together by all who store clicks, and alone by who erases those of deleted links.
pub(super) const LOADING_LOCK: i64 = 0x636c_6963_6b73;

type Classified = (NewClick, Classification);

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
    let agents = Agents::of(&batch.clicks);
    let unknown = agents.unknown_to(known);
    let outcome: Result<Result<Loaded, u64>, StoreError> = transaction!(db, |conn| {
        if !advance(conn, batch)? {
            // Nothing was written, so there is nothing to take back.
            return Ok(Err(position_of(conn, batch.journal)?));
        }
        store(conn, &batch.clicks, &agents, &unknown).map(Ok)
    })
    .map_err(StoreError::from);
    let loaded = outcome?.map_err(|position| LoadError::Elsewhere { position })?;
    known.note(&unknown);
    Ok(loaded)
}

pub(super) fn append(
    db: &Db,
    known: &KnownAgents,
    clicks: &[Classified],
) -> Result<usize, StoreError> {
    if clicks.is_empty() {
        return Ok(0);
    }
    let agents = Agents::of(clicks);
    let unknown = agents.unknown_to(known);
    let loaded = transaction!(db, |conn| store(conn, clicks, &agents, &unknown))?;
    known.note(&unknown);
    Ok(loaded.stored)
}

/// Stores clicks inside a transaction.
fn store(
    conn: &mut dyn LoadStatements,
    clicks: &[Classified],
    agents: &Agents<'_>,
    unknown_agents: &[AgentRow<'_>],
) -> Result<Loaded, DbError> {
    let mut loaded = Loaded::default();
    let mut clicks: Vec<&Classified> = clicks.iter().collect();
    clicks.sort_by_key(|(click, _)| (click.link_id.0, click.at, click.id));
    // Waits for nobody but an erasure, which a click that comes behind it would outlive.
    conn.lock_shared(LOADING_LOCK)?;
    let living = living(conn, &clicks)?;
    let before = clicks.len();
    clicks.retain(|(click, _)| living.contains(&click.link_id.0));
    loaded.discarded = before - clicks.len();
    clicks.dedup_by_key(|(click, _)| (click.link_id.0, click.at, click.id));
    if clicks.is_empty() {
        return Ok(loaded);
    }
    agents::store(conn, unknown_agents)?;
    let mut days: Vec<i64> = clicks.iter().map(|(click, _)| day_of(click.at)).collect();
    days.sort_unstable();
    days.dedup();
    let salts = of_days(conn, &days)?;
    let rows: Vec<_> = clicks.iter().map(|click| NewClickRow::new(click, agents)).collect();
    let mut is_new = insert_new(conn, &rows)?.into_iter();
    clicks.retain(|_| is_new.next().unwrap_or(false));
    loaded.stored = clicks.len();
    loaded.known_already = before - loaded.discarded - loaded.stored;
    let hosts = super::days::Hosts::of(&clicks);
    let mut facts = facts(&clicks, &salts, &hosts);
    for of in [Of::Link, Of::App] {
        merge(conn, of, &mut facts)?;
    }
    Ok(loaded)
}

/// The links of some clicks that are not deleted.
fn living(conn: &mut dyn LoadStatements, clicks: &[&Classified]) -> Result<HashSet<i64>, DbError> {
    let mut targets: Vec<i64> = clicks.iter().map(|(click, _)| click.link_id.0).collect();
    targets.dedup();
    let mut living = HashSet::with_capacity(targets.len());
    for chunk in targets.chunks(MAX_BINDS) {
        living.extend(conn.living_links(chunk)?);
    }
    Ok(living)
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
