//! API keys.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::access::{ApiKey, ApiKeyDraft, ApiKeyId, KeyName, PlainKey, Scopes};
use crate::app::AppId;
use crate::ports::{ApiKeyRepository, Clock, Secrets, StoreError};

/// How exactly the last use of a key is known; writing it on every request would make each read a
/// write.
const TOUCH_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Creates, checks and revokes API keys.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn ApiKeyRepository>,
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
}

/// Why a key was refused.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateError {
    /// No key, a mistyped one, an unknown, revoked or expired one: the caller is not told which.
    #[error("the API key is not valid")]
    Invalid,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Keys {
    /// The service over a store.
    pub fn new(
        store: Arc<dyn ApiKeyRepository>,
        secrets: Arc<dyn Secrets>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, secrets, clock }
    }

    /// Creates a key; its text is returned here and never again.
    pub fn create(
        &self,
        app_id: AppId,
        name: KeyName,
        scopes: Scopes,
        expires_at: Option<DateTime<Utc>>,
    ) -> Result<(ApiKey, PlainKey), StoreError> {
        let plain = self.secrets.api_key(scopes.kind());
        let key = self.store.insert(&ApiKeyDraft {
            app_id,
            hash: self.secrets.hash(plain.expose()),
            prefix: plain.shown_prefix().to_owned(),
            name,
            scopes,
            created_at: self.clock.now(),
            expires_at,
        })?;
        Ok((key, plain))
    }

    /// The key behind a text, if it works now.
    ///
    /// A text whose checksum is wrong is refused without asking the store.
    pub fn authenticate(&self, text: &str) -> Result<ApiKey, AuthenticateError> {
        let plain = PlainKey::parse(text).ok_or(AuthenticateError::Invalid)?;
        let key = self
            .store
            .find_by_hash(self.secrets.hash(plain.expose()))?
            .ok_or(AuthenticateError::Invalid)?;
        let now = self.clock.now();
        if !key.is_active(now) {
            return Err(AuthenticateError::Invalid);
        }
        if key.last_used_at.is_none_or(|last| now - last >= TOUCH_EVERY) {
            self.store.touch(key.id, now)?;
        }
        Ok(key)
    }

    /// The keys of an app, or all.
    pub fn list(&self, app: Option<AppId>) -> Result<Vec<ApiKey>, StoreError> {
        self.store.list(app)
    }

    /// Revokes a key; false without one of this number.
    pub fn revoke(&self, id: ApiKeyId) -> Result<bool, StoreError> {
        self.store.revoke(id, self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{KeyKind, Scope, SecretHash};
    use crate::ports::{MockApiKeyRepository, MockSecrets};
    use crate::service::setup::tests::{FixedClock, now};

    fn plain() -> PlainKey {
        PlainKey::generate(KeyKind::Secret, |_| 1)
    }

    fn stored(change: impl FnOnce(&mut ApiKey)) -> ApiKey {
        let mut key = ApiKey {
            id: ApiKeyId(1),
            app_id: AppId(1),
            prefix: "sp_live_1111".to_owned(),
            name: KeyName::parse("test").unwrap(),
            scopes: Scopes::new([Scope::LinksRead]).unwrap(),
            created_at: now(),
            expires_at: None,
            revoked_at: None,
            last_used_at: Some(now()),
        };
        change(&mut key);
        key
    }

    fn authenticate(found: Option<ApiKey>) -> Result<ApiKey, AuthenticateError> {
        let mut store = MockApiKeyRepository::new();
        store.expect_find_by_hash().once().return_once(|_| Ok(found));
        let mut secrets = MockSecrets::new();
        secrets.expect_hash().returning(|_| SecretHash([0; 32]));
        Keys::new(Arc::new(store), Arc::new(secrets), Arc::new(FixedClock))
            .authenticate(plain().expose())
    }

    #[test]
    fn a_text_with_a_wrong_checksum_never_reaches_the_store() {
        let keys = Keys::new(
            Arc::new(MockApiKeyRepository::new()),
            Arc::new(MockSecrets::new()),
            Arc::new(FixedClock),
        );
        let forged = plain().expose().replace('1', "2");
        assert!(matches!(keys.authenticate(&forged), Err(AuthenticateError::Invalid)));
    }

    #[test]
    fn unknown_revoked_and_expired_keys_are_refused_alike() {
        assert!(authenticate(Some(stored(|_| {}))).is_ok());
        assert!(matches!(authenticate(None), Err(AuthenticateError::Invalid)));
        let revoked = stored(|key| key.revoked_at = Some(now()));
        assert!(matches!(authenticate(Some(revoked)), Err(AuthenticateError::Invalid)));
        let expired = stored(|key| key.expires_at = Some(now()));
        assert!(matches!(authenticate(Some(expired)), Err(AuthenticateError::Invalid)));
    }

    #[test]
    fn the_last_use_is_noted_once_a_minute() {
        let mut store = MockApiKeyRepository::new();
        store
            .expect_find_by_hash()
            .return_once(|_| Ok(Some(stored(|key| key.last_used_at = None))));
        store.expect_touch().once().returning(|_, _| Ok(()));
        let mut secrets = MockSecrets::new();
        secrets.expect_hash().returning(|_| SecretHash([0; 32]));
        let keys = Keys::new(Arc::new(store), Arc::new(secrets), Arc::new(FixedClock));
        assert!(keys.authenticate(plain().expose()).is_ok());
    }
}
