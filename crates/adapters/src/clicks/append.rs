//! Storing batches.

use std::collections::{BTreeMap, HashSet};

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use signpost_domain::click::{Classification, NewClick};
use signpost_domain::ports::StoreError;
use signpost_domain::time::MICROS_PER_DAY;

use super::row::{AgentHash, AgentRow, NewClickRow, hash_agent};
use crate::db::schema::{clicks, links, user_agents};
use crate::db::{Db, transaction};

/// What `SQLite` binds in one statement at most; Postgres takes twice as many.
const MAX_BINDS: usize = 32_766;

pub(super) fn append(db: &Db, batch: &[(NewClick, Classification)]) -> Result<usize, StoreError> {
    if batch.is_empty() {
        return Ok(0);
    }
    let mut rows: Vec<NewClickRow<'_>> = batch.iter().map(NewClickRow::new).collect();
    // Neighbours in the index go in together, and two nodes meet their locks in the same order.
    rows.sort_unstable_by_key(|row| (row.link_id, row.occurred_at, row.id));
    let mut targets: Vec<i64> = rows.iter().map(|row| row.link_id).collect();
    targets.dedup();
    let agents = agents_of(batch);
    let stored = transaction!(db, |conn| {
        let mut living = HashSet::new();
        for chunk in targets.chunks(MAX_BINDS) {
            living.extend(conn.living_links(chunk)?);
        }
        rows.retain(|row| living.contains(&row.link_id));
        if rows.is_empty() {
            return Ok(0);
        }
        for chunk in agents.chunks(MAX_BINDS / 3) {
            diesel::insert_into(user_agents::table)
                .values(chunk)
                .on_conflict_do_nothing()
                .execute(conn)?;
        }
        // Written once a day and not with every batch, because the day is rarely a later one.
        for (day, hashes) in days_of(&agents) {
            for chunk in hashes.chunks(MAX_BINDS - 2) {
                diesel::update(user_agents::table)
                    .filter(user_agents::hash.eq_any(chunk))
                    .filter(user_agents::last_seen_day.lt(day))
                    .set(user_agents::last_seen_day.eq(day))
                    .execute(conn)?;
            }
        }
        let mut stored = 0;
        for chunk in rows.chunks(MAX_BINDS / NewClickRow::COLUMNS) {
            stored += diesel::insert_into(clicks::table)
                .values(chunk)
                .on_conflict_do_nothing()
                .execute(conn)?;
        }
        Ok(stored)
    })?;
    Ok(stored)
}

/// The user agents of a batch, each once, with the last day it was seen on.
fn agents_of(batch: &[(NewClick, Classification)]) -> Vec<AgentRow> {
    let mut agents: BTreeMap<AgentHash, (&str, i64)> = BTreeMap::new();
    for (click, _) in batch {
        let Some(text) = click.user_agent.as_deref() else { continue };
        let day = click.at.timestamp_micros().div_euclid(MICROS_PER_DAY);
        let (_, last) = agents.entry(hash_agent(text)).or_insert((text, day));
        *last = day.max(*last);
    }
    agents
        .into_iter()
        .map(|(hash, (text, last_seen_day))| AgentRow {
            hash: hash.to_vec(),
            text: text.to_owned(),
            last_seen_day,
        })
        .collect()
}

/// The hashes of user agents by the day they were last seen on.
fn days_of(agents: &[AgentRow]) -> BTreeMap<i64, Vec<&[u8]>> {
    let mut days: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for agent in agents {
        days.entry(agent.last_seen_day).or_default().push(&agent.hash);
    }
    days
}

/// Finding out which links are there, so that no click comes back after its link was erased.
trait LivingLinks {
    /// Those of the links that are not deleted.
    fn living_links(&mut self, ids: &[i64]) -> QueryResult<Vec<i64>>;
}

impl LivingLinks for SqliteConnection {
    fn living_links(&mut self, ids: &[i64]) -> QueryResult<Vec<i64>> {
        living(ids).load(self)
    }
}

impl LivingLinks for PgConnection {
    fn living_links(&mut self, ids: &[i64]) -> QueryResult<Vec<i64>> {
        // Erasing locks a link for itself, so it waits until these clicks can be seen; changes of
        // a link don't wait for this lock, nor does it wait for them.
        living(ids).for_key_share().load(self)
    }
}

#[diesel::dsl::auto_type(no_type_alias)]
fn living<'a>(ids: &'a [i64]) -> _ {
    links::table
        .filter(links::id.eq_any(ids))
        .filter(links::deleted_at.is_null())
        .order(links::id)
        .select(links::id)
}
