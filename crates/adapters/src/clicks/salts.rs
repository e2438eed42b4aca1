//! The salts of the days, under which visitors count.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use rand::Rng;
use signpost_domain::click::DaySalt;
use signpost_domain::ports::StoreError;

use super::day_of;
use crate::db::schema::visitor_salts;
use crate::db::{Db, DbError, for_both, on};
use crate::system::os_random;

/// A salt is forgotten so long after its day began.
const KEPT: TimeDelta = TimeDelta::hours(48);

/// What stands in place of a forgotten salt. The row stays, because without it the next late click
/// would make a second salt, under which each visitor of the day would count again.
const FORGOTTEN: &[u8] = &[];

/// The salts of days; a day whose salt is forgotten has none.
pub(super) type Salts = HashMap<i64, DaySalt>;

/// The salts of some days, in order; a day that never had one gets one, unless somebody else is
/// quicker.
pub(super) fn of_days(conn: &mut dyn SaltStatements, days: &[i64]) -> Result<Salts, DbError> {
    let mut salts = Salts::new();
    for &day in days {
        let mut bytes = conn.salt(day)?;
        if bytes.is_none() {
            let mut salt = [0; 16];
            os_random().fill_bytes(&mut salt);
            conn.offer_salt(day, &salt)?;
            bytes = conn.salt(day)?;
        }
        let bytes = bytes.unwrap_or_default();
        if bytes != FORGOTTEN {
            let salt = bytes[..].try_into();
            let wrong = |_| DbError::corrupt("visitor_salts", "salt", "not 16 bytes");
            salts.insert(day, DaySalt(salt.map_err(wrong)?));
        }
    }
    Ok(salts)
}

pub(super) fn forget(db: &Db, now: DateTime<Utc>) -> Result<usize, StoreError> {
    let last = day_of(now - KEPT);
    let old = visitor_salts::table
        .filter(visitor_salts::day.le(last))
        .filter(visitor_salts::salt.ne(FORGOTTEN));
    let forgotten = on!(db.write()?, |conn| diesel::update(old)
        .set(visitor_salts::salt.eq(FORGOTTEN))
        .execute(conn));
    Ok(forgotten.map_err(DbError::from)?)
}

/// The statements on salts.
pub(super) trait SaltStatements {
    fn salt(&mut self, day: i64) -> QueryResult<Option<Vec<u8>>>;

    /// Makes this the salt of a day that has none.
    fn offer_salt(&mut self, day: i64, salt: &[u8]) -> QueryResult<()>;
}

for_both! {
impl SaltStatements {
    fn salt(&mut self, day: i64) -> QueryResult<Option<Vec<u8>>> {
        visitor_salts::table.find(day).select(visitor_salts::salt).first(self).optional()
    }

    fn offer_salt(&mut self, day: i64, salt: &[u8]) -> QueryResult<()> {
        diesel::insert_into(visitor_salts::table)
            .values((visitor_salts::day.eq(day), visitor_salts::salt.eq(salt)))
            .on_conflict_do_nothing()
            .execute(self)?;
        Ok(())
    }
}
}
