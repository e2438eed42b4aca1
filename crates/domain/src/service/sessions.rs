//! Signing in, staying signed in, signing out.

use std::sync::Arc;

use chrono::TimeDelta;

use crate::access::{AdminEmail, AdminId, Role, Session, SessionId};
use crate::app::AppId;
use crate::ports::{
    AccessClaims, AccessTokens, AdminRepository, Clock, InsertAdminError, NewSession, Passwords,
    RefreshToken, Rotation, Secrets, SignedIn, StoreError, TokenError,
};

/// How long an access token works.
const ACCESS_LIFETIME: TimeDelta = TimeDelta::minutes(15);
/// How long a session lasts without a refresh.
const SESSION_LIFETIME: TimeDelta = TimeDelta::days(30);

/// Opens, renews and ends the sessions of admins.
#[derive(Clone)]
pub struct Sessions {
    store: Arc<dyn AdminRepository>,
    passwords: Arc<dyn Passwords>,
    secrets: Arc<dyn Secrets>,
    tokens: Arc<dyn AccessTokens>,
    clock: Arc<dyn Clock>,
}

/// Where somebody signs in from, for the list of sessions.
#[derive(Debug, Clone, Default)]
pub struct SignInFrom {
    /// The browser.
    pub user_agent: Option<String>,
    /// The network.
    pub network: Option<String>,
}

/// What a signed-in admin holds.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// For requests.
    pub access: String,
    /// How long the access token works.
    pub expires_in: TimeDelta,
    /// For the next pair of tokens.
    pub refresh: RefreshToken,
    /// How long the refresh token works.
    pub refresh_expires_in: TimeDelta,
}

