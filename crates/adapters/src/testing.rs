//! Help for tests outside this crate, which may not name a database library.

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};

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

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// Asks on a connection of its own. The query answers texts, in one column named `line`.
pub fn lines(url: &str, query: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let lines: Vec<Line> = match DatabaseUrl::parse(url)? {
        DatabaseUrl::Postgres(url) => sql_query(query).load(&mut PgConnection::establish(&url)?)?,
        DatabaseUrl::Sqlite(path) => {
            let mut conn = SqliteConnection::establish(&path.display().to_string())?;
            conn.batch_execute("PRAGMA busy_timeout = 5000")?;
            sql_query(query).load(&mut conn)?
        }
        DatabaseUrl::SqliteInMemory => return Err("a database in memory has one connection".into()),
    };
    Ok(lines.into_iter().map(|line| line.line).collect())
}
