//! The composition root: the one place that knows which adapter serves which port.

mod traffic;

pub use traffic::Traffic;
pub(crate) use traffic::{ClickFlow, dead_letters, journal_dir};

use std::path::Path;
use std::sync::Arc;

use signpost_adapters::access_tokens::JwtAccessTokens;
use signpost_adapters::admins::SqlAdmins;
use signpost_adapters::api_keys::SqlApiKeys;
use signpost_adapters::app_directory::CachedApps;
use signpost_adapters::apps::SqlApps;
use signpost_adapters::changes::{Trust, follow};
use signpost_adapters::classify::UserAgents;
use signpost_adapters::clicks::SqlClicks;
use signpost_adapters::db::{Databases, MigrateError, PoolSizes};
use signpost_adapters::installation::SqlInstallation;
use signpost_adapters::link_cache::CachedLinks;
use signpost_adapters::links::SqlLinks;
use signpost_adapters::passwords::Argon2Passwords;
use signpost_adapters::secrets::OsSecrets;
use signpost_adapters::system::{RandomCodes, SystemClock};
use signpost_adapters::token_mac::HmacTokenMac;
use signpost_domain::access::{AdminEmail, KeyName, Role, Scope, Scopes};
use signpost_domain::app::{AppId, AppName, AppPatch};
use signpost_domain::click::{AddressMode, NewClick};
use signpost_domain::ports::{
    AppDirectory, ClickRepository, Clock, LinkLookup, StoreError, TokenMac,
};
use signpost_domain::service::{Analytics, Apps, FirstSecrets, Keys, Links, Sessions, Setup};

use crate::config::Config;
use crate::public_api::view::Views;

/// How many links are kept in memory. At some 400 bytes each that is 40 MB when full.
const CACHED_LINKS: usize = 100_000;

/// Everything a handler may need.
#[derive(Clone)]
pub struct Services {
    /// Managing links.
    pub(crate) links: Links,
    /// API keys.
    pub(crate) keys: Keys,
    /// Apps.
    pub(crate) apps: Apps,
    /// All apps, in memory.
    pub(crate) directory: Arc<dyn AppDirectory>,
    /// Admin sessions.
    pub(crate) sessions: Sessions,
    /// Statistics.
    pub(crate) analytics: Analytics,
    /// Finding the link of a visit.
    pub(crate) lookup: Arc<dyn LinkLookup>,
    /// Signing click tokens.
    pub(crate) macs: Arc<dyn TokenMac>,
    /// The first start.
    pub(crate) setup: Setup,
    /// Links as answers.
    pub(crate) views: Views,
    /// The time.
    pub(crate) clock: Arc<dyn Clock>,
    /// The stored clicks, for the work in the background.
    pub(crate) clicks: Arc<dyn ClickRepository>,
    /// The databases, to be migrated and asked for a sign of life.
    pub(crate) databases: Databases,
}

/// Builds the services. Nothing needs to be reachable; only the data directory must be writable.
pub fn build(config: &Config) -> std::io::Result<Services> {
    let databases = Databases::open(&config.database, PoolSizes::default());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let secrets = Arc::new(OsSecrets);
    let passwords = Arc::new(Argon2Passwords::standard());

    let trust = Arc::new(Trust::default());
    let links = Arc::new(CachedLinks::new(
        Arc::new(SqlLinks::new(databases.api.clone())),
        Arc::new(SqlLinks::new(databases.hot.clone())),
        CACHED_LINKS,
        trust.clone(),
    ));
    let apps =
        Arc::new(CachedApps::new(Arc::new(SqlApps::new(databases.api.clone())), trust.clone()));
    follow(databases.hot.clone(), clock.clone(), trust, &links, &apps)?;
    let admins = Arc::new(SqlAdmins::new(databases.api.clone()));
    let keys = Arc::new(SqlApiKeys::new(databases.api.clone()));
    let clicks: Arc<dyn ClickRepository> =
        Arc::new(SqlClicks::new(databases.loader.clone(), databases.statistics.clone()));
    let signing = signing_secrets(config, *secrets)?;
    let macs = Arc::new(HmacTokenMac::new(&signing));
    let tokens = JwtAccessTokens::new(signing, config.base_url.clone());

    Ok(Services {
        links: Links::new(links.clone(), Arc::new(RandomCodes), clock.clone()),
        keys: Keys::new(keys, secrets.clone(), clock.clone()),
        apps: Apps::new(apps.clone(), clock.clone()),
        directory: apps.clone(),
        sessions: Sessions::new(
            admins,
            passwords.clone(),
            secrets.clone(),
            Arc::new(tokens),
            clock.clone(),
        ),
        analytics: Analytics::new(
            links.clone(),
            clicks.clone(),
            config.address_mode != AddressMode::None,
        ),
        lookup: links,
        macs,
        setup: Setup::new(
            Arc::new(SqlInstallation::new(databases.api.clone())),
            secrets,
            passwords,
            clock.clone(),
        ),
        views: Views::new(&config.base_url, clock.clone()),
        clock,
        clicks,
        databases,
    })
}