/// Why somebody is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// Wrong address or password, an unknown or ended session, a bad token: not told which.
    #[error("the credentials are not valid")]
    Invalid,
    /// An access token that was good once.
    #[error("the access token has expired")]
    Expired,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Sessions {
    /// The service over its ports.
    pub fn new(
        store: Arc<dyn AdminRepository>,
        passwords: Arc<dyn Passwords>,
        secrets: Arc<dyn Secrets>,
        tokens: Arc<dyn AccessTokens>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, passwords, secrets, tokens, clock }
    }

    /// Opens a session.
    ///
    /// An unknown address costs as much time as a wrong password, so that neither the answer nor
    /// its delay tells who has an account.
    pub fn sign_in(
        &self,
        email: &str,
        password: &str,
        from: SignInFrom,
    ) -> Result<Tokens, SessionsError> {
        let known = match AdminEmail::parse(email) {
            Ok(email) => self.store.find_by_email(&email)?,
            Err(_) => None,
        };
        let stored = known.as_ref().map(|(_, stored)| stored.clone());
        let matches = self.passwords.matches(password, stored);
        let Some((admin, _)) = known.filter(|_| matches) else {
            return Err(SessionsError::Invalid);
        };
        let now = self.clock.now();
        let refresh = self.secrets.refresh_token();
        let session = Session {
            id: self.secrets.session_id(),
            admin_id: admin.id,
            created_at: now,
            expires_at: now + SESSION_LIFETIME,
            user_agent: from.user_agent,
            network: from.network,
        };
        let id = session.id;
        self.store.open_session(&NewSession { session, refresh: self.secrets.hash(&refresh.0) })?;
        Ok(self.tokens(admin.id, id, refresh))
    }

    /// Exchanges a refresh token for a new pair.
    pub fn refresh(&self, token: &str) -> Result<Tokens, SessionsError> {
        let now = self.clock.now();
        let successor = self.secrets.refresh_token();
        let rotation = self.store.rotate(
            self.secrets.hash(token),
            self.secrets.hash(&successor.0),
            now,
            now + SESSION_LIFETIME,
        )?;
        match rotation {
            Rotation::Rotated(who) => Ok(self.tokens(who.admin.id, who.session.id, successor)),
            Rotation::Reused | Rotation::Unknown => Err(SessionsError::Invalid),
        }
    }

    /// Who an access token stands for. A session that has ended is refused at once.
    pub fn authenticate(&self, token: &str) -> Result<SignedIn, SessionsError> {
        let now = self.clock.now();
        let claims = self.tokens.verify(token, now).map_err(|error| match error {
            TokenError::Expired => SessionsError::Expired,
            TokenError::Invalid => SessionsError::Invalid,
        })?;
        self.store
            .find_session(claims.session_id, now)?
            .filter(|who| who.admin.id == claims.admin_id)
            .ok_or(SessionsError::Invalid)
    }

    /// The admin's open sessions.
    pub fn list(&self, admin: AdminId) -> Result<Vec<Session>, StoreError> {
        self.store.sessions(admin, self.clock.now())
    }

    /// Ends one of the admin's sessions; false when they have no such session.
    pub fn end(&self, admin: AdminId, id: SessionId) -> Result<bool, StoreError> {
        self.store.end_session(admin, id, self.clock.now())
    }

    /// Creates an admin.
    pub fn create_admin(
        &self,
        email: &AdminEmail,
        password: &str,
        role: Role,
        apps: &[AppId],
    ) -> Result<crate::access::Admin, InsertAdminError> {
        let stored = self.passwords.hash(password);
        self.store.insert(email, &stored, role, apps, self.clock.now())
    }

    /// Sets a new password and ends all sessions; false without such an admin.
    pub fn reset_password(&self, email: &AdminEmail, password: &str) -> Result<bool, StoreError> {
        let stored = self.passwords.hash(password);
        self.store.set_password(email, &stored, self.clock.now())
    }

    fn tokens(&self, admin_id: AdminId, session_id: SessionId, refresh: RefreshToken) -> Tokens {
        let issued_at = self.clock.now();
        let claims = AccessClaims {
            admin_id,
            session_id,
            issued_at,
            expires_at: issued_at + ACCESS_LIFETIME,
        };
        Tokens {
            access: self.tokens.sign(claims),
            expires_in: ACCESS_LIFETIME,
            refresh,
            refresh_expires_in: SESSION_LIFETIME,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Admin, SecretHash};
    use crate::ports::{
        MockAccessTokens, MockAdminRepository, MockPasswords, MockSecrets, StoredPassword,
    };
    use crate::service::setup::tests::{FixedClock, now};

    fn admin() -> Admin {
        Admin {
            id: AdminId(1),
            email: AdminEmail::parse("a@b").unwrap(),
            role: Role::Owner,
            apps: vec![],
            created_at: now(),
        }
    }

    fn sign_in(known: bool, matches: bool) -> Result<Tokens, SessionsError> {
        let mut store = MockAdminRepository::new();
        store
            .expect_find_by_email()
            .returning(move |_| Ok(known.then(|| (admin(), StoredPassword("hash".to_owned())))));
        store.expect_open_session().times(usize::from(known && matches)).returning(|_| Ok(()));
        let mut passwords = MockPasswords::new();
        // Called once in every case: that is what makes the cases take the same time.
        passwords.expect_matches().once().returning(move |_, stored| stored.is_some() && matches);
        let mut secrets = MockSecrets::new();
        secrets.expect_refresh_token().returning(|| RefreshToken("r".to_owned()));
        secrets.expect_session_id().returning(|| SessionId(uuid::Uuid::nil()));
        secrets.expect_hash().returning(|_| SecretHash([0; 32]));
        let mut tokens = MockAccessTokens::new();
        tokens.expect_sign().returning(|_| "token".to_owned());
        Sessions::new(
            Arc::new(store),
            Arc::new(passwords),
            Arc::new(secrets),
            Arc::new(tokens),
            Arc::new(FixedClock),
        )
        .sign_in("a@b", "password", SignInFrom::default())
    }

    #[test]
    fn the_right_password_opens_a_session() {
        assert_eq!(sign_in(true, true).unwrap().access, "token");
    }

    #[test]
    fn wrong_password_and_unknown_address_are_indistinguishable() {
        assert!(matches!(sign_in(true, false), Err(SessionsError::Invalid)));
        assert!(matches!(sign_in(false, false), Err(SessionsError::Invalid)));
    }
}
