//! Opening pools without needing the database to be there.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Error, Pool};
use diesel::sqlite::SqliteConnection;
use signpost_domain::ports::StoreError;

use super::{Conn, DatabaseUrl};

/// How many connections each pool may hold and how long a caller waits for one.
///
/// Too few and requests queue; too many and a Postgres server runs out of its own slots (100 by
/// default, shared by all nodes).
#[derive(Debug, Clone, Copy)]
pub struct PoolSizes {
    /// For the APIs.
    pub api: u32,
    /// For visits whose link is not in memory.
    pub hot: u32,
    /// For statistics, apart so that slow ones don't slow anything else.
    pub statistics: u32,
    /// For storing clicks.
    pub loader: u32,
}

impl Default for PoolSizes {
    fn default() -> Self {
        Self { api: 8, hot: 2, statistics: 2, loader: 1 }
    }
}

/// The database as its different users see it: one store, several pools.
#[derive(Clone)]
pub struct Databases {
    /// For the APIs: waits 1.5 s for a connection, so that an answer is there within two.
    pub api: Db,
    /// For visits: waits 250 ms.
    pub hot: Db,
    /// For statistics.
    pub statistics: Db,
    /// For storing clicks.
    pub loader: Db,
    url: DatabaseUrl,
    ready: Arc<AtomicBool>,
}

/// One user's way to the database.
#[derive(Clone)]
pub struct Db {
    pools: Pools,
    ready: Arc<AtomicBool>,
}

#[derive(Clone)]
enum Pools {
    Postgres(Pool<ConnectionManager<PgConnection>>),
    Sqlite {
        readers: Pool<ConnectionManager<SqliteConnection>>,
        // SQLite has one writer at a time. Waiting for it in this process, in turn, is fair; its
        // own waiting is not, and gives up under load.
        writer: Pool<ConnectionManager<SqliteConnection>>,
    },
}

impl Databases {
    /// Prepares pools for the database at `url`.
    ///
    /// Nothing is connected yet and nothing may be asked before [`migrate`](Self::migrate) or
    /// [`check`](Self::check) has found the schema in order: until then every use answers that the
    /// store is unavailable.
    pub fn open(url: &DatabaseUrl, sizes: PoolSizes) -> Self {
        let ready = Arc::new(AtomicBool::new(false));
        let db = |pools| Db { pools, ready: ready.clone() };
        let (api, hot, statistics, loader) = match url {
            DatabaseUrl::Postgres(text) => {
                let pool = |size, wait, statement| {
                    db(Pools::Postgres(postgres_pool(text, size, wait, statement)))
                };
                (
                    pool(sizes.api, 1500, 2000),
                    pool(sizes.hot, 250, 500),
                    pool(sizes.statistics, 1500, 10_000),
                    pool(sizes.loader, 2000, 60_000),
                )
            }
            DatabaseUrl::Sqlite(path) => {
                let path = path.display().to_string();
                let writer = sqlite_pool(&path, 1, 1500, WRITER);
                let pool = |size, wait| {
                    let readers = sqlite_pool(&path, size, wait, READER);
                    db(Pools::Sqlite { readers, writer: writer.clone() })
                };
                (
                    pool(sizes.api, 1500),
                    pool(sizes.hot, 250),
                    pool(sizes.statistics, 1500),
                    pool(sizes.loader, 2000),
                )
            }
            DatabaseUrl::SqliteInMemory => {
                // Every further connection would be another, empty database.
                let only = sqlite_pool(":memory:", 1, 5000, WRITER);
                let db = db(Pools::Sqlite { readers: only.clone(), writer: only });
                (db.clone(), db.clone(), db.clone(), db)
            }
        };
        Self { api, hot, statistics, loader, url: url.clone(), ready }
    }

    /// Where the database is.
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// True once the schema was found in order.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Asks the database for a sign of life.
    pub fn ping(&self) -> Result<(), StoreError> {
        use diesel::prelude::*;
        super::on!(self.hot.read()?, |conn| diesel::sql_query("SELECT 1").execute(conn))
            .map(drop)
            .map_err(|e| super::DbError::from(e).into())
    }

    pub(super) fn mark_ready(&self) {
        self.ready.store(true, Ordering::Release);
    }

    pub(super) fn lock_file(&self) -> Option<PathBuf> {
        self.url.file().map(|path| path.with_extension("lock"))
    }

    /// A connection although the schema has not been checked, for the check itself.
    pub(super) fn unchecked(&self) -> Result<Conn, StoreError> {
        self.loader.pools.writer()
    }
}

impl Db {
    /// A connection for queries that write nothing.
    pub(crate) fn read(&self) -> Result<Conn, StoreError> {
        self.check_ready()?;
        self.pools.reader()
    }

    /// A connection that may write.
    pub(crate) fn write(&self) -> Result<Conn, StoreError> {
        self.check_ready()?;
        self.pools.writer()
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        if self.ready.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err(StoreError::unavailable("the database has not been reached since the start"))
        }
    }
}

impl Pools {
    fn reader(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Postgres(pool) => pool.get().map(Conn::Postgres),
            Self::Sqlite { readers, .. } => readers.get().map(Conn::Sqlite),
        }
        .map_err(StoreError::unavailable)
    }

    fn writer(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Postgres(pool) => pool.get().map(Conn::Postgres),
            Self::Sqlite { writer, .. } => writer.get().map(Conn::Sqlite),
        }
        .map_err(StoreError::unavailable)
    }
}

/// WAL lets readers read while somebody writes; FULL makes a commit survive a power cut.
const WRITER: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; \
     PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
const READER: &str =
    "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA foreign_keys = ON;";

#[derive(Debug)]
struct OnAcquire(String);

impl<C: SimpleConnection> CustomizeConnection<C, Error> for OnAcquire {
    fn on_acquire(&self, conn: &mut C) -> Result<(), Error> {
        conn.batch_execute(&self.0).map_err(Error::QueryError)
    }
}

fn sqlite_pool(
    path: &str,
    size: u32,
    wait_ms: u64,
    pragmas: &str,
) -> Pool<ConnectionManager<SqliteConnection>> {
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection to a file doesn't go stale.
        .test_on_check_out(false)
        .connection_timeout(Duration::from_millis(wait_ms))
        .connection_customizer(Box::new(OnAcquire(pragmas.to_owned())))
        .error_handler(Box::new(diesel::r2d2::NopErrorHandler))
        .build_unchecked(ConnectionManager::new(path))
}

fn postgres_pool(
    url: &str,
    size: u32,
    wait_ms: u64,
    statement_ms: u32,
) -> Pool<ConnectionManager<PgConnection>> {
    let settings = format!(
        "SET statement_timeout = {statement_ms}; SET lock_timeout = {}; \
         SET idle_in_transaction_session_timeout = 60000; \
         SET client_min_messages = warning;",
        // Below the other limit, so that a wait for a lock ends as one.
        statement_ms.min(2000) * 9 / 10
    );
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .connection_timeout(Duration::from_millis(wait_ms))
        .connection_customizer(Box::new(OnAcquire(settings)))
        .error_handler(Box::new(diesel::r2d2::NopErrorHandler))
        .build_unchecked(ConnectionManager::new(url))
}
