//! The store of API keys.

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::access::{ApiKey, ApiKeyDraft, ApiKeyId, SecretHash};
use crate::app::AppId;

/// Durable store of API keys; it knows their hashes only.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ApiKeyRepository: Send + Sync {
    /// Stores a key and returns it with its number.
    fn insert(&self, draft: &ApiKeyDraft) -> Result<ApiKey, StoreError>;

    /// The key with this hash, or `None`; revoked and expired keys are returned too.
    fn find_by_hash(&self, hash: SecretHash) -> Result<Option<ApiKey>, StoreError>;

    /// The keys of an app, or of all apps, newest first.
    fn list(&self, app: Option<AppId>) -> Result<Vec<ApiKey>, StoreError>;

    /// Revokes a key; answers false when there is none with this number.
    ///
    /// The moment of the first revocation stays.
    fn revoke(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Notes that a key was used.
    fn touch(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<(), StoreError>;
}
