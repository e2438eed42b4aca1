//! The statistics of days: counting clicks into their packed rows, and reading them.

mod statements;

use std::collections::HashSet;

use chrono::NaiveDate;
use signpost_domain::click::{DateRange, DayStats};
use signpost_domain::ports::StoreError;

pub(super) use self::statements::{DayStatements, Of};
use super::items::{Item, Items};
use crate::db::{Db, DbError, on};

/// Counts clicks into the rows of their days.
///
/// Who does this at the same time meets rows in the same order: by day, first those to be made and
/// then those to be changed, each by number. So one waits for the other and nobody in a circle.
pub(super) fn merge(
    conn: &mut dyn DayStatements,
    of: Of,
    items: &mut Items<'_>,
) -> Result<(), DbError> {
    items.list.sort_by_key(|item| (item.day, of.id(item)));
    for day in items.list.chunk_by(|a, b| a.day == b.day) {
        let groups: Vec<Group<'_>> = day
            .chunk_by(|a, b| of.id(a) == of.id(b))
            .filter_map(|list| Some(Group { id: of.id(list.first()?), items, list }))
            .collect();
        if let Some(first) = day.first() {
            merge_day(conn, of, first.day, &groups)?;
        }
    }
    Ok(())
}

/// The clicks of one row.
struct Group<'a> {
    id: i64,
    items: &'a Items<'a>,
    list: &'a [Item<'a>],
}

impl Group<'_> {
    /// A row with these clicks, ready to be stored.
    fn added_to(&self, mut stats: DayStats) -> (i64, Vec<u8>) {
        for item in self.list {
            self.items.count(item, &mut stats);
        }
        (self.id, stats.encode())
    }
}

fn merge_day(
    conn: &mut dyn DayStatements,
    of: Of,
    day: i64,
    groups: &[Group<'_>],
) -> Result<(), DbError> {
    let ids = |groups: &[&Group<'_>]| groups.iter().map(|group| group.id).collect::<Vec<_>>();
    let mut groups: Vec<&Group<'_>> = groups.iter().collect();
    let there: HashSet<i64> = conn.days_there(of, day, &ids(&groups))?.into_iter().collect();
    let fresh: Vec<(i64, Vec<u8>)> = groups
        .iter()
        .filter(|group| !there.contains(&group.id))
        .map(|group| group.added_to(DayStats::default()))
        .collect();
    let made: HashSet<i64> = conn.make_days(of, day, &fresh)?.into_iter().collect();
    groups.retain(|group| !made.contains(&group.id));
    let ids = ids(&groups);
    let rows = conn.lock_days(of, day, &ids)?;
    if rows.iter().map(|(id, _)| id).ne(&ids) {
        return Err(StoreError::failed("the row of a day vanished").into());
    }
    let mut changed = Vec::with_capacity(rows.len());
    for ((_, data), group) in rows.into_iter().zip(groups) {
        changed.push(group.added_to(decode(of, &data)?));
    }
    conn.change_days(of, day, &changed)?;
    Ok(())
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
