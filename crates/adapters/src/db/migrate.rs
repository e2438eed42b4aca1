//! Bringing the schema up to date.

use std::fs::File;

use diesel::prelude::*;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use signpost_domain::ports::StoreError;

use super::{Conn, Databases, DbError};

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// How the schema stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// As this program needs it.
    Current,
    /// Missing, or behind by some migrations.
    Behind {
        /// How many.
        pending: usize,
    },
}

/// Why a schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database can't be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lock that keeps two programs from migrating at once could not be had.
    #[error("the migration lock could not be taken")]
    Lock(#[source] std::io::Error),
    /// The directory of the embedded database could not be made.
    #[error("the directory of the database could not be made")]
    Directory(#[source] std::io::Error),
    /// A migration failed; it was rolled back.
    #[error("a migration failed: {0}")]
    Failed(String),
}

impl Databases {
    /// Brings the schema up to date, one program at a time, and opens the database for use.
    ///
    /// Answers how many migrations ran.
    pub fn migrate(&self) -> Result<usize, MigrateError> {
        let _lock = self.take_file_lock()?;
        let failed =
            |e: Box<dyn std::error::Error + Send + Sync>| MigrateError::Failed(e.to_string());
        let ran = match self.unchecked()? {
            Conn::Sqlite(mut conn) => conn.run_pending_migrations(SQLITE).map_err(failed)?.len(),
            Conn::Postgres(mut conn) => {
                // Waiting for another node's migration may take longer than any query should.
                sql(&mut conn, "SET statement_timeout = 0; SET lock_timeout = 0")?;
                sql(&mut conn, &format!("SELECT pg_advisory_lock({PG_LOCK})"))?;
                let ran = conn.run_pending_migrations(POSTGRES).map(|ran| ran.len());
                sql(&mut conn, &format!("SELECT pg_advisory_unlock({PG_LOCK})"))?;
                sql(&mut conn, "SET statement_timeout = 60000; SET lock_timeout = 2000")?;
                ran.map_err(failed)?
            }
        };
        self.mark_ready();
        Ok(ran)
    }

    /// Finds out how the schema stands and, when it is current, opens the database for use.
    pub fn check(&self) -> Result<SchemaState, MigrateError> {
        if self.url().file().is_some_and(|path| !path.exists()) {
            return Ok(SchemaState::Behind { pending: count(&SQLITE) });
        }
        let failed =
            |e: Box<dyn std::error::Error + Send + Sync>| MigrateError::Failed(e.to_string());
        let pending = match self.unchecked()? {
            Conn::Sqlite(mut conn) => conn.pending_migrations(SQLITE).map_err(failed)?.len(),
            Conn::Postgres(mut conn) => conn.pending_migrations(POSTGRES).map_err(failed)?.len(),
        };
        if pending > 0 {
            return Ok(SchemaState::Behind { pending });
        }
        self.mark_ready();
        Ok(SchemaState::Current)
    }

    fn take_file_lock(&self) -> Result<Option<File>, MigrateError> {
        let Some(path) = self.lock_file() else { return Ok(None) };
        if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
            std::fs::create_dir_all(directory).map_err(MigrateError::Directory)?;
        }
        let file = File::create(path).map_err(MigrateError::Lock)?;
        file.lock().map_err(MigrateError::Lock)?;
        Ok(Some(file))
    }
}

/// Per schema, so that tests side by side in one database don't wait for each other.
const PG_LOCK: &str = "hashtextextended(current_schema()::text, 7355608)";

fn sql(conn: &mut PgConnection, text: &str) -> Result<(), StoreError> {
    use diesel::connection::SimpleConnection;
    conn.batch_execute(text).map_err(|e| DbError::from(e).into())
}

fn count(migrations: &EmbeddedMigrations) -> usize {
    use diesel::migration::MigrationSource;
    MigrationSource::<diesel::sqlite::Sqlite>::migrations(migrations).map_or(0, |m| m.len())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    fn names(backend: &str) -> BTreeSet<String> {
        let directory =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(backend);
        std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn both_databases_have_the_same_migrations_each_with_a_way_back() {
        assert_eq!(names("sqlite"), names("postgres"));
        for backend in ["sqlite", "postgres"] {
            for name in names(backend) {
                let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("../../migrations")
                    .join(backend)
                    .join(&name);
                assert!(directory.join("up.sql").is_file(), "{backend}/{name}/up.sql");
                assert!(directory.join("down.sql").is_file(), "{backend}/{name}/down.sql");
            }
        }
    }
}
