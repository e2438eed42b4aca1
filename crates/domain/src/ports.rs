//! The ports: what the rules need from outside, as traits.
//!
//! Ports are synchronous, because the databases behind them block; the application makes one hop
//! to a thread that may block per use case. Every sentence of a port's documentation is a rule, and
//! a contract test of the same meaning holds every adapter to it. "Not found" is `Ok(None)`.

mod admins;
mod api_keys;
mod app_directory;
mod apps;
mod click_journal;
mod clicks;
mod installation;
mod link_lookup;
mod links;
mod secrets;
mod store_error;
mod token_mac;
mod world;

pub use admins::{
    AdminRepository, InsertAdminError, NewSession, Rotation, SignedIn, StoredPassword,
};
pub use api_keys::ApiKeyRepository;
pub use app_directory::AppDirectory;
pub use apps::{AppRepository, SaveAppError};
pub use click_journal::{ClickJournal, Recorded, Recording};
pub use clicks::{
    Batch, ClickCursor, ClickPage, ClickQuery, ClickRepository, JournalId, LoadError, Loaded,
};
pub use installation::{FirstContent, Installation};
pub use link_lookup::{Cached, LinkLookup};
pub use links::{
    Answer, BodyHash, IdempotencyKey, Idempotent, Insertion, LinkRepository, Outcome, Render,
    UpdateError,
};
pub use secrets::{AccessClaims, AccessTokens, Passwords, RefreshToken, Secrets, TokenError};
pub use store_error::StoreError;
pub use token_mac::TokenMac;
pub use world::{Clock, CodeSource, IdSource};

#[cfg(any(test, feature = "mocks"))]
pub use self::{
    admins::MockAdminRepository,
    api_keys::MockApiKeyRepository,
    app_directory::MockAppDirectory,
    apps::MockAppRepository,
    click_journal::MockClickJournal,
    clicks::MockClickRepository,
    installation::MockInstallation,
    link_lookup::MockLinkLookup,
    links::MockLinkRepository,
    secrets::{MockAccessTokens, MockPasswords, MockSecrets},
    token_mac::MockTokenMac,
};
