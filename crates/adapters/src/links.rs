//! Links in the database.

mod idempotency;
mod insert;
mod row;
mod statements;

use chrono::{DateTime, Utc};
use diesel::result::Error;
use signpost_domain::app::AppId;
use signpost_domain::link::{
    Link, LinkDraft, LinkEdit, LinkFilter, LinkId, LinkVersion, Route, ShortCode,
};
use signpost_domain::page::{Page, PageRequest};
use signpost_domain::ports::{
    BodyHash, IdempotencyKey, Idempotent, Insertion, LinkRepository, StoreError, UpdateError,
};

use self::insert::End;
use self::row::LinkColumns;
use self::statements::{LinkStatements, Which};
use crate::changes::Changed;
use crate::db::{Db, DbError, on, transaction};

/// The links in the database.
#[derive(Clone)]
pub struct SqlLinks {
    db: Db,
}

impl SqlLinks {
    /// The links in `db`.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// What a visit needs of the link with this code; its payload is not even read.
    pub fn route(&self, code: &ShortCode) -> Result<Option<Route>, StoreError> {
        let row = on!(self.db.read()?, |conn| conn.route(code.as_str())).map_err(DbError::from)?;
        Ok(row.map(Route::try_from).transpose()?)
    }

    fn load(&self, which: Which<'_>) -> Result<Option<Link>, StoreError> {
        let row = on!(self.db.read()?, |conn| conn.link(which)).map_err(DbError::from)?;
        Ok(row.map(Link::try_from).transpose()?)
    }
}

impl LinkRepository for SqlLinks {
    fn insert(
        &self,
        drafts: &[LinkDraft],
        once: Option<Idempotent>,
    ) -> Result<Insertion, StoreError> {
        let Some(now) = drafts.first().map(|draft| draft.created_at) else {
            return Ok(Insertion::Fresh(Vec::new()));
        };
        let once = once.as_ref();
        if insert::is_one_statement(drafts, once) {
            return Ok(Insertion::Fresh(on!(self.db.write()?, |conn| insert::store(
                conn, drafts
            ))?));
        }
        let mut rolled_back = None;
        let committed = transaction!(self.db, |conn| {
            match insert::insert(conn, drafts, once, now)? {
                End::Commit(insertion) => Ok(insertion),
                End::RollBack(insertion) => {
                    rolled_back = Some(insertion);
                    Err(Error::RollbackTransaction.into())
                }
            }
        });
        Ok(rolled_back.map_or(committed, Ok)?)
    }

    fn find_answer(
        &self,
        key: &IdempotencyKey,
        body: BodyHash,
        now: DateTime<Utc>,
    ) -> Result<Option<Insertion>, StoreError> {
        let cutoff = idempotency::cutoff(now);
        let row = on!(self.db.read()?, |conn| conn.kept(key, cutoff)).map_err(DbError::from)?;
        Ok(row.map(|row| row.answer_to(body)).transpose()?)
    }

    fn find(&self, app: AppId, code: &ShortCode) -> Result<Option<Link>, StoreError> {
        self.load(Which::OfApp(app.0, code.as_str()))
    }

    fn find_by_id(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.load(Which::Id(id.0))
    }

    fn find_by_code(&self, code: &ShortCode) -> Result<Option<Link>, StoreError> {
        self.load(Which::Code(code.as_str()))
    }

    fn page(
        &self,
        app: AppId,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> Result<Page<Link>, StoreError> {
        Ok(on!(self.db.read()?, |conn| read_page(conn, app, filter, page))?)
    }

    fn update(
        &self,
        app: AppId,
        code: &ShortCode,
        edit: LinkEdit,
        expected: Option<Vec<LinkVersion>>,
        now: DateTime<Utc>,
    ) -> Result<Option<Link>, UpdateError> {
        let which = Which::OfApp(app.0, code.as_str());
        let edited =
            transaction!(self.db, |conn| apply(conn, which, edit, expected.as_deref(), now))
                .map_err(StoreError::from)?;
        match edited {
            Edited::Done(link) => Ok(Some(*link)),
            Edited::Absent => Ok(None),
            Edited::OtherVersion => Err(UpdateError::VersionMismatch),
        }
    }

    fn forget_answers(&self, now: DateTime<Utc>) -> Result<usize, StoreError> {
        let cutoff = idempotency::cutoff(now);
        Ok(on!(self.db.write()?, |conn| conn.forget(cutoff)).map_err(DbError::from)?)
    }

    fn remove(&self, app: AppId, code: &ShortCode, now: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(transaction!(self.db, |conn| erase(conn, app, code, now))?)
    }
}

fn read_page(
    conn: &mut dyn LinkStatements,
    app: AppId,
    filter: &LinkFilter,
    page: PageRequest,
) -> Result<Page<Link>, DbError> {
    let rows = conn.page(app.0, filter, page)?;
    let items = rows.into_iter().map(Link::try_from).collect::<Result<Vec<_>, _>>()?;
    let here = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let is_last = here < i64::from(page.limit()) && (here > 0 || page.offset() == 0);
    // The last page tells the length of the whole, and a count reads every link of the list.
    let total = if is_last { page.offset() + here } else { conn.total(app.0, filter)? };
    Ok(Page { items, total: total.unsigned_abs() })
}

enum Edited {
    Done(Box<Link>),
    Absent,
    OtherVersion,
}

fn apply(
    conn: &mut dyn LinkStatements,
    which: Which<'_>,
    edit: LinkEdit,
    expected: Option<&[LinkVersion]>,
    now: DateTime<Utc>,
) -> Result<Edited, DbError> {
    let Some(row) = conn.link(which)? else { return Ok(Edited::Absent) };
    let id = Link::try_from(row)?.id.0;
    conn.lock_link(id)?;
    // Read again: what was read without the lock may have changed.
    let Some(row) = conn.link(which)? else { return Ok(Edited::Absent) };
    let old = Link::try_from(row)?;
    if expected.is_some_and(|versions| !versions.contains(&old.version)) {
        return Ok(Edited::OtherVersion);
    }
    let new = edit.apply(&old, now);
    if new != old {
        conn.update(id, &LinkColumns::from(&new))?;
        conn.note_change(Changed::Link(new.code.as_str()), now)?;
        if new.content.tags != old.content.tags {
            conn.delete_tags(id)?;
            conn.insert_tags(&[(id, &new.content.tags)])?;
        }
    }
    Ok(Edited::Done(Box::new(new)))
}

fn erase(
    conn: &mut dyn LinkStatements,
    app: AppId,
    code: &ShortCode,
    now: DateTime<Utc>,
) -> Result<bool, DbError> {
    let at = now.timestamp_micros();
    let Some(id) = conn.blank(app.0, code.as_str(), at)? else { return Ok(false) };
    conn.delete_tags(id)?;
    conn.note_change(Changed::Link(code.as_str()), now)?;
    Ok(true)
}
