//! The dictionary of user agents: each text once, clicks hold its hash.

use std::collections::{BTreeMap, HashMap};

use diesel::prelude::*;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use signpost_domain::click::{Classification, NewClick};

use super::{MAX_BINDS, day_of};
use crate::db::schema::user_agents;
use crate::db::{Backend, for_both};

/// Lets one batch at a time bring the days of user agents up to date.
const DAYS_LOCK: i64 = 0x6167_656e_7473;

/// Half a SHA-256: enough to tell user agents apart, and half the index.
type AgentHash = [u8; 16];

fn hash_agent(text: &str) -> AgentHash {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut half = AgentHash::default();
    half.copy_from_slice(&digest[..16]);
    half
}

/// What this process has stored of the dictionary: hashes with their last day. Most visitors share
/// a few hundred user agents, so most batches write none.
pub(super) struct KnownAgents(Cache<AgentHash, i64>);

impl Default for KnownAgents {
    fn default() -> Self {
        Self(Cache::new(50_000))
    }
}

impl KnownAgents {
    fn knows(&self, agent: &Agent) -> bool {
        self.0.get(&agent.hash).is_some_and(|day| day >= agent.last_day)
    }

    /// Remembers what has been committed.
    pub(super) fn note(&self, rows: &[AgentRow<'_>]) {
        for row in rows {
            self.0.insert(row.agent.hash, row.agent.last_day);
        }
    }
}

#[derive(Clone, Copy)]
struct Agent {
    hash: AgentHash,
    last_day: i64,
}

/// The user agents of a batch by their texts.
pub(super) struct Agents<'a>(HashMap<&'a str, Agent>);

/// A user agent on its way into the dictionary.
pub(super) struct AgentRow<'a> {
    agent: Agent,
    text: &'a str,
}

impl<'a> Agents<'a> {
    /// The user agents of a batch, each hashed once, with the last day it was seen on.
    pub(super) fn of(batch: &'a [(NewClick, Classification)]) -> Self {
        let mut agents: HashMap<&str, Agent> = HashMap::new();
        for (click, _) in batch {
            let Some(text) = click.user_agent.as_deref() else { continue };
            let day = day_of(click.at);
            let agent = agents
                .entry(text)
                .or_insert_with(|| Agent { hash: hash_agent(text), last_day: day });
            agent.last_day = day.max(agent.last_day);
        }
        Self(agents)
    }

    /// The hash of a text of the batch.
    pub(super) fn hash(&self, text: &str) -> Option<&[u8]> {
        self.0.get(text).map(|agent| &agent.hash[..])
    }

    /// Those that have to be stored, in the order of their hashes, so that two who store the same
    /// ones wait for each other instead of in a circle.
    pub(super) fn unknown_to(&self, known: &KnownAgents) -> Vec<AgentRow<'a>> {
        let mut rows: Vec<_> = self
            .0
            .iter()
            .filter(|(_, agent)| !known.knows(agent))
            .map(|(text, agent)| AgentRow { agent: *agent, text })
            .collect();
        rows.sort_unstable_by_key(|row| row.agent.hash);
        rows
    }
}

/// Stores user agents, or their day where it is later than the one stored.
pub(super) fn store(conn: &mut dyn AgentStatements, rows: &[AgentRow<'_>]) -> QueryResult<()> {
    if conn.insert_agents(rows)? == rows.len() {
        return Ok(());
    }
    // An update meets its rows in no certain order. It is needed once a day for each user agent.
    conn.lock_exclusively(DAYS_LOCK)?;
    let mut days: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for AgentRow { agent, .. } in rows {
        days.entry(agent.last_day).or_default().push(&agent.hash);
    }
    for (day, hashes) in days {
        conn.date_agents(day, &hashes)?;
    }
    Ok(())
}

/// The statements on the dictionary.
pub(super) trait AgentStatements: Backend {
    /// Stores those that are not there, and answers how many.
    fn insert_agents(&mut self, rows: &[AgentRow<'_>]) -> QueryResult<usize>;

    /// Notes that user agents were seen on a day, where their last one is earlier.
    fn date_agents(&mut self, day: i64, hashes: &[&[u8]]) -> QueryResult<()>;
}

for_both! {
impl AgentStatements {
    fn insert_agents(&mut self, rows: &[AgentRow<'_>]) -> QueryResult<usize> {
        let mut inserted = 0;
        for chunk in rows.chunks(MAX_BINDS / 3) {
            let values: Vec<_> = chunk
                .iter()
                .map(|row| {
                    (
                        user_agents::hash.eq(&row.agent.hash[..]),
                        user_agents::text.eq(row.text),
                        user_agents::last_seen_day.eq(row.agent.last_day),
                    )
                })
                .collect();
            inserted += diesel::insert_into(user_agents::table)
                .values(values)
                .on_conflict_do_nothing()
                .execute(self)?;
        }
        Ok(inserted)
    }

    fn date_agents(&mut self, day: i64, hashes: &[&[u8]]) -> QueryResult<()> {
        for chunk in hashes.chunks(MAX_BINDS - 2) {
            diesel::update(user_agents::table)
                .filter(user_agents::hash.eq_any(chunk))
                .filter(user_agents::last_seen_day.lt(day))
                .set(user_agents::last_seen_day.eq(day))
                .execute(self)?;
        }
        Ok(())
    }
}
}
