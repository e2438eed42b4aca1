//! A batch made ready: everything that can be worked out before the database is asked.

use std::collections::HashMap;

use signpost_domain::app::AppId;
use signpost_domain::click::{
    Classification, Counted, DayStats, Hour, NewClick, Referrer, visitor_hash,
};

use super::agents::Agent;
use super::day_of;
use super::salts::Salts;

/// The clicks of a batch in the order of their keys.
pub(super) struct Items<'a> {
    pub(super) list: Vec<Item<'a>>,
    /// Each user agent once.
    pub(super) agents: Vec<Agent<'a>>,
    /// The host of each referrer.
    hosts: Vec<Option<String>>,
}

/// A click of a batch.
pub(super) struct Item<'a> {
    pub(super) link: i64,
    pub(super) app: i64,
    pub(super) day: i64,
    /// Microseconds since 1970.
    pub(super) at: i64,
    pub(super) click: &'a NewClick,
    pub(super) class: &'a Classification,
    agent: Option<usize>,
    host: Option<usize>,
    visitor: Option<u64>,
}

impl<'a> Items<'a> {
    pub(super) fn of(batch: &'a [(NewClick, Classification)]) -> Self {
        let (mut agents, mut hosts) = (Vec::new(), Vec::new());
        let (mut agents_seen, mut hosts_seen) = (HashMap::new(), HashMap::new());
        let mut list: Vec<Item<'_>> = batch
            .iter()
            .map(|(click, class)| {
                let day = day_of(click.at);
                let agent = click.user_agent.as_deref().map(|text| {
                    let at = *agents_seen.entry(text).or_insert_with(|| {
                        agents.push(Agent::new(text, day));
                        agents.len() - 1
                    });
                    if let Some(agent) = agents.get_mut(at) {
                        agent.last_day = day.max(agent.last_day);
                    }
                    at
                });
                let host = click.referrer.as_ref().map(|referrer| {
                    *hosts_seen.entry(referrer.as_str()).or_insert_with(|| {
                        hosts.push(Referrer::host_of(referrer.as_str()));
                        hosts.len() - 1
                    })
                });
                let AppId(app) = click.app_id;
                let (link, at) = (click.link_id.0, click.at.timestamp_micros());
                Item { link, app, day, at, click, class, agent, host, visitor: None }
            })
            .collect();
        list.sort_unstable_by_key(|item| (item.link, item.at, item.click.id));
        Self { list, agents, hosts }
    }

    /// Leaves one of each click.
    pub(super) fn dedup(&mut self) {
        self.list.dedup_by_key(|item| (item.link, item.at, item.click.id));
    }

    /// The days of the clicks, in order.
    pub(super) fn days(&self) -> Vec<i64> {
        let mut days: Vec<i64> = self.list.iter().map(|item| item.day).collect();
        days.dedup();
        days.sort_unstable();
        days.dedup();
        days
    }

    /// The links of the clicks, in order.
    pub(super) fn links(&self) -> Vec<i64> {
        let mut links: Vec<i64> = self.list.iter().map(|item| item.link).collect();
        links.dedup();
        links
    }

    pub(super) fn agent_of(&self, item: &Item<'_>) -> Option<&Agent<'a>> {
        item.agent.and_then(|at| self.agents.get(at))
    }

    /// Works out who the visitors are, on the days that have a salt.
    pub(super) fn tell_visitors(&mut self, salts: &Salts) {
        for Item { click, day, visitor, .. } in &mut self.list {
            *visitor = salts.get(day).zip(click.address).map(|(salt, address)| {
                visitor_hash(salt, click.app_id, address, click.user_agent.as_deref())
            });
        }
    }

    /// Counts a click.
    pub(super) fn count(&self, item: &Item<'_>, stats: &mut DayStats) {
        let host = item.host.and_then(|at| self.hosts.get(at));
        stats.count(&Counted {
            hour: Hour::of(item.click.at),
            platform: item.click.platform,
            classification: item.class,
            country: None,
            referrer_host: host.and_then(Option::as_deref),
            visitor: item.visitor,
            is_bot: item.class.bot.is_some(),
        });
    }
}
