//! A service of its own for each test.

use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use signpost_app::config::Config;
use signpost_app::server::{Readiness, Shared, serve};
use signpost_app::wiring;
use tempfile::TempDir;

use crate::client::Client;

/// What the service under test reads, too.
#[expect(clippy::disallowed_methods, reason = "a test has no port to ask for the time")]
pub(crate) fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

/// A running service on a fresh database, which goes away with this value.
pub(crate) struct Service {
    place: Place,
    running: RefCell<Option<Running>>,
    first: First,
}

/// The secrets of the first start.
#[derive(Clone)]
pub(crate) struct First {
    pub(crate) app_id: i64,
    pub(crate) secret_key: String,
    pub(crate) publishable_key: String,
    pub(crate) owner: String,
    pub(crate) password: String,
}

struct Place {
    directory: Arc<TempDir>,
    database_url: String,
    schema: Option<(String, String)>,
    settings: Vec<(&'static str, String)>,
}

struct Running {
    address: SocketAddr,
    handle: ServerHandle,
    services: wiring::Services,
    traffic: Arc<wiring::Traffic>,
    thread: JoinHandle<()>,
}

impl Service {
    pub(crate) fn sqlite() -> Self {
        Self::sqlite_with(&[])
    }

    pub(crate) fn postgres() -> Self {
        Self::postgres_with(&[])
    }

