//! Admins in the database. A disabled admin keeps their address, but is not found by it and has no
//! sessions.

mod sessions;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use signpost_domain::access::{Admin, AdminEmail, AdminId, Role, SecretHash, Session, SessionId};
use signpost_domain::app::AppId;
use signpost_domain::ports::{
    AdminRepository, InsertAdminError, NewSession, Rotation, SignedIn, StoreError, StoredPassword,
};

use crate::db::schema::{admin_apps, admins, sessions as sessions_table};
use crate::db::{Db, DbError, on, transaction};
use crate::parse::moment;

/// Admins and their sessions in SQL.
#[derive(Clone)]
pub struct SqlAdmins {
    db: Db,
}

impl SqlAdmins {
    /// The admins of a database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}

#[derive(Insertable)]
#[diesel(table_name = admins)]
struct NewRow<'a> {
    email_lower: &'a str,
    password_hash: &'a str,
    role: &'static str,
    created_at: i64,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = admins)]
struct AdminRow {
    id: i64,
    email_lower: String,
    role: String,
    created_at: i64,
}

impl AdminRow {
    fn with_apps(self, apps: Vec<i64>) -> Result<Admin, DbError> {
        Ok(Admin {
            id: AdminId(self.id),
            email: AdminEmail::parse(&self.email_lower)
                .map_err(|e| DbError::corrupt("admins", "email_lower", e))?,
            role: Role::parse(&self.role).map_err(|e| DbError::corrupt("admins", "role", e))?,
            apps: apps.into_iter().map(AppId).collect(),
            created_at: moment(self.created_at, "admins", "created_at")?,
        })
    }
}

#[diesel::dsl::auto_type(no_type_alias)]
fn apps_of(admin: i64) -> _ {
    admin_apps::table
        .filter(admin_apps::admin_id.eq(admin))
        .order(admin_apps::app_id)
        .select(admin_apps::app_id)
}

impl AdminRepository for SqlAdmins {
    fn insert(
        &self,
        email: &AdminEmail,
        password: &StoredPassword,
        role: Role,
        apps: &[AppId],
        now: DateTime<Utc>,
    ) -> Result<Admin, InsertAdminError> {
        let mut apps: Vec<i64> = apps.iter().map(|app| app.0).collect();
        apps.sort_unstable();
        apps.dedup();
        let row = NewRow {
            email_lower: email.as_str(),
            password_hash: &password.0,
            role: role.as_str(),
            created_at: now.timestamp_micros(),
        };
        let stored: Option<AdminRow> = transaction!(self.db, |conn| {
            let stored: Option<AdminRow> = diesel::insert_into(admins::table)
                .values(&row)
                .on_conflict(admins::email_lower)
                .do_nothing()
                .returning(AdminRow::as_returning())
                .get_result(conn)
                .optional()?;
            if let Some(stored) = &stored {
                let named: Vec<_> = apps
                    .iter()
                    .map(|app| (admin_apps::admin_id.eq(stored.id), admin_apps::app_id.eq(app)))
                    .collect();
                diesel::insert_into(admin_apps::table).values(&named).execute(conn)?;
            }
            Ok(stored)
        })
        .map_err(StoreError::from)?;
        let stored = stored.ok_or(InsertAdminError::EmailTaken)?;
        Ok(stored.with_apps(apps).map_err(StoreError::from)?)
    }

    fn find_by_email(
        &self,
        email: &AdminEmail,
    ) -> Result<Option<(Admin, StoredPassword)>, StoreError> {
        let query = admins::table
            .filter(admins::email_lower.eq(email.as_str()))
            .filter(admins::disabled_at.is_null());
        let found: Option<(AdminRow, String, Vec<i64>)> = on!(self.db.read()?, |conn| {
            let found = query
                .select((AdminRow::as_select(), admins::password_hash))
                .first::<(AdminRow, String)>(conn)
                .optional();
            found.and_then(|found| {
                found
                    .map(|(row, hash)| {
                        apps_of(row.id).load::<i64>(conn).map(|apps| (row, hash, apps))
                    })
                    .transpose()
            })
        })
        .map_err(DbError::from)?;
        let Some((row, hash, apps)) = found else { return Ok(None) };
        Ok(Some((row.with_apps(apps)?, StoredPassword(hash))))
    }

    fn set_password(
        &self,
        email: &AdminEmail,
        password: &StoredPassword,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let found = transaction!(self.db, |conn| {
            let admin: Option<i64> = diesel::update(admins::table)
                .filter(admins::email_lower.eq(email.as_str()))
                .filter(admins::disabled_at.is_null())
                .set(admins::password_hash.eq(&password.0))
                .returning(admins::id)
                .get_result(conn)
                .optional()?;
            let Some(admin) = admin else { return Ok(false) };
            diesel::update(sessions_table::table)
                .filter(sessions_table::admin_id.eq(admin))
                .filter(sessions_table::ended_at.is_null())
                .set(sessions_table::ended_at.eq(now.timestamp_micros()))
                .execute(conn)?;
            Ok(true)
        })?;
        Ok(found)
    }

    fn open_session(&self, session: &NewSession) -> Result<(), StoreError> {
        sessions::open(&self.db, session)
    }

    fn find_session(
        &self,
        id: SessionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SignedIn>, StoreError> {
        sessions::find(&self.db, id, now)
    }

    fn rotate(
        &self,
        used: SecretHash,
        successor: SecretHash,
        now: DateTime<Utc>,
        expires_at: DateTime<Utc>,
    ) -> Result<Rotation, StoreError> {
        sessions::rotate(&self.db, &used, &successor, now, expires_at)
    }

    fn sessions(&self, admin: AdminId, now: DateTime<Utc>) -> Result<Vec<Session>, StoreError> {
        sessions::list(&self.db, admin, now)
    }

    fn end_session(
        &self,
        admin: AdminId,
        id: SessionId,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        sessions::end(&self.db, admin, id, now)
    }
}
