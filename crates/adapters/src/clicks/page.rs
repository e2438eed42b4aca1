//! Listing clicks.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use signpost_domain::click::Click;
use signpost_domain::ports::{ClickPage, ClickQuery, StoreError};

use super::count;
use super::row::ClickRow;
use crate::db::schema::{clicks, user_agents};
use crate::db::{Db, DbError, on};

/// Stops counting after `$5` clicks: an exact count of millions would take longer than the page.
/// Both databases read these placeholders, and diesel can't select from a subquery.
const COUNT: &str = "SELECT COUNT(*) AS n FROM (\
     SELECT 1 FROM clicks \
     WHERE link_id = $1 AND occurred_at >= $2 AND occurred_at < $3 AND (is_bot = FALSE OR is_bot = $4) \
     LIMIT $5) AS matching";

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

pub(super) fn page(db: &Db, query: &ClickQuery) -> Result<ClickPage, StoreError> {
    let from = query.from.map_or(i64::MIN, |at| at.timestamp_micros());
    let until = query.until.map_or(i64::MAX, |at| at.timestamp_micros());
    let counted = diesel::sql_query(COUNT)
        .bind::<BigInt, _>(query.link.0)
        .bind::<BigInt, _>(from)
        .bind::<BigInt, _>(until)
        .bind::<Bool, _>(query.include_bots)
        .bind::<BigInt, _>(i64::from(query.count_to) + 1);
    let cursor = query.after.map(|cursor| (cursor.at.timestamp_micros(), cursor.id));
    let (at, id) = cursor.as_ref().map_or((i64::MAX, &[][..]), |(at, id)| (*at, id.0.as_bytes()));
    let listed = clicks::table
        .left_join(user_agents::table.on(clicks::ua_hash.eq(user_agents::hash.nullable())))
        .filter(clicks::link_id.eq(query.link.0))
        .filter(clicks::occurred_at.ge(from))
        .filter(clicks::occurred_at.lt(until))
        .filter(clicks::is_bot.eq(false).or(clicks::is_bot.eq(query.include_bots)))
        // The first of these two says nothing new, but lets the index find the place.
        .filter(clicks::occurred_at.le(at))
        .filter(clicks::occurred_at.lt(at).or(clicks::id.lt(id)))
        .order((clicks::occurred_at.desc(), clicks::id.desc()))
        .offset(i64::from(query.offset))
        .limit(i64::from(query.limit));
    let (counted, rows): (Counted, Vec<(ClickRow, Option<String>)>) =
        on!(db.read()?, |conn| counted.get_result::<Counted>(conn).and_then(|counted| Ok((
            counted,
            listed.select((ClickRow::as_select(), user_agents::text.nullable())).load(conn)?
        ))))
        .map_err(DbError::from)?;
    let clicks: Result<Vec<Click>, DbError> =
        rows.into_iter().map(|(row, agent)| row.with_agent(agent)).collect();
    Ok(ClickPage { clicks: clicks?, total: count(counted.n) })
}
