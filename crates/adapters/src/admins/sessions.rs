//! Sessions and the refresh tokens that keep them open.
#![expect(clippy::ref_option_ref, reason = "diesel's derive borrows every field")]

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use signpost_domain::access::{AdminId, SecretHash, Session, SessionId};
use signpost_domain::ports::{NewSession, Rotation, SignedIn, StoreError};
use uuid::Uuid;

use super::{AdminRow, apps_of};
use crate::db::schema::{admins, refresh_tokens, sessions};
use crate::db::{Db, DbError, on, transaction};
use crate::parse::moment;

#[derive(Queryable, Selectable)]
#[diesel(table_name = sessions)]
struct SessionRow {
    sid: Vec<u8>,
    admin_id: i64,
    created_at: i64,
    expires_at: i64,
    user_agent: Option<String>,
    network: Option<String>,
}

impl TryFrom<SessionRow> for Session {
    type Error = DbError;

    fn try_from(row: SessionRow) -> Result<Self, DbError> {
        let id = Uuid::from_slice(&row.sid).map_err(|e| DbError::corrupt("sessions", "sid", e))?;
        Ok(Self {
            id: SessionId(id),
            admin_id: AdminId(row.admin_id),
            created_at: moment(row.created_at, "sessions", "created_at")?,
            expires_at: moment(row.expires_at, "sessions", "expires_at")?,
            user_agent: row.user_agent,
            network: row.network,
        })
    }
}

/// A session's rows, read together.
type Found = (SessionRow, AdminRow, Vec<i64>);

fn signed_in((session, admin, apps): Found) -> Result<SignedIn, DbError> {
    Ok(SignedIn { session: session.try_into()?, admin: admin.with_apps(apps)? })
}

/// Neither ended nor expired, and of an admin who is not disabled.
#[diesel::dsl::auto_type(no_type_alias)]
fn open_sessions(now: i64) -> _ {
    sessions::table
        .inner_join(admins::table.on(sessions::admin_id.eq(admins::id)))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .filter(admins::disabled_at.is_null())
}

#[derive(Insertable)]
#[diesel(table_name = sessions, treat_none_as_default_value = false)]
struct NewRow<'a> {
    sid: &'a [u8],
    admin_id: i64,
    created_at: i64,
    expires_at: i64,
    user_agent: Option<&'a str>,
    network: Option<&'a str>,
}

pub(super) fn open(db: &Db, new: &NewSession) -> Result<(), StoreError> {
    let NewSession { session, refresh } = new;
    let sid = session.id.0.as_bytes().as_slice();
    let row = NewRow {
        sid,
        admin_id: session.admin_id.0,
        created_at: session.created_at.timestamp_micros(),
        expires_at: session.expires_at.timestamp_micros(),
        user_agent: session.user_agent.as_deref(),
        network: session.network.as_deref(),
    };
    let token = (
        refresh_tokens::hash.eq(refresh.0.as_slice()),
        refresh_tokens::sid.eq(sid),
        refresh_tokens::issued_at.eq(row.created_at),
    );
    transaction!(db, |conn| {
        diesel::insert_into(sessions::table).values(&row).execute(conn)?;
        diesel::insert_into(refresh_tokens::table).values(token).execute(conn)?;
        Ok(())
    })?;
    Ok(())
}

pub(super) fn find(
    db: &Db,
    id: SessionId,
    now: DateTime<Utc>,
) -> Result<Option<SignedIn>, StoreError> {
    let query =
        open_sessions(now.timestamp_micros()).filter(sessions::sid.eq(id.0.as_bytes().as_slice()));
    let found: Option<Found> = on!(db.read()?, |conn| {
        let found =
            query.select((SessionRow::as_select(), AdminRow::as_select())).first(conn).optional();
        found.and_then(|found| {
            found
                .map(|(session, admin)| {
                    apps_of(admin.id).load::<i64>(conn).map(|apps| (session, admin, apps))
                })
                .transpose()
        })
    })
    .map_err(DbError::from)?;
    Ok(found.map(signed_in).transpose()?)
}

pub(super) fn rotate(
    db: &Db,
    used: &SecretHash,
    successor: &SecretHash,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<Rotation, StoreError> {
    let now = now.timestamp_micros();
    let used = used.0.as_slice();
    let rotation = transaction!(db, |conn| {
        let sid: Option<Vec<u8>> =
            refresh_tokens::table.find(used).select(refresh_tokens::sid).first(conn).optional()?;
        let Some(sid) = sid else { return Ok(Rotation::Unknown) };
        let open: Option<(SessionRow, AdminRow)> = open_sessions(now)
            .filter(sessions::sid.eq(&sid))
            .select((SessionRow::as_select(), AdminRow::as_select()))
            .first(conn)
            .optional()?;
        let Some((session, admin)) = open else { return Ok(Rotation::Unknown) };
        // Writing to the session first makes two rotations of one session wait for each other.
        let extended = diesel::update(sessions::table.find(&sid))
            .filter(sessions::ended_at.is_null())
            .set(sessions::expires_at.eq(expires_at.timestamp_micros()))
            .execute(conn)?;
        if extended == 0 {
            return Ok(Rotation::Unknown);
        }
        let claimed = diesel::update(refresh_tokens::table.find(used))
            .filter(refresh_tokens::used_at.is_null())
            .set(refresh_tokens::used_at.eq(now))
            .execute(conn)?;
        if claimed == 0 {
            diesel::update(sessions::table.find(&sid))
                .set(sessions::ended_at.eq(now))
                .execute(conn)?;
            return Ok(Rotation::Reused);
        }
        diesel::insert_into(refresh_tokens::table)
            .values((
                refresh_tokens::hash.eq(successor.0.as_slice()),
                refresh_tokens::sid.eq(&sid),
                refresh_tokens::issued_at.eq(now),
            ))
            .execute(conn)?;
        let session = SessionRow { expires_at: expires_at.timestamp_micros(), ..session };
        let apps = apps_of(admin.id).load::<i64>(conn)?;
        Ok(Rotation::Rotated(Box::new(signed_in((session, admin, apps))?)))
    })?;
    Ok(rotation)
}

pub(super) fn list(
    db: &Db,
    admin: AdminId,
    now: DateTime<Utc>,
) -> Result<Vec<Session>, StoreError> {
    let query = open_sessions(now.timestamp_micros())
        .filter(sessions::admin_id.eq(admin.0))
        .order((sessions::created_at.desc(), sessions::sid));
    let rows: Vec<SessionRow> =
        on!(db.read()?, |conn| query.select(SessionRow::as_select()).load(conn))
            .map_err(DbError::from)?;
    Ok(rows.into_iter().map(Session::try_from).collect::<Result<_, _>>()?)
}

pub(super) fn end(
    db: &Db,
    admin: AdminId,
    id: SessionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let now = now.timestamp_micros();
    let update = diesel::update(sessions::table.find(id.0.as_bytes().as_slice()))
        .filter(sessions::admin_id.eq(admin.0))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .set(sessions::ended_at.eq(now));
    let ended = on!(db.write()?, |conn| update.execute(conn)).map_err(DbError::from)?;
    Ok(ended > 0)
}
