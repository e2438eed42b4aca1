//! The first start of an installation.

use std::sync::Arc;

use crate::access::{AdminEmail, KeyName, PlainKey, Scope, Scopes};
use crate::app::{App, AppDraft, AppName, AppSettings, Slug};
use crate::ports::{Clock, FirstContent, Installation, Passwords, Secrets, StoreError};
use crate::{Invalid, access::KeyKind};

/// Fills an empty installation so that it can be tried at once.
#[derive(Clone)]
pub struct Setup {
    store: Arc<dyn Installation>,
    secrets: Arc<dyn Secrets>,
    passwords: Arc<dyn Passwords>,
    clock: Arc<dyn Clock>,
}

/// The secrets of a new installation, to be shown once.
#[derive(Debug, Clone)]
pub struct FirstSecrets {
    /// The first app.
    pub app: App,
    /// A key that reads and writes links.
    pub secret_key: PlainKey,
    /// A key for the app itself.
    pub publishable_key: PlainKey,
    /// The owner's address.
    pub owner: AdminEmail,
    /// The owner's password.
    pub password: String,
}

impl Setup {
    /// The service over its ports.
    pub fn new(
        store: Arc<dyn Installation>,
        secrets: Arc<dyn Secrets>,
        passwords: Arc<dyn Passwords>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, secrets, passwords, clock }
    }

    /// Creates one app, its keys and one owner; `None` when the installation is in use already.
    pub fn fill(&self) -> Result<Option<FirstSecrets>, StoreError> {
        let constant = |error: Invalid| StoreError::failed(error);
        let owner = AdminEmail::parse("admin@localhost").map_err(constant)?;
        let secret_scopes = Scopes::new([Scope::LinksRead, Scope::LinksWrite]).map_err(constant)?;
        let public_scopes = Scopes::new([Scope::SdkResolve]).map_err(constant)?;
        let secret_key = self.secrets.api_key(KeyKind::Secret);
        let publishable_key = self.secrets.api_key(KeyKind::Publishable);
        // As long as a refresh token: nobody types it twice, and it should be replaced anyway.
        let password: String = self.secrets.refresh_token().0.chars().take(20).collect();
        let now = self.clock.now();
        let keys = [(&secret_key, secret_scopes), (&publishable_key, public_scopes)]
            .into_iter()
            .map(|(key, scopes)| {
                let name = KeyName::parse("first").map_err(constant)?;
                Ok((self.secrets.hash(key.expose()), key.shown_prefix().to_owned(), name, scopes))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let first = FirstContent {
            app: AppDraft {
                slug: Slug::parse("first").map_err(constant)?,
                name: AppName::parse("My app").map_err(constant)?,
                hosts: Vec::new(),
                settings: AppSettings::default(),
                created_at: now,
            },
            keys,
            owner: owner.clone(),
            password: self.passwords.hash(&password),
            now,
        };
        let app = self.store.fill(&first)?;
        Ok(app.map(|app| FirstSecrets { app, secret_key, publishable_key, owner, password }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::access::SecretHash;
    use crate::ports::{
        MockInstallation, MockPasswords, MockSecrets, RefreshToken, StoredPassword,
    };

    /// Time is input, not interaction: a constant, not a mock.
    pub(crate) struct FixedClock;
    impl Clock for FixedClock {
        fn now(&self) -> DateTime<Utc> {
            now()
        }
    }

    pub(crate) fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_767_603_600, 0).unwrap()
    }

    fn fill(empty: bool) -> Option<FirstSecrets> {
        let mut store = MockInstallation::new();
        store
            .expect_fill()
            .withf(|first| {
                first.keys.len() == 2 && first.keys[0].3.kind() != first.keys[1].3.kind()
            })
            .once()
            .returning(move |_| Ok(empty.then(|| App::for_tests(AppSettings::default()))));
        let mut secrets = MockSecrets::new();
        secrets.expect_api_key().returning(|kind| PlainKey::generate(kind, |_| 1));
        secrets.expect_refresh_token().returning(|| RefreshToken("x".repeat(43)));
        secrets.expect_hash().returning(|_| SecretHash([0; 32]));
        let mut passwords = MockPasswords::new();
        passwords.expect_hash().returning(|_| StoredPassword("hash".to_owned()));
        Setup::new(Arc::new(store), Arc::new(secrets), Arc::new(passwords), Arc::new(FixedClock))
            .fill()
            .unwrap()
    }

    #[test]
    fn an_empty_installation_gets_an_app_two_keys_and_an_owner() {
        let first = fill(true).unwrap();
        assert_eq!(first.secret_key.kind(), KeyKind::Secret);
        assert_eq!(first.publishable_key.kind(), KeyKind::Publishable);
        assert_eq!(first.password.len(), 20);
    }

    #[test]
    fn an_installation_in_use_is_left_alone() {
        assert!(fill(false).is_none());
    }
}
