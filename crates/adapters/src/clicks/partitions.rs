//! The months that Postgres keeps apart, so that a whole one can be dropped at once.

use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{BigInt, Bool, Text};
use signpost_domain::ports::StoreError;

use crate::db::{Backend, Conn, Db, DbError};

/// Lets one node at a time make or drop months.
const PARTITIONS_LOCK: i64 = 0x6d6f_6e74_6873;

/// How many months are made, this one included.
const MONTHS: u32 = 3;

/// A month of clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Month(NaiveDate);

impl Month {
    fn of(at: DateTime<Utc>) -> Option<Self> {
        at.date_naive().with_day(1).map(Self)
    }

    fn after(self, months: u32) -> Option<Self> {
        self.0.checked_add_months(Months::new(months)).map(Self)
    }

    /// The name of its table.
    fn table(self) -> String {
        self.0.format("clicks_%Y_%m").to_string()
    }

    /// The month of a table; nothing for a table that holds no month.
    fn of_table(name: &str) -> Option<Self> {
        let (year, month) = name.strip_prefix("clicks_")?.split_once('_')?;
        NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, 1).map(Self)
    }

    fn start(self) -> DateTime<Utc> {
        self.0.and_time(chrono::NaiveTime::MIN).and_utc()
    }
}

pub(super) fn prepare(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    // The embedded database has one file and no parts.
    let Conn::Postgres(mut conn) = db.write()? else { return Ok(()) };
    for n in 0..MONTHS {
        let month = Month::of(now).and_then(|month| month.after(n));
        let next = month.and_then(|month| month.after(1));
        let Some((month, next)) = month.zip(next) else { continue };
        let made = conn.transaction::<_, Error, _>(|conn| {
            conn.lock_exclusively(PARTITIONS_LOCK)?;
            make(conn, month, next)
        });
        match made {
            // The latter when a click of that month came in between; it stays among the others.
            Ok(()) | Err(Error::DatabaseError(DatabaseErrorKind::CheckViolation, _)) => {}
            Err(error) => return Err(DbError::from(error).into()),
        }
    }
    Ok(())
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    yes: bool,
}

/// Makes a month, unless it is there or some of its clicks are in the table of all other months
/// already, where the whole month stays then.
fn make(conn: &mut PgConnection, month: Month, next: Month) -> QueryResult<()> {
    let [from, to] = [month, next].map(|month| month.start().timestamp_micros());
    let is_settled: Answer = diesel::sql_query(
        "SELECT to_regclass($1) IS NOT NULL OR EXISTS (SELECT 1 FROM clicks_default \
         WHERE occurred_at >= $2 AND occurred_at < $3) AS yes",
    )
    .bind::<Text, _>(month.table())
    .bind::<BigInt, _>(from)
    .bind::<BigInt, _>(to)
    .get_result(conn)?;
    if is_settled.yes {
        return Ok(());
    }
    conn.batch_execute(&format!(
        "CREATE TABLE {} PARTITION OF clicks FOR VALUES FROM ({from}) TO ({to})",
        month.table()
    ))
}

#[derive(QueryableByName)]
struct Table {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Drops the months that end at a moment or before.
pub(super) fn drop_before(conn: &mut PgConnection, before: DateTime<Utc>) -> QueryResult<()> {
    conn.transaction(|conn| {
        conn.lock_exclusively(PARTITIONS_LOCK)?;
        let tables: Vec<Table> = diesel::sql_query(
            "SELECT child.relname::text AS name FROM pg_inherits \
             JOIN pg_class AS child ON child.oid = inhrelid \
             WHERE inhparent = 'clicks'::regclass ORDER BY 1",
        )
        .load(conn)?;
        for month in tables.iter().filter_map(|table| Month::of_table(&table.name)) {
            if month.after(1).is_some_and(|next| next.start() <= before) {
                conn.batch_execute(&format!("DROP TABLE {}", month.table()))?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_known_by_the_name_of_its_table() {
        let now = DateTime::from_timestamp(1_767_603_600, 0).unwrap();
        let month = Month::of(now).unwrap();
        assert_eq!(month.table(), "clicks_2026_01");
        assert_eq!(Month::of_table("clicks_2026_01"), Some(month));
        assert_eq!(month.after(12).unwrap().start().to_rfc3339(), "2027-01-01T00:00:00+00:00");
        for other in ["clicks_default", "clicks_2026_13", "links", "clicks_2026"] {
            assert_eq!(Month::of_table(other), None, "{other}");
        }
    }
}
