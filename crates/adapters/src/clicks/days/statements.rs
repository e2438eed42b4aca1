//! The statements on the rows of days.

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary};

use crate::clicks::MAX_BINDS;
use crate::clicks::items::Item;

/// Whose days.
#[derive(Debug, Clone, Copy)]
pub(in crate::clicks) enum Of {
    /// A link's.
    Link,
    /// An app's, with all its links.
    App,
}

impl Of {
    /// The number of the row that a click counts in.
    pub(super) fn id(self, item: &Item<'_>) -> i64 {
        match self {
            Self::Link => item.link,
            Self::App => item.app,
        }
    }

    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Link => "link_days",
            Self::App => "app_days",
        }
    }
}

/// A number and the packed statistics of one day.
type Row = (i64, Vec<u8>);

/// The statements on days; rows and numbers come in the order of the numbers.
pub(in crate::clicks) trait DayStatements {
    /// Those that have a row of this day.
    fn days_there(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<i64>>;

    /// Makes rows, and answers which; somebody else may have been quicker with the others.
    fn make_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<Vec<i64>>;

    /// Rows of this day, which nobody else can change until the transaction ends.
    fn lock_days(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<Row>>;

    /// Replaces rows that are there.
    fn change_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<()>;

    /// The days of one link or app.
    fn days_of(&mut self, of: Of, id: i64, from: i64, to: i64) -> QueryResult<Vec<Row>>;
}

/// Runs an expression over the table in question: both look the same but for the name of the key.
macro_rules! with_table {
    ($of:expr, |$table:ident, $id:ident| $query:expr) => {
        match $of {
            Of::Link => {
                use crate::db::schema::link_days::{self as $table, link_id as $id};
                $query
            }
            Of::App => {
                use crate::db::schema::app_days::{self as $table, app_id as $id};
                $query
            }
        }
    };
}

impl DayStatements for SqliteConnection {
    fn days_there(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<i64>> {
        let mut there = Vec::new();
        for chunk in ids.chunks(MAX_BINDS - 1) {
            there.extend(with_table!(of, |days, id| days::table
                .filter(id.eq_any(chunk))
                .filter(days::day.eq(day))
                .select(id)
                .load::<i64>(self))?);
        }
        Ok(there)
    }

    fn make_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<Vec<i64>> {
        // One by one: the statement is prepared once, and nothing is sent anywhere.
        for (number, data) in rows {
            with_table!(of, |days, id| diesel::insert_into(days::table)
                .values((id.eq(number), days::day.eq(day), days::data.eq(data)))
                .execute(self))?;
        }
        Ok(rows.iter().map(|(number, _)| *number).collect())
    }

    fn lock_days(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<Row>> {
        // Writers are alone anyway.
        let mut rows = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(MAX_BINDS - 1) {
            rows.extend(with_table!(of, |days, id| days::table
                .filter(id.eq_any(chunk))
                .filter(days::day.eq(day))
                .order(id)
                .select((id, days::data))
                .load::<Row>(self))?);
        }
        Ok(rows)
    }

    fn change_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<()> {
        for (number, data) in rows {
            with_table!(of, |days, id| diesel::update(
                days::table.filter(id.eq(number)).filter(days::day.eq(day))
            )
            .set(days::data.eq(data))
            .execute(self))?;
        }
        Ok(())
    }

    fn days_of(&mut self, of: Of, number: i64, from: i64, to: i64) -> QueryResult<Vec<Row>> {
        with_table!(of, |days, id| days::table
            .filter(id.eq(number))
            .filter(days::day.between(from, to))
            .order(days::day)
            .select((days::day, days::data))
            .load(self))
    }
}

#[derive(QueryableByName)]
struct Made {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Numbers and bytes as two arrays, which Postgres reads faster than thousands of parameters.
fn arrays(rows: &[Row]) -> (Vec<i64>, Vec<&[u8]>) {
    rows.iter().map(|(id, data)| (*id, &data[..])).unzip()
}

impl DayStatements for PgConnection {
    fn days_there(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<i64>> {
        with_table!(of, |days, id| days::table
            .filter(id.eq_any(ids))
            .filter(days::day.eq(day))
            .select(id)
            .load(self))
    }

    fn make_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<Vec<i64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let statement = match of {
            Of::Link => {
                "INSERT INTO link_days (link_id, day, data) SELECT id, $1, data \
                 FROM unnest($2, $3) AS made (id, data) ON CONFLICT DO NOTHING \
                 RETURNING link_id AS id"
            }
            Of::App => {
                "INSERT INTO app_days (app_id, day, data) SELECT id, $1, data \
                 FROM unnest($2, $3) AS made (id, data) ON CONFLICT DO NOTHING \
                 RETURNING app_id AS id"
            }
        };
        let (ids, data) = arrays(rows);
        let made: Vec<Made> = diesel::sql_query(statement)
            .bind::<BigInt, _>(day)
            .bind::<Array<BigInt>, _>(ids)
            .bind::<Array<Binary>, _>(data)
            .load(self)?;
        Ok(made.into_iter().map(|row| row.id).collect())
    }

    fn lock_days(&mut self, of: Of, day: i64, ids: &[i64]) -> QueryResult<Vec<Row>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        with_table!(of, |days, id| days::table
            .filter(id.eq_any(ids))
            .filter(days::day.eq(day))
            .order(id)
            .select((id, days::data))
            .for_update()
            .load(self))
    }

    fn change_days(&mut self, of: Of, day: i64, rows: &[Row]) -> QueryResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        // The rows are there; as a conflict each is found by its key, whatever the planner thinks.
        let statement = match of {
            Of::Link => {
                "INSERT INTO link_days (link_id, day, data) SELECT id, $1, data \
                 FROM unnest($2, $3) AS changed (id, data) \
                 ON CONFLICT (link_id, day) DO UPDATE SET data = excluded.data"
            }
            Of::App => {
                "INSERT INTO app_days (app_id, day, data) SELECT id, $1, data \
                 FROM unnest($2, $3) AS changed (id, data) \
                 ON CONFLICT (app_id, day) DO UPDATE SET data = excluded.data"
            }
        };
        let (ids, data) = arrays(rows);
        diesel::sql_query(statement)
            .bind::<BigInt, _>(day)
            .bind::<Array<BigInt>, _>(ids)
            .bind::<Array<Binary>, _>(data)
            .execute(self)?;
        Ok(())
    }

    fn days_of(&mut self, of: Of, number: i64, from: i64, to: i64) -> QueryResult<Vec<Row>> {
        with_table!(of, |days, id| days::table
            .filter(id.eq(number))
            .filter(days::day.between(from, to))
            .order(days::day)
            .select((days::day, days::data))
            .load(self))
    }
}
