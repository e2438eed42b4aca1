//! A fresh database for each test.

use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};
use signpost_adapters::db::{DatabaseUrl, Databases, PoolSizes};
use tempfile::TempDir;

/// A migrated, empty database that goes away with this value.
pub(crate) struct World {
    pub(crate) databases: Databases,
    _place: Place,
}

enum Place {
    Directory { _guard: TempDir },
    Schema { admin_url: String, name: String },
}

impl World {
    /// A file of its own, because the in-memory database has no second connection.
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(directory.path().join("test.db"));
        Self::migrated(&url, Place::Directory { _guard: directory })
    }

    /// A schema of its own in the server that `TEST_DATABASE_URL` names.
    pub(crate) fn postgres() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let admin_url = std::env::var("TEST_DATABASE_URL")
            .expect("TEST_DATABASE_URL names a Postgres server; run make test");
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("contract_{}_{number}", std::process::id());
        PgConnection::establish(&admin_url)
            .unwrap()
            .batch_execute(&format!("CREATE SCHEMA {name}"))
            .unwrap();
        let separator = if admin_url.contains('?') { '&' } else { '?' };
        let url = format!("{admin_url}{separator}options=-csearch_path%3D{name}");
        Self::migrated(&DatabaseUrl::parse(&url).unwrap(), Place::Schema { admin_url, name })
    }

    fn migrated(url: &DatabaseUrl, place: Place) -> Self {
        let sizes = PoolSizes { api: 4, hot: 1, statistics: 1, loader: 1 };
        let databases = Databases::open(url, sizes);
        databases.migrate().unwrap();
        Self { databases, _place: place }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Schema { admin_url, name } = self
            && let Ok(mut conn) = PgConnection::establish(admin_url)
        {
            let _ = conn.batch_execute(&format!(
                "SET client_min_messages = warning; DROP SCHEMA {name} CASCADE"
            ));
        }
    }
}
