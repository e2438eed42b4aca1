//! Apps in the database.

mod row;
mod settings;
pub(crate) mod statements;

use chrono::{DateTime, Utc};
use signpost_domain::app::{App, AppDraft, AppId, AppPatch, Slug};
use signpost_domain::ports::{AppRepository, SaveAppError, StoreError};

use self::statements::{AppColumns, AppStatements, NewAppRow};
use crate::changes::Changed;
use crate::db::{Db, DbError, is_unique_violation, on, transaction};

/// The apps in the database.
#[derive(Clone)]
pub struct SqlApps {
    db: Db,
}

impl SqlApps {
    /// The apps in `db`.
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}

impl AppRepository for SqlApps {
    fn insert(&self, draft: &AppDraft) -> Result<App, SaveAppError> {
        transaction!(self.db, |conn| insert(conn, draft))
            .map_err(StoreError::from)?
            .ok_or(SaveAppError::SlugTaken)
    }

    fn find(&self, id: AppId) -> Result<Option<App>, StoreError> {
        let row = on!(self.db.read()?, |conn| conn.app(id.0)).map_err(DbError::from)?;
        Ok(row.map(App::try_from).transpose()?)
    }

    fn find_by_slug(&self, slug: &Slug) -> Result<Option<App>, StoreError> {
        let row = on!(self.db.read()?, |conn| conn.app_with_slug(slug.as_str()))
            .map_err(DbError::from)?;
        Ok(row.map(App::try_from).transpose()?)
    }

    fn list(&self) -> Result<Vec<App>, StoreError> {
        let rows = on!(self.db.read()?, |conn| conn.apps()).map_err(DbError::from)?;
        Ok(rows.into_iter().map(App::try_from).collect::<Result<_, _>>()?)
    }

    fn update(
        &self,
        id: AppId,
        patch: AppPatch,
        now: DateTime<Utc>,
    ) -> Result<Option<App>, SaveAppError> {
        let mut slug_taken = false;
        let updated = transaction!(self.db, |conn| update(conn, id.0, patch, now, &mut slug_taken));
        if slug_taken {
            return Err(SaveAppError::SlugTaken);
        }
        Ok(updated.map_err(StoreError::from)?)
    }
}

/// Stores an app inside a transaction, or answers `None` when its slug is in use.
pub(crate) fn insert(
    conn: &mut dyn AppStatements,
    draft: &AppDraft,
) -> Result<Option<App>, DbError> {
    let created_at = draft.created_at.timestamp_micros();
    let row = NewAppRow {
        columns: AppColumns {
            slug: draft.slug.as_str(),
            name: draft.name.as_str(),
            settings: settings::write(&draft.settings)?,
            updated_at: created_at,
        },
        version: 1,
        created_at,
    };
    let Some(id) = conn.insert_app(&row)? else { return Ok(None) };
    conn.set_hosts(id, &draft.hosts)?;
    // Unlike a new link, a new app changes something: a host may now be its own.
    conn.note_change(Changed::App(id), draft.created_at)?;
    conn.app(id)?.map(App::try_from).transpose()
}

/// Changes an app inside a transaction, which fails when the new slug is in use.
fn update(
    conn: &mut dyn AppStatements,
    id: i64,
    patch: AppPatch,
    now: DateTime<Utc>,
    slug_taken: &mut bool,
) -> Result<Option<App>, DbError> {
    conn.lock_app(id)?;
    let Some(row) = conn.app(id)? else { return Ok(None) };
    let old = App::try_from(row)?;
    let (slug, name, hosts, settings) = patch.apply(&old);
    let same = slug == old.slug && name == old.name && hosts == old.hosts;
    if same && settings == old.settings {
        return Ok(Some(old));
    }
    let columns = AppColumns {
        slug: slug.as_str(),
        name: name.as_str(),
        settings: settings::write(&settings)?,
        // A clock set back must not make a change look older than the creation.
        updated_at: now.max(old.created_at).timestamp_micros(),
    };
    conn.update_app(id, &columns).map_err(DbError::from).inspect_err(|error| {
        *slug_taken = is_unique_violation(error);
    })?;
    if hosts != old.hosts {
        conn.set_hosts(id, &hosts)?;
    }
    conn.note_change(Changed::App(id), now)?;
    conn.app(id)?.map(App::try_from).transpose()
}
