//! Secrets: made, hashed, signed and checked.

use chrono::{DateTime, Utc};

use super::StoredPassword;
use crate::access::{AdminId, KeyKind, PlainKey, SecretHash, SessionId};

/// Makes secrets from a cryptographically secure source and hashes them.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Secrets: Send + Sync {
    /// A new API key.
    fn api_key(&self, kind: KeyKind) -> PlainKey;
    /// A new refresh token.
    fn refresh_token(&self) -> RefreshToken;
    /// A new session number.
    fn session_id(&self) -> SessionId;
    /// The SHA-256 of a secret, under which it is stored.
    fn hash(&self, secret: &str) -> SecretHash;
}

/// A refresh token in clear; it can't be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshToken(pub String);

impl std::fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RefreshToken(…)")
    }
}

/// Hashes and checks passwords, slowly on purpose.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Passwords: Send + Sync {
    /// The Argon2id hash of a password, with a salt of its own.
    fn hash(&self, password: &str) -> StoredPassword;
    /// True when the password has this hash; without a hash it takes as long and answers false.
    fn matches(&self, password: &str, stored: Option<StoredPassword>) -> bool;
}

/// What an access token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessClaims {
    /// The admin.
    pub admin_id: AdminId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// When it was made.
    pub issued_at: DateTime<Utc>,
    /// When it stops working.
    pub expires_at: DateTime<Utc>,
}

/// Signs and checks access tokens.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait AccessTokens: Send + Sync {
    /// Signs a token with the newest secret.
    fn sign(&self, claims: AccessClaims) -> String;
    /// Reads a token that any of our secrets signed, at `now`.
    fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError>;
}

/// Why a token was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Once good, now too old.
    #[error("the token has expired")]
    Expired,
    /// Not ours, or damaged.
    #[error("the token is not valid")]
    Invalid,
}
