//! How far each journal has been loaded.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use signpost_domain::ports::{Batch, Clock, JournalId, StoreError};

use crate::db::schema::journals;
use crate::db::{Db, DbError, for_both, transaction};
use crate::system::SystemClock;

pub(super) fn register(
    db: &Db,
    journal: JournalId,
    node: &str,
    now: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let position = transaction!(db, |conn| {
        diesel::insert_into(journals::table)
            .values((
                journals::id.eq(&journal.0[..]),
                journals::node.eq(node),
                journals::position.eq(0_i64),
                journals::updated_at.eq(now.timestamp_micros()),
            ))
            .on_conflict_do_nothing()
            .execute(conn)?;
        position_of(conn, journal)
    })?;
    Ok(position)
}

/// Moves a journal's position to the end of a batch; false when it is not at the batch's beginning.
///
/// A batch of the same journal that is under way is waited for.
pub(super) fn advance(conn: &mut dyn JournalStatements, batch: &Batch) -> Result<bool, DbError> {
    let (from, to) = (stored(batch.after)?, stored(batch.upto)?);
    Ok(conn.move_position(&batch.journal.0, from, to)? == 1)
}

/// Where a journal is.
pub(super) fn position_of(
    conn: &mut dyn JournalStatements,
    journal: JournalId,
) -> Result<u64, DbError> {
    let position = conn.position(&journal.0)?;
    let position = position.ok_or_else(|| StoreError::failed("the journal is not registered"))?;
    u64::try_from(position).map_err(|_| DbError::corrupt("journals", "position", position))
}

/// The databases keep signed numbers; a journal would have to hold nine exabytes to need another.
fn stored(position: u64) -> Result<i64, DbError> {
    i64::try_from(position).map_err(|error| DbError::Store(StoreError::failed(error)))
}

/// The statements on journals.
pub(super) trait JournalStatements {
    /// Moves a position if it is `from`, and answers how many rows that were.
    fn move_position(&mut self, journal: &[u8], from: i64, to: i64) -> QueryResult<usize>;

    fn position(&mut self, journal: &[u8]) -> QueryResult<Option<i64>>;
}

for_both! {
impl JournalStatements {
    fn move_position(&mut self, journal: &[u8], from: i64, to: i64) -> QueryResult<usize> {
        diesel::update(journals::table.find(journal).filter(journals::position.eq(from)))
            .set((
                journals::position.eq(to),
                // A note of what was done when; no rule depends on it, so nobody passes it in.
                journals::updated_at.eq(SystemClock.now().timestamp_micros()),
            ))
            .execute(self)
    }

    fn position(&mut self, journal: &[u8]) -> QueryResult<Option<i64>> {
        journals::table.find(journal).select(journals::position).first(self).optional()
    }
}
}
