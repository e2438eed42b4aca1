//! The dictionary of user agents: each text once, clicks hold its hash.

use std::collections::BTreeMap;

use diesel::prelude::*;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use signpost_domain::ports::StoreError;

use super::MAX_BINDS;
use crate::db::schema::user_agents;
use crate::db::{Backend, Db, for_both, transaction};

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
    /// Those of a batch that have to be stored, in the order of their hashes, so that two who store
    /// the same ones wait for each other instead of in a circle.
    pub(super) fn unknown<'a, 'b>(&self, agents: &'b [Agent<'a>]) -> Vec<&'b Agent<'a>> {
        let is_known = |agent: &Agent<'_>| {
            self.0.get(&agent.hash).is_some_and(|last_day| last_day >= agent.last_day)
        };
        let mut unknown: Vec<_> = agents.iter().filter(|agent| !is_known(agent)).collect();
        unknown.sort_unstable_by_key(|agent| agent.hash);
        unknown
    }

    /// Remembers what has been committed.
    pub(super) fn note(&self, agents: &[Agent<'_>]) {
        for agent in agents {
            self.0.insert(agent.hash, agent.last_day);
        }
    }
}

/// A user agent of a batch.
pub(super) struct Agent<'a> {
    text: &'a str,
    pub(super) hash: AgentHash,
    /// The last day it was seen on.
    pub(super) last_day: i64,
}

impl<'a> Agent<'a> {
    pub(super) fn new(text: &'a str, day: i64) -> Self {
        Self { text, hash: hash_agent(text), last_day: day }
    }
}

/// Notes the last days of user agents that were there already, after the clicks are stored: this
/// says how long a text is of use and nothing else, and a transaction of its own waits for nobody
/// for long. What fails is tried again with the next batch.
pub(super) fn date(db: &Db, known: &KnownAgents, agents: &[Agent<'_>]) -> Result<(), StoreError> {
    let mut days: BTreeMap<i64, Vec<&[u8]>> = BTreeMap::new();
    for agent in known.unknown(agents) {
        days.entry(agent.last_day).or_default().push(&agent.hash);
    }
    transaction!(db, |conn| {
        // An update meets its rows in no certain order.
        conn.lock_exclusively(DAYS_LOCK)?;
        for (day, hashes) in days {
            conn.date_agents(day, &hashes)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The statements on the dictionary.
pub(super) trait AgentStatements: Backend {
    /// Stores those that are not there, and answers how many.
    fn insert_agents(&mut self, agents: &[&Agent<'_>]) -> QueryResult<usize>;

    /// Notes that user agents were seen on a day, where their last one is earlier.
    fn date_agents(&mut self, day: i64, hashes: &[&[u8]]) -> QueryResult<()>;
}

for_both! {
impl AgentStatements {
    fn insert_agents(&mut self, agents: &[&Agent<'_>]) -> QueryResult<usize> {
        let mut inserted = 0;
        for chunk in agents.chunks(MAX_BINDS / 3) {
            let values: Vec<_> = chunk
                .iter()
                .map(|agent| {
                    (
                        user_agents::hash.eq(&agent.hash[..]),
                        user_agents::text.eq(agent.text),
                        user_agents::last_seen_day.eq(agent.last_day),
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
