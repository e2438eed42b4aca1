//! The statistics of days: counting clicks into their packed rows, and reading them.

mod statements;

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use signpost_domain::app::AppId;
use signpost_domain::click::{
    Classification, Counted, DateRange, DayStats, Hour, NewClick, Referrer, visitor_hash,
};
use signpost_domain::ports::StoreError;

pub(super) use self::statements::{DayStatements, Of};
use super::day_of;
use super::salts::Salts;
use crate::db::{Db, DbError, on};

/// What counts of a click, and where.
pub(super) struct Fact<'a> {
    link: i64,
    app: i64,
    day: i64,
    counted: Counted<'a>,
}

impl Fact<'_> {
    fn id(&self, of: Of) -> i64 {
        match of {
            Of::Link => self.link,
            Of::App => self.app,
        }
    }
}

/// The hosts of the referrers of a batch, each read once.
pub(super) struct Hosts<'a>(HashMap<&'a str, Option<String>>);

impl<'a> Hosts<'a> {
    pub(super) fn of(clicks: &[&'a (NewClick, Classification)]) -> Self {
        let mut hosts: HashMap<&str, Option<String>> = HashMap::new();
        for referrer in clicks.iter().filter_map(|(click, _)| click.referrer.as_ref()) {
            let text = referrer.as_str();
            hosts.entry(text).or_insert_with(|| Referrer::host_of(text));
        }
        Self(hosts)
    }
}

/// What counts of clicks.
pub(super) fn facts<'a>(
    clicks: &[&'a (NewClick, Classification)],
    salts: &Salts,
    hosts: &'a Hosts<'_>,
) -> Vec<Fact<'a>> {
    clicks
        .iter()
        .map(|(click, classification)| {
            let day = day_of(click.at);
            let visitor = salts.get(&day).zip(click.address).map(|(salt, address)| {
                visitor_hash(salt, click.app_id, address, click.user_agent.as_deref())
            });
            let host = click.referrer.as_ref().and_then(|referrer| hosts.0.get(referrer.as_str()));
            let counted = Counted {
                hour: Hour::of(click.at),
                platform: click.platform,
                classification,
                country: None,
                referrer_host: host.and_then(Option::as_deref),
                visitor,
                is_bot: classification.bot.is_some(),
            };
            let AppId(app) = click.app_id;
            Fact { link: click.link_id.0, app, day, counted }
        })
        .collect()
}

/// Counts clicks into the rows of their days.
///
/// Who does this at the same time meets rows in the same order: by day, first those to be made and
/// then those to be changed, each by number. So one waits for the other and nobody in a circle.
pub(super) fn merge(
    conn: &mut dyn DayStatements,
    of: Of,
    facts: &mut [Fact<'_>],
) -> Result<(), DbError> {
    facts.sort_by_key(|fact| (fact.day, fact.id(of)));
    for facts in facts.chunk_by(|a, b| a.day == b.day) {
        let groups: Vec<&[Fact<'_>]> = facts.chunk_by(|a, b| a.id(of) == b.id(of)).collect();
        merge_day(conn, of, facts[0].day, &groups)?;
    }
    Ok(())
}

fn merge_day(
    conn: &mut dyn DayStatements,
    of: Of,
    day: i64,
    groups: &[&[Fact<'_>]],
) -> Result<(), DbError> {
    let id = |group: &[Fact<'_>]| group[0].id(of);
    let ids: Vec<i64> = groups.iter().map(|group| id(group)).collect();
    let there: HashSet<i64> = conn.days_there(of, day, &ids)?.into_iter().collect();
    let fresh: Vec<(i64, Vec<u8>)> = groups
        .iter()
        .filter(|group| !there.contains(&id(group)))
        .map(|group| (id(group), counted(DayStats::default(), group).encode()))
        .collect();
    let made: HashSet<i64> = conn.make_days(of, day, &fresh)?.into_iter().collect();
    let rest: Vec<&[Fact<'_>]> =
        groups.iter().copied().filter(|group| !made.contains(&id(group))).collect();
    let ids: Vec<i64> = rest.iter().map(|group| id(group)).collect();
    let rows = conn.lock_days(of, day, &ids)?;
    if rows.iter().map(|(id, _)| *id).ne(ids) {
        return Err(StoreError::failed("the row of a day vanished").into());
    }
    let mut changed = Vec::with_capacity(rows.len());
    for ((id, data), group) in rows.into_iter().zip(rest) {
        changed.push((id, counted(decode(of, &data)?, group).encode()));
    }
    conn.change_days(of, day, &changed)?;
    Ok(())
}

fn counted(mut stats: DayStats, facts: &[Fact<'_>]) -> DayStats {
    for fact in facts {
        stats.count(&fact.counted);
    }
    stats
}

fn decode(of: Of, data: &[u8]) -> Result<DayStats, DbError> {
    DayStats::decode(data).map_err(|error| DbError::corrupt(of.table(), "data", error))
}

pub(super) fn read(
    db: &Db,
    of: Of,
    id: i64,
    range: DateRange,
) -> Result<Vec<(NaiveDate, DayStats)>, StoreError> {
    let [from, to] = [range.start(), range.end()].map(|day| i64::from(day.to_epoch_days()));
    let rows = on!(db.read()?, |conn| conn.days_of(of, id, from, to)).map_err(DbError::from)?;
    let days: Result<Vec<_>, DbError> = rows
        .into_iter()
        .map(|(day, data)| {
            let date = i32::try_from(day).ok().and_then(NaiveDate::from_epoch_days);
            let date = date.ok_or_else(|| DbError::corrupt(of.table(), "day", day))?;
            Ok((date, decode(of, &data)?))
        })
        .collect();
    Ok(days?)
}
