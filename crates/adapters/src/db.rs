//! The database: one of two backends behind one set of queries.
//!
//! A diesel query is a value that does not know its backend; only executing it does. So each query
//! is written once, and `on!` and `transaction!` run the same expression against whichever
//! connection is in use. See docs/decisions/0002.

mod column;
mod error;
mod migrate;
mod open;
pub(crate) mod schema;
mod url;

pub(crate) use column::{SEPARATOR, computed_column, moment};
pub(crate) use error::{DbError, is_lock_timeout, is_unique_violation};
pub use migrate::{MigrateError, SchemaState};
pub use open::{Databases, Db, PoolSizes};
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

use diesel::pg::PgConnection;
use diesel::r2d2::{ConnectionManager, PooledConnection};
use diesel::sqlite::SqliteConnection;

/// A pooled connection to the backend in use.
pub(crate) enum Conn {
    /// To a Postgres server.
    Postgres(PooledConnection<ConnectionManager<PgConnection>>),
    /// To the embedded database.
    Sqlite(PooledConnection<ConnectionManager<SqliteConnection>>),
}

/// Runs an expression against the connection in use: `on!(db.read()?, |conn| query.load(conn))`.
///
/// Only what both backends can do compiles, which is the point.
macro_rules! on {
    ($conn:expr, |$name:ident| $query:expr) => {
        match $conn {
            $crate::db::Conn::Postgres(mut pooled) => {
                let $name = &mut *pooled;
                $query
            }
            $crate::db::Conn::Sqlite(mut pooled) => {
                let $name = &mut *pooled;
                $query
            }
        }
    };
}

/// Runs a block in a write transaction: `transaction!(db, |conn| { …; Ok(value) })`.
///
/// The block answers `Result<T, DbError>`; an error rolls everything back. On `SQLite` the
/// transaction is IMMEDIATE, so it waits for its turn at the start instead of failing in the
/// middle.
macro_rules! transaction {
    ($db:expr, |$name:ident| $body:expr) => {
        match $db.write()? {
            $crate::db::Conn::Postgres(mut pooled) => {
                diesel::connection::Connection::transaction::<_, $crate::db::DbError, _>(
                    &mut *pooled,
                    |$name| $body,
                )
            }
            $crate::db::Conn::Sqlite(mut pooled) => {
                pooled.immediate_transaction::<_, $crate::db::DbError, _>(|$name| $body)
            }
        }
    };
}

/// Implements a trait of statements for the connections of both backends, with the same bodies.
///
/// The trait can then be used as `&mut dyn Trait`, so that what decides between statements is
/// written, and compiled, once.
macro_rules! for_both {
    (impl $name:ident { $($body:tt)* }) => {
        impl $name for diesel::pg::PgConnection { $($body)* }
        impl $name for diesel::sqlite::SqliteConnection { $($body)* }
    };
}

pub(crate) use {for_both, on, transaction};

/// What the two backends do in different ways, for use inside `transaction!`.
pub(crate) trait Backend {
    /// Locks a link until the transaction ends; does nothing where writers are alone anyway.
    fn lock_link(&mut self, id: i64) -> diesel::QueryResult<()>;
    /// Locks an app until the transaction ends.
    fn lock_app(&mut self, id: i64) -> diesel::QueryResult<()>;
    /// Lets one transaction at a time go on, until it ends, among those that name the same lock.
    fn lock_exclusively(&mut self, lock: i64) -> diesel::QueryResult<()>;
    /// Keeps out who locks exclusively until the transaction ends, but nobody who shares.
    fn lock_shared(&mut self, lock: i64) -> diesel::QueryResult<()>;
}

impl Backend for SqliteConnection {
    fn lock_link(&mut self, _: i64) -> diesel::QueryResult<()> {
        Ok(())
    }

    fn lock_app(&mut self, _: i64) -> diesel::QueryResult<()> {
        Ok(())
    }

    fn lock_exclusively(&mut self, _: i64) -> diesel::QueryResult<()> {
        Ok(())
    }

    fn lock_shared(&mut self, _: i64) -> diesel::QueryResult<()> {
        Ok(())
    }
}

impl Backend for PgConnection {
    fn lock_link(&mut self, id: i64) -> diesel::QueryResult<()> {
        use diesel::prelude::*;
        use schema::links;
        links::table.find(id).select(links::id).for_update().first::<i64>(self).optional()?;
        Ok(())
    }

    fn lock_app(&mut self, id: i64) -> diesel::QueryResult<()> {
        use diesel::prelude::*;
        use schema::apps;
        apps::table.find(id).select(apps::id).for_update().first::<i64>(self).optional()?;
        Ok(())
    }

    fn lock_exclusively(&mut self, lock: i64) -> diesel::QueryResult<()> {
        take_lock(
            self,
            "SELECT pg_advisory_xact_lock(hashtextextended(current_schema()::text, $1))",
            lock,
        )
    }

    fn lock_shared(&mut self, lock: i64) -> diesel::QueryResult<()> {
        take_lock(
            self,
            "SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema()::text, $1))",
            lock,
        )
    }
}

/// The schema takes part in a lock's name, so that tests side by side in one database don't wait
/// for each other.
fn take_lock(conn: &mut PgConnection, statement: &str, lock: i64) -> diesel::QueryResult<()> {
    use diesel::RunQueryDsl;
    diesel::sql_query(statement).bind::<diesel::sql_types::BigInt, _>(lock).execute(conn)?;
    Ok(())
}
