//! The statements on links, once for both backends.

use diesel::prelude::*;
use signpost_domain::link::{LinkFilter, LinkStatus, Tags};
use signpost_domain::page::PageRequest;
use signpost_domain::ports::IdempotencyKey;

use super::idempotency::{KeptColumns, KeptRow};
use super::row::{LinkColumns, LinkRow, RouteRow};
use crate::changes::ChangeStatements;
use crate::db::schema::{idempotency, link_tags, links};
use crate::db::{Backend, for_both};

/// Which link is meant; a deleted one never is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    /// The app's link with this code.
    OfApp(i64, &'a str),
    /// The link with this code.
    Code(&'a str),
    /// The link with this number.
    Id(i64),
}

/// The statements on links.
pub(super) trait LinkStatements: Backend + ChangeStatements {
    fn link(&mut self, which: Which<'_>) -> QueryResult<Option<LinkRow>>;

    fn route(&mut self, code: &str) -> QueryResult<Option<RouteRow>>;

    /// The rows of a page.
    fn page(
        &mut self,
        app: i64,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> QueryResult<Vec<LinkRow>>;

    /// The length of the list that a page is cut from.
    fn total(&mut self, app: i64, filter: &LinkFilter) -> QueryResult<i64>;

    /// Stores a link and answers its number, or `None` when its code is in use.
    fn insert(&mut self, link: &LinkColumns<'_>) -> QueryResult<Option<i64>>;

    /// Stores links and answers numbers and codes of those whose code was free.
    fn insert_all(&mut self, links: &[LinkColumns<'_>]) -> QueryResult<Vec<(i64, String)>>;

    fn insert_tags(&mut self, links: &[(i64, &Tags)]) -> QueryResult<()>;

    fn delete_tags(&mut self, link: i64) -> QueryResult<()>;

    fn update(&mut self, link: i64, columns: &LinkColumns<'_>) -> QueryResult<()>;

    /// Erases the content of the app's link and answers its number.
    fn blank(&mut self, app: i64, code: &str, now: i64) -> QueryResult<Option<i64>>;

    /// Takes a free request key, or one whose answer is `cutoff` old; false when it is in use.
    fn claim(&mut self, row: &KeptColumns<'_>, cutoff: i64) -> QueryResult<bool>;

    /// The answer kept under a request key after `cutoff`.
    fn kept(&mut self, key: &IdempotencyKey, cutoff: i64) -> QueryResult<Option<KeptRow>>;

    /// Keeps the answer under a claimed request key.
    fn keep(&mut self, row: &KeptColumns<'_>) -> QueryResult<()>;

    /// Removes answers that are `cutoff` old and says how many.
    fn forget(&mut self, cutoff: i64) -> QueryResult<usize>;
}

/// The links of an app that meet a filter, as a boxed query of the connection's backend.
macro_rules! filtered {
    ($app:expr, $filter:expr) => {{
        let mut query = links::table
            .filter(links::app_id.eq($app))
            .filter(links::deleted_at.is_null())
            .into_boxed::<<Self as Connection>::Backend>();
        if let Some(term) = &$filter.search {
            query = query.filter(links::search_text.like(containing(term.folded())).escape('\\'));
        }
        if let Some(channel) = &$filter.channel {
            query = query.filter(links::channel.eq(channel));
        }
        if let Some(campaign) = &$filter.campaign {
            query = query.filter(links::campaign.eq(campaign));
        }
        for tag in &$filter.tags {
            let tagged =
                link_tags::table.filter(link_tags::tag.eq(tag.as_str())).select(link_tags::link_id);
            query = query.filter(links::id.eq_any(tagged));
        }
        match $filter.status {
            Some(LinkStatus::Active(now)) => query.filter(
                links::expires_at
                    .is_null()
                    .or(links::expires_at.gt(now.timestamp_micros()).assume_not_null()),
            ),
            Some(LinkStatus::Expired(now)) => {
                query.filter(links::expires_at.le(now.timestamp_micros()))
            }
            None => query,
        }
    }};
}

for_both! {
impl LinkStatements {
    fn link(&mut self, which: Which<'_>) -> QueryResult<Option<LinkRow>> {
        let query = links::table.filter(links::deleted_at.is_null()).select(LinkRow::as_select());
        match which {
            Which::OfApp(app, code) => query
                .filter(links::app_id.eq(app))
                .filter(links::short_code.eq(code))
                .first(self),
            Which::Code(code) => query.filter(links::short_code.eq(code)).first(self),
            Which::Id(id) => query.filter(links::id.eq(id)).first(self),
        }
        .optional()
    }

    fn route(&mut self, code: &str) -> QueryResult<Option<RouteRow>> {
        links::table
            .filter(links::short_code.eq(code))
            .filter(links::deleted_at.is_null())
            .select(RouteRow::as_select())
            .first(self)
            .optional()
    }

    fn page(
        &mut self,
        app: i64,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> QueryResult<Vec<LinkRow>> {
        filtered!(app, filter)
            .order((links::created_at.desc(), links::id.desc()))
            .limit(page.limit().into())
            .offset(page.offset())
            .select(LinkRow::as_select())
            .load(self)
    }

    fn total(&mut self, app: i64, filter: &LinkFilter) -> QueryResult<i64> {
        filtered!(app, filter).count().get_result(self)
    }

    fn insert(&mut self, link: &LinkColumns<'_>) -> QueryResult<Option<i64>> {
        // Read to the end: outside a transaction SQLite commits with the last step, and an error
        // of the commit must not get lost.
        let ids: Vec<i64> = diesel::insert_into(links::table)
            .values(link)
            .on_conflict(links::short_code)
            .do_nothing()
            .returning(links::id)
            .load(self)?;
        Ok(ids.into_iter().next())
    }

    fn insert_all(&mut self, links: &[LinkColumns<'_>]) -> QueryResult<Vec<(i64, String)>> {
        diesel::insert_into(links::table)
            .values(links)
            .on_conflict(links::short_code)
            .do_nothing()
            .returning((links::id, links::short_code))
            .load(self)
    }

    fn insert_tags(&mut self, links: &[(i64, &Tags)]) -> QueryResult<()> {
        let rows: Vec<_> = links
            .iter()
            .flat_map(|(link, tags)| {
                (0_i64..).zip(tags.iter()).map(|(position, tag)| {
                    (
                        link_tags::link_id.eq(*link),
                        link_tags::position.eq(position),
                        link_tags::tag.eq(tag.as_str()),
                    )
                })
            })
            .collect();
        if !rows.is_empty() {
            diesel::insert_into(link_tags::table).values(&rows).execute(self)?;
        }
        Ok(())
    }

    fn delete_tags(&mut self, link: i64) -> QueryResult<()> {
        diesel::delete(link_tags::table.filter(link_tags::link_id.eq(link))).execute(self)?;
        Ok(())
    }

    fn update(&mut self, link: i64, columns: &LinkColumns<'_>) -> QueryResult<()> {
        diesel::update(links::table.find(link)).set(columns).execute(self)?;
        Ok(())
    }

    fn blank(&mut self, app: i64, code: &str, now: i64) -> QueryResult<Option<i64>> {
        let nothing = None::<&str>;
        let link = links::table
            .filter(links::app_id.eq(app))
            .filter(links::short_code.eq(code))
            .filter(links::deleted_at.is_null());
        diesel::update(link)
            .set((
                links::payload.eq(nothing),
                links::og_title.eq(nothing),
                links::og_description.eq(nothing),
                links::og_image_url.eq(nothing),
                links::channel.eq(nothing),
                links::campaign.eq(nothing),
                links::ios_redirect_url.eq(nothing),
                links::android_redirect_url.eq(nothing),
                links::web_redirect_url.eq(nothing),
                links::expired_redirect_url.eq(nothing),
                links::expires_at.eq(None::<i64>),
                links::search_text.eq(""),
                links::version.eq(links::version + 1),
                links::updated_at.eq(now),
                links::deleted_at.eq(now),
            ))
            .returning(links::id)
            .get_result(self)
            .optional()
    }

    fn claim(&mut self, row: &KeptColumns<'_>, cutoff: i64) -> QueryResult<bool> {
        use diesel::query_dsl::methods::FilterDsl as _;
        let claimed = diesel::insert_into(idempotency::table)
            .values(row)
            .on_conflict((idempotency::app_id, idempotency::key_id, idempotency::key))
            .do_update()
            .set(row)
            .filter(idempotency::created_at.le(cutoff))
            .execute(self)?;
        Ok(claimed > 0)
    }

    fn kept(&mut self, key: &IdempotencyKey, cutoff: i64) -> QueryResult<Option<KeptRow>> {
        idempotency::table
            .find((key.app_id.0, key.key_id.0, &key.text))
            .filter(idempotency::created_at.gt(cutoff))
            .select(KeptRow::as_select())
            .first(self)
            .optional()
    }

    fn keep(&mut self, row: &KeptColumns<'_>) -> QueryResult<()> {
        diesel::update(row).set(row).execute(self)?;
        Ok(())
    }

    fn forget(&mut self, cutoff: i64) -> QueryResult<usize> {
        diesel::delete(idempotency::table.filter(idempotency::created_at.le(cutoff))).execute(self)
    }
}
}

/// A `LIKE` pattern for texts that contain `part`, whose own wildcards are plain characters.
fn containing(part: &str) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for c in part.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
