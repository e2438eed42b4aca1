//! API keys in the database.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use signpost_domain::access::{
    ApiKey, ApiKeyDraft, ApiKeyId, KeyKind, KeyName, Scope, Scopes, SecretHash,
};
use signpost_domain::app::AppId;
use signpost_domain::ports::{ApiKeyRepository, StoreError};

use crate::db::schema::api_keys;
use crate::db::{Db, DbError, on, transaction};
use crate::parse::{moment, optional_moment};

/// API keys in SQL.
#[derive(Clone)]
pub struct SqlApiKeys {
    db: Db,
}

impl SqlApiKeys {
    /// The keys of a database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}

#[derive(Insertable)]
#[diesel(table_name = api_keys, treat_none_as_default_value = false)]
struct NewRow<'a> {
    app_id: i64,
    hash: &'a [u8],
    kind: &'static str,
    prefix: &'a str,
    name: &'a str,
    scopes: String,
    created_at: i64,
    expires_at: Option<i64>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys)]
struct ApiKeyRow {
    id: i64,
    app_id: i64,
    kind: String,
    prefix: String,
    name: String,
    scopes: String,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TryFrom<ApiKeyRow> for ApiKey {
    type Error = DbError;

    fn try_from(row: ApiKeyRow) -> Result<Self, DbError> {
        let scopes =
            parse_scopes(&row.scopes).map_err(|e| DbError::corrupt("api_keys", "scopes", e))?;
        if KeyKind::parse(&row.kind) != Some(scopes.kind()) {
            return Err(DbError::corrupt("api_keys", "kind", "not the kind of its scopes"));
        }
        Ok(Self {
            id: ApiKeyId(row.id),
            app_id: AppId(row.app_id),
            prefix: row.prefix,
            name: KeyName::parse(&row.name).map_err(|e| DbError::corrupt("api_keys", "name", e))?,
            scopes,
            created_at: moment(row.created_at, "api_keys", "created_at")?,
            expires_at: optional_moment(row.expires_at, "api_keys", "expires_at")?,
            revoked_at: optional_moment(row.revoked_at, "api_keys", "revoked_at")?,
            last_used_at: optional_moment(row.last_used_at, "api_keys", "last_used_at")?,
        })
    }
}

fn parse_scopes(text: &str) -> Result<Scopes, signpost_domain::Invalid> {
    let scopes = text.split(' ').map(Scope::parse).collect::<Result<Vec<_>, _>>()?;
    Scopes::new(scopes)
}

impl ApiKeyRepository for SqlApiKeys {
    fn insert(&self, draft: &ApiKeyDraft) -> Result<ApiKey, StoreError> {
        let scopes: Vec<&str> = draft.scopes.iter().map(Scope::as_str).collect();
        let row = NewRow {
            app_id: draft.app_id.0,
            hash: &draft.hash.0,
            kind: draft.scopes.kind().as_str(),
            prefix: &draft.prefix,
            name: draft.name.as_str(),
            scopes: scopes.join(" "),
            created_at: draft.created_at.timestamp_micros(),
            expires_at: draft.expires_at.map(|at| at.timestamp_micros()),
        };
        let stored: ApiKeyRow = on!(self.db.write()?, |conn| {
            diesel::insert_into(api_keys::table)
                .values(&row)
                .returning(ApiKeyRow::as_returning())
                .get_result(conn)
        })
        .map_err(DbError::from)?;
        Ok(stored.try_into()?)
    }

    fn find_by_hash(&self, hash: SecretHash) -> Result<Option<ApiKey>, StoreError> {
        let query = api_keys::table.filter(api_keys::hash.eq(&hash.0[..]));
        let row: Option<ApiKeyRow> = on!(self.db.read()?, |conn| query
            .select(ApiKeyRow::as_select())
            .first(conn)
            .optional())
        .map_err(DbError::from)?;
        Ok(row.map(ApiKey::try_from).transpose()?)
    }

    fn list(&self, app: Option<AppId>) -> Result<Vec<ApiKey>, StoreError> {
        let query = api_keys::table.order((api_keys::created_at.desc(), api_keys::id.desc()));
        let rows: Vec<ApiKeyRow> = match app {
            Some(app) => {
                let query = query.filter(api_keys::app_id.eq(app.0));
                on!(self.db.read()?, |conn| query.select(ApiKeyRow::as_select()).load(conn))
            }
            None => on!(self.db.read()?, |conn| query.select(ApiKeyRow::as_select()).load(conn)),
        }
        .map_err(DbError::from)?;
        Ok(rows.into_iter().map(ApiKey::try_from).collect::<Result<_, _>>()?)
    }

    fn revoke(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let found = transaction!(self.db, |conn| {
            let key = api_keys::table.find(id.0);
            diesel::update(key.filter(api_keys::revoked_at.is_null()))
                .set(api_keys::revoked_at.eq(now.timestamp_micros()))
                .execute(conn)?;
            Ok(diesel::select(diesel::dsl::exists(key)).get_result(conn)?)
        })?;
        Ok(found)
    }

    fn touch(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<(), StoreError> {
        let now = now.timestamp_micros();
        // Nodes whose clocks differ must not move the last use back.
        let older = api_keys::last_used_at.is_null().or(api_keys::last_used_at.lt(now));
        let update = diesel::update(api_keys::table.find(id.0).filter(older))
            .set(api_keys::last_used_at.eq(now));
        on!(self.db.write()?, |conn| update.execute(conn)).map_err(DbError::from)?;
        Ok(())
    }
}
