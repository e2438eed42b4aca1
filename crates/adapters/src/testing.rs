//! Help for tests outside this crate, which may not name a database library.

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, SqliteConnection};

use crate::db::DatabaseUrl;

/// Runs SQL on a connection of its own.
pub fn execute(url: &str, sql: &str) -> Result<(), Box<dyn std::error::Error>> {
    match DatabaseUrl::parse(url)? {
        DatabaseUrl::Postgres(url) => {
            let mut conn = PgConnection::establish(&url)?;
            conn.batch_execute("SET client_min_messages = warning")?;
            conn.batch_execute(sql)?;
        }
        DatabaseUrl::Sqlite(path) => {
            let mut conn = SqliteConnection::establish(&path.display().to_string())?;
            conn.batch_execute("PRAGMA busy_timeout = 5000")?;
            conn.batch_execute(sql)?;
        }
        DatabaseUrl::SqliteInMemory => return Err("a database in memory has one connection".into()),
    }
    Ok(())
}