    /// On the embedded database, with settings of its own.
    pub(crate) fn sqlite_with(settings: &[(&'static str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database_url = format!("sqlite://{}", directory.path().join("test.db").display());
        Self::start(directory, database_url, None, settings)
    }

    /// In a schema of its own, with settings of its own.
    pub(crate) fn postgres_with(settings: &[(&'static str, &str)]) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var("TEST_DATABASE_URL")
            .expect("TEST_DATABASE_URL names a Postgres server; run make test");
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("api_{}_{number}", std::process::id());
        signpost_adapters::testing::execute(&server, &format!("CREATE SCHEMA {schema}")).unwrap();
        let separator = if server.contains('?') { '&' } else { '?' };
        let database_url = format!("{server}{separator}options=-csearch_path%3D{schema}");
        let directory = tempfile::tempdir().unwrap();
        Self::start(directory, database_url, Some((server, schema)), settings)
    }

    /// Another service on the same kind of database, with settings of its own.
    pub(crate) fn sibling_with(&self, settings: &[(&'static str, &str)]) -> Self {
        match self.place.schema {
            None => Self::sqlite_with(settings),
            Some(_) => Self::postgres_with(settings),
        }
    }

    /// A service whose database does not answer, with the keys of this one.
    pub(crate) fn without_database(&self) -> Self {
        let place = Place {
            directory: Arc::new(tempfile::tempdir().unwrap()),
            // Nobody listens on port 1.
            database_url: "postgres://127.0.0.1:1/signpost".to_owned(),
            schema: None,
            settings: Vec::new(),
        };
        let (config, listener) = place.configure();
        let running = Place::serve(&config, listener, wiring::build(&config).unwrap());
        Self { place, running: RefCell::new(Some(running)), first: self.first.clone() }
    }

    /// Another service on the same database, to be dropped before this one.
    pub(crate) fn another_node(&self) -> Self {
        let mut settings = self.place.settings.clone();
        settings.push(("SIGNPOST_BASE_URL", format!("http://{}", self.address())));
        // A journal of its own, and the same signing secret.
        let directory = tempfile::tempdir().unwrap();
        let secret = self.place.directory.path().join("jwt-secret");
        std::fs::copy(secret, directory.path().join("jwt-secret")).unwrap();
        let place = Place {
            directory: Arc::new(directory),
            database_url: self.place.database_url.clone(),
            // It goes with the first.
            schema: None,
            settings,
        };
        let (running, first) = place.run();
        assert!(first.is_none(), "a database in use is left alone");
        Self { place, running: RefCell::new(Some(running)), first: self.first.clone() }
    }

    fn start(
        directory: TempDir,
        database_url: String,
        schema: Option<(String, String)>,
        settings: &[(&'static str, &str)],
    ) -> Self {
        let settings = settings.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
        let place = Place { directory: Arc::new(directory), database_url, schema, settings };
        let (running, first) = place.run();
        let first = first.expect("a fresh database is filled");
        Self { place, running: RefCell::new(Some(running)), first }
    }

    /// Stops the service and starts it again on the same database and data directory.
    pub(crate) fn restart(&self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        let (running, first) = self.place.run();
        assert!(first.is_none(), "a database in use is left alone");
        self.running.replace(Some(running));
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.borrow().as_ref().unwrap().address
    }

    pub(crate) fn first(&self) -> &First {
        &self.first
    }

    /// Where the database is, for cases that damage it.
    pub(crate) fn database_url(&self) -> &str {
        &self.place.database_url
    }

    /// Somebody without any credential.
    pub(crate) fn anybody(&self) -> Client {
        Client::new(self.address())
    }

    /// A customer's back end, with a key that reads and writes links.
    pub(crate) fn backend(&self) -> Client {
        self.anybody().with("authorization", &format!("Bearer {}", self.first.secret_key))
    }

    /// The owner, signed in.
    pub(crate) fn owner(&self) -> Client {
        self.signed_in(&self.first.owner, &self.first.password)
    }

    /// A member who may see these apps, signed in.
    pub(crate) fn member(&self, apps: &[i64]) -> Client {
        let (email, password) = ("member@example.com", "a member's password");
        self.services().create_member_for_tests(email, password, apps);
        self.signed_in(email, password)
    }

    fn signed_in(&self, email: &str, password: &str) -> Client {
        let body = serde_json::json!({ "email": email, "password": password });
        let answer = self.anybody().post("/api/v1/admin/sessions", &body.to_string());
        assert_eq!(answer.status, 201, "{}", answer.text);
        let token = answer.json()["accessToken"].as_str().unwrap().to_owned();
        let traffic = self.running.borrow().as_ref().unwrap().traffic.clone();
        self.anybody().with("authorization", &format!("Bearer {token}")).patient(&traffic)
    }

    /// Waits until all clicks of this node are counted.
    pub(crate) fn settle(&self) {
        self.running.borrow().as_ref().unwrap().traffic.settle_for_tests();
    }

    fn services(&self) -> wiring::Services {
        self.running.borrow().as_ref().unwrap().services.clone()
    }

    /// Creates another app and answers its number and a key that reads and writes its links.
    pub(crate) fn another_app(&self, name: &str) -> (i64, String) {
        self.services().create_app_for_tests(name)
    }

    /// A key of the first app with these scopes only.
    pub(crate) fn key_with(&self, scopes: &[&str]) -> String {
        self.services().create_key_for_tests(self.first.app_id, scopes)
    }

    /// A key of the first app that was revoked.
    pub(crate) fn revoked_key(&self) -> String {
        self.services().create_revoked_key_for_tests(self.first.app_id)
    }
}

impl Place {
    fn configure(&self) -> (Config, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let lookup = |name: &str| {
            let own = self.settings.iter().find(|(own, _)| *own == name);
            own.map(|(_, value)| value.clone()).or_else(|| match name {
                "DATABASE_URL" => Some(self.database_url.clone()),
                "SIGNPOST_DATA_DIR" => Some(self.directory.path().display().to_string()),
                "SIGNPOST_BASE_URL" => Some(format!("http://{address}")),
                _ => None,
            })
        };
        (Config::read(lookup).unwrap_or_else(|lines| panic!("{lines:?}")), listener)
    }

    fn run(&self) -> (Running, Option<First>) {
        let (config, listener) = self.configure();
        let services = wiring::build(&config).unwrap();
        let first = services.prepare().unwrap().map(|first| First {
            app_id: first.app.id.0,
            secret_key: first.secret_key.expose().to_owned(),
            publishable_key: first.publishable_key.expose().to_owned(),
            owner: first.owner.as_str().to_owned(),
            password: first.password,
        });
        (Self::serve(&config, listener, services), first)
    }

    fn serve(config: &Config, listener: TcpListener, services: wiring::Services) -> Running {
        let address = listener.local_addr().unwrap();
        let traffic = Arc::new(wiring::Traffic::open(config, &services).unwrap());
        let shared = Shared::new(config, services.clone(), traffic.clone(), Readiness::default());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = serve(listener, shared, Some(1)).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        let handle = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
        Running { address, handle, services, traffic, thread }
    }
}

impl Running {
    fn stop(self) {
        // The future of `stop` only waits; the request to stop is sent when it is made.
        drop(self.handle.stop(false));
        let _ = self.thread.join();
        self.traffic.stop(Duration::from_secs(10));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        if let Some((server, schema)) = &self.place.schema {
            let drop = format!("DROP SCHEMA {schema} CASCADE");
            let _ = signpost_adapters::testing::execute(server, &drop);
        }
    }
}
