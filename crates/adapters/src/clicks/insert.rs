//! Storing raw clicks, each once.

use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};

use super::MAX_BINDS;
use super::row::NewClickRow;
use crate::db::schema::clicks;

/// Rows that are sorted out together when some clicks of a batch are known.
const SIFTED_AT_ONCE: usize = 1_000;

/// Stores those of the rows that are not there yet, and tells for each whether it was.
///
/// The rows are in the order of their keys and none stands there twice.
pub(super) fn insert_new(
    conn: &mut dyn InsertStatements,
    rows: &[NewClickRow<'_>],
) -> QueryResult<Vec<bool>> {
    // Nearly always all are new, and that is by far the fastest to do.
    if conn.insert_all(rows)? {
        return Ok(vec![true; rows.len()]);
    }
    let mut is_new = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(SIFTED_AT_ONCE) {
        sift(conn, chunk, &mut is_new)?;
    }
    Ok(is_new)
}

/// Parts of which all or none are new settle at once, others in halves.
fn sift(
    conn: &mut dyn InsertStatements,
    rows: &[NewClickRow<'_>],
    is_new: &mut Vec<bool>,
) -> QueryResult<()> {
    if let Some(all) = conn.insert_all_or_none(rows)? {
        is_new.extend(rows.iter().map(|_| all));
        return Ok(());
    }
    let (left, right) = rows.split_at(rows.len() / 2);
    sift(conn, left, is_new)?;
    sift(conn, right, is_new)
}

/// Inserting clicks.
pub(super) trait InsertStatements {
    /// Stores all rows, or nothing and answers false when one of them is there already.
    fn insert_all(&mut self, rows: &[NewClickRow<'_>]) -> QueryResult<bool>;

    /// Stores all rows and answers true, or finds that all are there already and answers false;
    /// stores nothing when some are and some are not.
    fn insert_all_or_none(&mut self, rows: &[NewClickRow<'_>]) -> QueryResult<Option<bool>>;
}

macro_rules! insert_statements {
    ($conn:ty, |$name:ident, $rows:ident| $insert_all:block) => {
        impl InsertStatements for $conn {
            fn insert_all(&mut self, $rows: &[NewClickRow<'_>]) -> QueryResult<bool> {
                match self.transaction(|$name| $insert_all) {
                    Ok(()) => Ok(true),
                    Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(false),
                    Err(error) => Err(error),
                }
            }

            fn insert_all_or_none(
                &mut self,
                rows: &[NewClickRow<'_>],
            ) -> QueryResult<Option<bool>> {
                let stored = self.transaction(|conn| {
                    let mut stored = 0;
                    for chunk in rows.chunks(MAX_BINDS / NewClickRow::COLUMNS) {
                        stored += diesel::insert_into(clicks::table)
                            .values(chunk)
                            .on_conflict_do_nothing()
                            .execute(conn)?;
                    }
                    if stored > 0 && stored < rows.len() {
                        return Err(Error::RollbackTransaction);
                    }
                    Ok(stored > 0 || rows.is_empty())
                });
                match stored {
                    Ok(all) => Ok(Some(all)),
                    Err(Error::RollbackTransaction) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    };
}

insert_statements!(PgConnection, |conn, rows| {
    diesel::copy_from(clicks::table).from_insertable(rows).execute(conn)?;
    Ok(())
});

insert_statements!(SqliteConnection, |conn, rows| {
    // One by one: the statement is prepared once, and nothing is sent anywhere.
    for row in rows {
        diesel::insert_into(clicks::table).values(row).execute(conn)?;
    }
    Ok(())
});
