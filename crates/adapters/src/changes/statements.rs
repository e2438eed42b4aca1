//! The statements on the feed, once for both backends.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::for_both;
use crate::db::schema::changes;

/// What has changed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Changed<'a> {
    /// The link with this code was changed or deleted.
    Link(&'a str),
    /// The app with this number was created or changed.
    App(i64),
}

/// A line of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = changes)]
pub(crate) struct ChangeRow {
    pub(super) n: i64,
    pub(super) kind: String,
    pub(super) key: String,
}

/// The statements on the feed.
pub(crate) trait ChangeStatements {
    /// Adds a line; it is there when the transaction commits.
    fn note_change(&mut self, changed: Changed<'_>, now: DateTime<Utc>) -> QueryResult<()>;

    /// The lines after a number, in their order.
    fn changes_after(&mut self, n: i64) -> QueryResult<Vec<ChangeRow>>;

    /// The highest number so far.
    fn last_change(&mut self) -> QueryResult<i64>;

    /// Removes lines from before a moment.
    fn drop_changes_before(&mut self, at: DateTime<Utc>) -> QueryResult<usize>;
}

for_both! {
impl ChangeStatements {
    fn note_change(&mut self, changed: Changed<'_>, now: DateTime<Utc>) -> QueryResult<()> {
        let (kind, key) = match changed {
            Changed::Link(code) => ("link", code.to_owned()),
            Changed::App(id) => ("app", id.to_string()),
        };
        let row = (
            changes::kind.eq(kind),
            changes::key.eq(key),
            changes::at.eq(now.timestamp_micros()),
        );
        diesel::insert_into(changes::table).values(row).execute(self)?;
        Ok(())
    }

    fn changes_after(&mut self, n: i64) -> QueryResult<Vec<ChangeRow>> {
        changes::table
            .filter(changes::n.gt(n))
            .order(changes::n)
            .select(ChangeRow::as_select())
            .load(self)
    }

    fn last_change(&mut self) -> QueryResult<i64> {
        let last: Option<i64> =
            changes::table.select(diesel::dsl::max(changes::n)).first(self)?;
        Ok(last.unwrap_or(0))
    }

    fn drop_changes_before(&mut self, at: DateTime<Utc>) -> QueryResult<usize> {
        diesel::delete(changes::table.filter(changes::at.lt(at.timestamp_micros()))).execute(self)
    }
}
}
