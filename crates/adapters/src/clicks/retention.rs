//! What becomes of old clicks: their addresses are cut, and later they are erased.

use chrono::{DateTime, Utc};
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel::sqlite::SqliteConnection;
use signpost_domain::ports::StoreError;

use super::partitions;
use crate::db::{Backend, Db, for_both, transaction};

/// Lets one node at a time change old clicks.
const OLD_CLICKS_LOCK: i64 = 0x6f6c_645f_636c;

/// Zeros in place of what tells a /24 from an address, and a /48. The conditions are those of the
/// index `clicks_with_address`, which holds the clicks that are not cut yet.
const TRUNCATE_SQLITE: &str = "UPDATE clicks SET ip = CASE length(ip) \
     WHEN 4 THEN CAST(substr(ip, 1, 3) || x'00' AS BLOB) \
     ELSE CAST(substr(ip, 1, 6) || x'00000000000000000000' AS BLOB) END \
     WHERE rowid IN (SELECT rowid FROM clicks WHERE occurred_at < $1 \
     AND (length(ip) = 4 AND substr(ip, 4) <> x'00' \
     OR length(ip) = 16 AND substr(ip, 7) <> x'00000000000000000000') \
     ORDER BY occurred_at LIMIT $2)";

const TRUNCATE_POSTGRES: &str = r"UPDATE clicks SET ip = CASE length(ip)
     WHEN 4 THEN substr(ip, 1, 3) || '\x00'::bytea
     ELSE substr(ip, 1, 6) || '\x00000000000000000000'::bytea END
     WHERE (link_id, occurred_at, id) IN (SELECT link_id, occurred_at, id FROM clicks
     WHERE occurred_at < $1 AND (length(ip) = 4 AND substr(ip, 4) <> '\x00'::bytea
     OR length(ip) = 16 AND substr(ip, 7) <> '\x00000000000000000000'::bytea)
     LIMIT $2)";

const ERASE_SQLITE: &str = "DELETE FROM clicks WHERE rowid IN (\
     SELECT rowid FROM clicks WHERE occurred_at < $1 ORDER BY occurred_at LIMIT $2)";

const ERASE_POSTGRES: &str = "DELETE FROM clicks WHERE (link_id, occurred_at, id) IN (\
     SELECT link_id, occurred_at, id FROM clicks WHERE occurred_at < $1 LIMIT $2)";

pub(super) fn truncate_addresses(
    db: &Db,
    before: DateTime<Utc>,
    limit: u32,
) -> Result<usize, StoreError> {
    let truncated = transaction!(db, |conn| {
        conn.lock_exclusively(OLD_CLICKS_LOCK)?;
        Ok(conn.on_old_clicks(Old::Truncate, before, limit)?)
    })?;
    Ok(truncated)
}

pub(super) fn erase_before(db: &Db, before: DateTime<Utc>, limit: u32) -> Result<bool, StoreError> {
    let erased = transaction!(db, |conn| {
        conn.lock_exclusively(OLD_CLICKS_LOCK)?;
        conn.drop_months(before)?;
        Ok(conn.on_old_clicks(Old::Erase, before, limit)?)
    })?;
    // One call more than needed when the last click is the last that was allowed.
    Ok(erased >= usize::try_from(limit).unwrap_or(usize::MAX))
}

/// What is done to old clicks.
#[derive(Debug, Clone, Copy)]
enum Old {
    Truncate,
    Erase,
}

trait RetentionStatements: RetentionWords {
    /// Changes clicks from before a moment and answers how many.
    fn on_old_clicks(&mut self, what: Old, before: DateTime<Utc>, limit: u32)
    -> QueryResult<usize>;
}

for_both! {
impl RetentionStatements {
    fn on_old_clicks(
        &mut self,
        what: Old,
        before: DateTime<Utc>,
        limit: u32,
    ) -> QueryResult<usize> {
        diesel::sql_query(Self::words(what))
            .bind::<BigInt, _>(before.timestamp_micros())
            .bind::<BigInt, _>(i64::from(limit))
            .execute(self)
    }
}
}

/// What the backends say in words of their own.
trait RetentionWords {
    fn words(what: Old) -> &'static str;

    /// Drops what is kept apart and is old as a whole.
    fn drop_months(&mut self, before: DateTime<Utc>) -> QueryResult<()>;
}

impl RetentionWords for SqliteConnection {
    fn words(what: Old) -> &'static str {
        match what {
            Old::Truncate => TRUNCATE_SQLITE,
            Old::Erase => ERASE_SQLITE,
        }
    }

    fn drop_months(&mut self, _: DateTime<Utc>) -> QueryResult<()> {
        Ok(())
    }
}

impl RetentionWords for PgConnection {
    fn words(what: Old) -> &'static str {
        match what {
            Old::Truncate => TRUNCATE_POSTGRES,
            Old::Erase => ERASE_POSTGRES,
        }
    }

    fn drop_months(&mut self, before: DateTime<Utc>) -> QueryResult<()> {
        partitions::drop_before(self, before)
    }
}