impl Services {
    /// Migrates the database and fills an empty one; answers the first secrets then.
    pub fn prepare(&self) -> Result<Option<FirstSecrets>, PrepareError> {
        self.databases.migrate()?;
        // Before the first click of a month is stored, or the month gets no room of its own.
        self.clicks.prepare_partitions(self.clock.now())?;
        Ok(self.setup.fill()?)
    }

    /// Stores a click that is in no journal any more.
    pub(crate) fn load_one(&self, click: NewClick) -> Result<usize, StoreError> {
        let read = UserAgents::new().classify(click.user_agent.as_deref());
        self.clicks.append(&[(click, read)])
    }

    /// Another app with a key that reads and writes its links.
    #[doc(hidden)]
    pub fn create_app_for_tests(&self, name: &str) -> (i64, String) {
        let name = AppName::parse(name).expect("a name");
        let app = self.apps.create(name, AppPatch::default()).expect("an app").id.0;
        (app, self.create_key_for_tests(app, &["links:read", "links:write"]))
    }

    /// A key with these scopes.
    #[doc(hidden)]
    pub fn create_key_for_tests(&self, app: i64, scopes: &[&str]) -> String {
        let scopes = scopes.iter().map(|s| Scope::parse(s)).collect::<Result<Vec<_>, _>>();
        let scopes = scopes.and_then(Scopes::new).expect("scopes");
        let name = KeyName::parse("test").expect("a name");
        let (_, key) = self.keys.create(AppId(app), name, scopes, None).expect("a key");
        key.expose().to_owned()
    }

    /// A key that reads and writes links, revoked.
    #[doc(hidden)]
    pub fn create_revoked_key_for_tests(&self, app: i64) -> String {
        let text = self.create_key_for_tests(app, &["links:read", "links:write"]);
        let key = self.keys.authenticate(&text).expect("a key");
        assert!(self.keys.revoke(key.id).expect("an answer"), "a key that is there");
        text
    }

    /// An admin who may see these apps only.
    #[doc(hidden)]
    pub fn create_member_for_tests(&self, email: &str, password: &str, apps: &[i64]) {
        let email = AdminEmail::parse(email).expect("an address");
        let apps: Vec<AppId> = apps.iter().copied().map(AppId).collect();
        self.sessions.create_admin(&email, password, Role::Member, &apps).expect("an admin");
    }
}

/// Why the database is not ready.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Its schema is not up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// It could not be filled.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn signing_secrets(config: &Config, secrets: OsSecrets) -> std::io::Result<Vec<Vec<u8>>> {
    if config.jwt_secrets.is_empty() {
        Ok(vec![kept_secret(&config.data_dir, secrets)?])
    } else {
        Ok(config.jwt_secrets.clone())
    }
}

/// The secret in the data directory, made there on the first start.
fn kept_secret(data_dir: &Path, secrets: OsSecrets) -> std::io::Result<Vec<u8>> {
    use signpost_domain::ports::Secrets;

    let path = data_dir.join("jwt-secret");
    std::fs::create_dir_all(data_dir)?;
    let made = format!("{}\n", secrets.refresh_token().0);
    match crate::private_file::create(&path, made.as_bytes()) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let text = std::fs::read_to_string(&path)?;
    let secret = text.trim().as_bytes().to_vec();
    if secret.len() < 32 {
        let wrong = format!("{} holds less than 32 bytes; remove it", path.display());
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, wrong));
    }
    Ok(secret)
}
