//! The first start on an empty database.

use chrono::{DateTime, Utc};

use super::{StoreError, StoredPassword};
use crate::access::{AdminEmail, KeyName, Scopes, SecretHash};
use crate::app::{App, AppDraft};

/// Fills an empty database.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Installation: Send + Sync {
    /// Stores the first app, its keys and the first owner in one transaction.
    ///
    /// Answers `None` and stores nothing when there is an app or an admin already, a deleted one
    /// included; of several processes that start at once, one fills the database.
    fn fill(&self, first: &FirstContent) -> Result<Option<App>, StoreError>;
}

/// What a new installation begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstContent {
    /// The app.
    pub app: AppDraft,
    /// Its keys: hash, shown prefix, name and scopes.
    pub keys: Vec<(SecretHash, String, KeyName, Scopes)>,
    /// The owner's address.
    pub owner: AdminEmail,
    /// The owner's password.
    pub password: StoredPassword,
    /// When all this is created.
    pub now: DateTime<Utc>,
}
