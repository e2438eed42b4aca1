//! Erasing the clicks and the days of deleted links.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_domain::ports::{Clock, StoreError};

use super::load::LOADING_LOCK;
use crate::db::schema::{link_days, links};
use crate::db::{Backend, Db, transaction};
use crate::system::SystemClock;

/// Links looked at in one transaction, most of which were never clicked.
const LINKS_AT_ONCE: i64 = 100;

const DELETE: &str = "DELETE FROM clicks WHERE link_id = $1 AND (occurred_at, id) IN (\
     SELECT occurred_at, id FROM clicks WHERE link_id = $1 ORDER BY occurred_at, id LIMIT $2)";

/// An answer below the limit says that nothing is left.
pub(super) fn erase_orphans(db: &Db, limit: u32) -> Result<usize, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut erased = 0;
    while erased < limit {
        let (clicks, is_more) = erase_some(db, limit - erased)?;
        erased += clicks;
        if !is_more {
            break;
        }
    }
    Ok(erased)
}

fn erase_some(db: &Db, limit: usize) -> Result<(usize, bool), StoreError> {
    let answer = transaction!(db, |conn| {
        let deleted: Vec<i64> = links::table
            .filter(links::deleted_at.is_not_null())
            .filter(links::erased_at.is_null())
            .order(links::id)
            .limit(LINKS_AT_ONCE)
            .select(links::id)
            .load(conn)?;
        let mut erased = 0;
        if !deleted.is_empty() {
            // Waits for batches that saw a link before it was deleted; later ones find it deleted.
            conn.lock_exclusively(LOADING_LOCK)?;
        }
        for &link in &deleted {
            let room = limit - erased;
            let removed = diesel::sql_query(DELETE)
                .bind::<BigInt, _>(link)
                .bind::<BigInt, _>(i64::try_from(room).unwrap_or(i64::MAX))
                .execute(conn)?;
            erased += removed;
            if removed == room {
                return Ok((erased, true));
            }
            diesel::delete(link_days::table.filter(link_days::link_id.eq(link))).execute(conn)?;
            // A note of what was done when; no rule depends on it, so the port doesn't ask for it.
            diesel::update(links::table.find(link))
                .set(links::erased_at.eq(SystemClock.now().timestamp_micros()))
                .execute(conn)?;
        }
        Ok((erased, !deleted.is_empty()))
    })?;
    Ok(answer)
}
