//! The first start on an empty database.

use diesel::prelude::*;
use signpost_domain::access::{Role, Scope};
use signpost_domain::app::{App, AppId};
use signpost_domain::ports::{FirstContent, Installation, StoreError};

use crate::apps::statements::AppStatements;
use crate::db::schema::{admins, api_keys, apps};
use crate::db::{Backend, Db, DbError, for_both, transaction};

/// Names the lock of those who fill an empty database.
const FILL_LOCK: i64 = 0x6669_6c6c;

/// Fills the database when it is empty.
#[derive(Clone)]
pub struct SqlInstallation {
    db: Db,
}

impl SqlInstallation {
    /// The installation in `db`.
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}

impl Installation for SqlInstallation {
    fn fill(&self, first: &FirstContent) -> Result<Option<App>, StoreError> {
        Ok(transaction!(self.db, |conn| fill(conn, first))?)
    }
}

fn fill(
    conn: &mut dyn InstallationStatements,
    first: &FirstContent,
) -> Result<Option<App>, DbError> {
    conn.lock_exclusively(FILL_LOCK)?;
    if conn.is_in_use()? {
        return Ok(None);
    }
    let Some(app) = crate::apps::insert(conn, &first.app)? else { return Ok(None) };
    conn.insert_keys(app.id, first)?;
    conn.insert_owner(first)?;
    Ok(Some(app))
}

trait InstallationStatements: AppStatements + Backend {
    /// True when there is, or was, an app or an admin.
    fn is_in_use(&mut self) -> QueryResult<bool>;

    fn insert_keys(&mut self, app: AppId, first: &FirstContent) -> QueryResult<()>;

    fn insert_owner(&mut self, first: &FirstContent) -> QueryResult<()>;
}

for_both! {
impl InstallationStatements {
    fn is_in_use(&mut self) -> QueryResult<bool> {
        use diesel::dsl::exists;
        let (app, admin) = (apps::table.select(apps::id), admins::table.select(admins::id));
        diesel::select(exists(app).or(exists(admin))).get_result(self)
    }

    fn insert_keys(&mut self, app: AppId, first: &FirstContent) -> QueryResult<()> {
        let rows: Vec<_> = first
            .keys
            .iter()
            .map(|(hash, prefix, name, scopes)| {
                let names: Vec<_> = scopes.iter().map(Scope::as_str).collect();
                (
                    api_keys::app_id.eq(app.0),
                    api_keys::hash.eq(&hash.0[..]),
                    api_keys::kind.eq(scopes.kind().as_str()),
                    api_keys::prefix.eq(prefix),
                    api_keys::name.eq(name.as_str()),
                    api_keys::scopes.eq(names.join(" ")),
                    api_keys::created_at.eq(first.now.timestamp_micros()),
                )
            })
            .collect();
        diesel::insert_into(api_keys::table).values(&rows).execute(self)?;
        Ok(())
    }

    fn insert_owner(&mut self, first: &FirstContent) -> QueryResult<()> {
        diesel::insert_into(admins::table)
            .values((
                admins::email_lower.eq(first.owner.as_str()),
                admins::password_hash.eq(&first.password.0),
                admins::role.eq(Role::Owner.as_str()),
                admins::created_at.eq(first.now.timestamp_micros()),
            ))
            .execute(self)?;
        Ok(())
    }
}
}
