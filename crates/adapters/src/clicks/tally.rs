//! Counting clicks.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use signpost_domain::click::{DateRange, Tally};
use signpost_domain::link::LinkId;
use signpost_domain::ports::StoreError;

use super::count;
use super::row::{parse_device, parse_platform};
use crate::db::{Db, DbError, on};
use crate::parse::moment;

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// One pass over the range instead of one per dimension; the domain adds up what it needs.
const TALLY: &str = "SELECT occurred_at / 3600000000 AS hour, platform, browser, device, os, \
     country, referrer, is_bot, COUNT(*) AS clicks \
     FROM clicks WHERE link_id = $1 AND occurred_at >= $2 AND occurred_at < $3 \
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8";

/// `DISTINCT` takes two missing user agents for the same, as it should.
const VISITORS: &str = "SELECT \
     (SELECT COUNT(*) FROM (\
       SELECT DISTINCT occurred_at / 86400000000, ip, ua_hash FROM clicks \
       WHERE link_id = $1 AND occurred_at >= $2 AND occurred_at < $3 \
       AND is_bot = FALSE AND ip IS NOT NULL) AS visits) AS visitors, \
     EXISTS (SELECT 1 FROM clicks \
       WHERE link_id = $1 AND occurred_at >= $2 AND occurred_at < $3 AND ip IS NOT NULL) AS known";

#[derive(QueryableByName)]
struct TallyRow {
    #[diesel(sql_type = BigInt)]
    hour: i64,
    #[diesel(sql_type = Text)]
    platform: String,
    #[diesel(sql_type = Nullable<Text>)]
    browser: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    device: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    os: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    country: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    referrer: Option<String>,
    #[diesel(sql_type = Bool)]
    is_bot: bool,
    #[diesel(sql_type = BigInt)]
    clicks: i64,
}

#[derive(QueryableByName)]
struct VisitorsRow {
    #[diesel(sql_type = BigInt)]
    visitors: i64,
    #[diesel(sql_type = Bool)]
    known: bool,
}

impl TryFrom<TallyRow> for Tally {
    type Error = DbError;

    fn try_from(row: TallyRow) -> Result<Self, DbError> {
        Ok(Self {
            hour: moment(row.hour.saturating_mul(MICROS_PER_HOUR), "clicks", "occurred_at")?,
            platform: parse_platform(&row.platform)?,
            browser: row.browser,
            device: row.device.as_deref().map(parse_device).transpose()?,
            operating_system: row.os,
            country: row.country,
            referrer: row.referrer,
            is_bot: row.is_bot,
            clicks: count(row.clicks),
        })
    }
}

pub(super) fn tally(db: &Db, link: LinkId, range: DateRange) -> Result<Vec<Tally>, StoreError> {
    let (from, until) = range.bounds();
    let query = diesel::sql_query(TALLY)
        .bind::<BigInt, _>(link.0)
        .bind::<BigInt, _>(from.timestamp_micros())
        .bind::<BigInt, _>(until.timestamp_micros());
    let rows: Vec<TallyRow> = on!(db.read()?, |conn| query.load(conn)).map_err(DbError::from)?;
    Ok(rows.into_iter().map(Tally::try_from).collect::<Result<_, _>>()?)
}

pub(super) fn visitors(db: &Db, link: LinkId, range: DateRange) -> Result<Option<u64>, StoreError> {
    let (from, until) = range.bounds();
    let query = diesel::sql_query(VISITORS)
        .bind::<BigInt, _>(link.0)
        .bind::<BigInt, _>(from.timestamp_micros())
        .bind::<BigInt, _>(until.timestamp_micros());
    let row: VisitorsRow = on!(db.read()?, |conn| query.get_result(conn)).map_err(DbError::from)?;
    Ok(row.known.then(|| count(row.visitors)))
}
