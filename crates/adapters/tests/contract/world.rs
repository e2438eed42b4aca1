//! A fresh database for each test.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, RunQueryDsl, SqliteConnection, sql_query};
use signpost_adapters::app_directory::CachedApps;
use signpost_adapters::apps::SqlApps;
use signpost_adapters::db::{DatabaseUrl, Databases, PoolSizes};
use signpost_adapters::link_cache::CachedLinks;
use signpost_adapters::links::SqlLinks;
use signpost_domain::ports::{AppRepository, LinkRepository};
use tempfile::TempDir;

/// A migrated, empty database that goes away with this value.
pub(crate) struct World {
    pub(crate) databases: Databases,
    cached: Cell<bool>,
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
        Self { databases, cached: Cell::new(false), _place: place }
    }

    /// The same database as another process sees it.
    pub(crate) fn another(&self) -> Databases {
        let sizes = PoolSizes { api: 1, hot: 1, statistics: 1, loader: 1 };
        let databases = Databases::open(self.databases.url(), sizes);
        databases.check().unwrap();
        databases
    }

    /// The store of links: plain, or behind its memory.
    pub(crate) fn links(&self) -> Arc<dyn LinkRepository> {
        let plain = Arc::new(SqlLinks::new(self.databases.api.clone()));
        if self.cached.get() {
            Arc::new(CachedLinks::new(plain.clone(), plain, 100, Arc::default()))
        } else {
            plain
        }
    }

    /// The store of apps: plain, or behind its memory.
    pub(crate) fn apps(&self) -> Arc<dyn AppRepository> {
        let plain = Arc::new(SqlApps::new(self.databases.api.clone()));
        if self.cached.get() { Arc::new(CachedApps::new(plain, Arc::default())) } else { plain }
    }

    /// Puts memories in front of the stores: a decorator keeps the contract of what it decorates.
    pub(crate) fn remember(&self) {
        self.cached.set(true);
    }

    /// Runs SQL past the ports, for rows that the port under test only refers to.
    pub(crate) fn execute(&self, sql: &str) {
        match self.databases.url() {
            DatabaseUrl::Postgres(url) => {
                PgConnection::establish(url).unwrap().batch_execute(sql).unwrap();
            }
            url => {
                let path = url.file().unwrap().to_str().unwrap();
                let mut conn = SqliteConnection::establish(path).unwrap();
                conn.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON").unwrap();
                conn.batch_execute(sql).unwrap();
            }
        }
    }

    /// Apps of the numbers 1 to `n`, of which nothing but the number matters.
    pub(crate) fn insert_apps(&self, n: i64) {
        for app in 1..=n {
            self.execute(&format!(
                "INSERT INTO apps (slug, name, settings, version, created_at, updated_at) \
                 VALUES ('app{app}', 'App', '{{}}', 1, 0, 0)"
            ));
        }
    }

    /// An app and its links of the numbers 1 to `n`.
    pub(crate) fn insert_links(&self, n: i64) {
        self.insert_apps(1);
        for link in 1..=n {
            self.execute(&format!(
                "INSERT INTO links \
                 (app_id, short_code, payload, search_text, version, created_at, updated_at) \
                 VALUES (1, 'code{link}', '{{}}', '', 1, 0, 0)"
            ));
        }
    }

    /// Makes the database refuse every click of a link.
    pub(crate) fn refuse_clicks_of(&self, link: i64) {
        let sql = match self.databases.url() {
            DatabaseUrl::Postgres(_) => format!(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN IF NEW.link_id = {link} THEN RAISE EXCEPTION 'poison'; END IF; \
                 RETURN NEW; END $$; \
                 CREATE TRIGGER refuse BEFORE INSERT ON clicks FOR EACH ROW \
                 EXECUTE FUNCTION refuse()"
            ),
            _ => format!(
                "CREATE TRIGGER refuse BEFORE INSERT ON clicks WHEN NEW.link_id = {link} \
                 BEGIN SELECT RAISE(ABORT, 'poison'); END"
            ),
        };
        self.execute(&sql);
    }

    /// Deletes a link as the store of links does.
    pub(crate) fn delete_link(&self, link: i64) {
        self.execute(&format!("UPDATE links SET payload = NULL, deleted_at = 1 WHERE id = {link}"));
    }

    /// How many rows of a table meet a condition.
    pub(crate) fn count(&self, table: &str, condition: &str) -> i64 {
        #[derive(diesel::QueryableByName)]
        struct Count {
            #[diesel(sql_type = diesel::sql_types::BigInt)]
            n: i64,
        }
        let query = sql_query(format!("SELECT count(*) AS n FROM {table} WHERE {condition}"));
        let count: Count = match self.databases.url() {
            DatabaseUrl::Postgres(url) => {
                query.get_result(&mut PgConnection::establish(url).unwrap()).unwrap()
            }
            DatabaseUrl::Sqlite(path) => {
                let path = path.to_str().unwrap();
                query.get_result(&mut SqliteConnection::establish(path).unwrap()).unwrap()
            }
            DatabaseUrl::SqliteInMemory => unreachable!("no world is in memory"),
        };
        count.n
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
