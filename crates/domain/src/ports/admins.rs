//! The store of admins and their sessions.

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::access::{Admin, AdminEmail, AdminId, Role, SecretHash, Session, SessionId};
use crate::app::AppId;

/// Durable store of admins and their sessions. An address belongs to at most one admin.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait AdminRepository: Send + Sync {
    /// Stores an admin and returns them with their number.
    ///
    /// Answers [`InsertAdminError::EmailTaken`] and stores nothing when the address is in use.
    fn insert(
        &self,
        email: &AdminEmail,
        password: &StoredPassword,
        role: Role,
        apps: &[AppId],
        now: DateTime<Utc>,
    ) -> Result<Admin, InsertAdminError>;

    /// The admin with this address and the hash of their password, or `None`.
    fn find_by_email(
        &self,
        email: &AdminEmail,
    ) -> Result<Option<(Admin, StoredPassword)>, StoreError>;

    /// Sets a new password and ends all sessions of the admin; false without such an admin.
    fn set_password(
        &self,
        email: &AdminEmail,
        password: &StoredPassword,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Opens a session with its first refresh token.
    fn open_session(&self, session: &NewSession) -> Result<(), StoreError>;

    /// The session and its admin, or `None` when it has ended or expired.
    fn find_session(
        &self,
        id: SessionId,
        now: DateTime<Utc>,
    ) -> Result<Option<SignedIn>, StoreError>;

    /// Replaces a refresh token by its successor, once: of two rotations of one token at the same
    /// time, one is a reuse. A reused token ends its session.
    fn rotate(
        &self,
        used: SecretHash,
        successor: SecretHash,
        now: DateTime<Utc>,
        expires_at: DateTime<Utc>,
    ) -> Result<Rotation, StoreError>;

    /// The admin's open sessions, newest first.
    fn sessions(&self, admin: AdminId, now: DateTime<Utc>) -> Result<Vec<Session>, StoreError>;

    /// Ends the admin's session; false when they have no such open session.
    fn end_session(
        &self,
        admin: AdminId,
        id: SessionId,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}

/// A password as it is stored: an Argon2id string; its `Debug` form says nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredPassword(pub String);

impl std::fmt::Debug for StoredPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoredPassword(…)")
    }
}

/// A session to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The session.
    pub session: Session,
    /// The hash of its first refresh token.
    pub refresh: SecretHash,
}

/// A session with its admin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The session.
    pub session: Session,
    /// Who it is.
    pub admin: Admin,
}

/// What became of a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotation {
    /// Replaced.
    Rotated(Box<SignedIn>),
    /// Used before: somebody holds a copy, so the session was ended.
    Reused,
    /// Unknown, expired, or its session has ended.
    Unknown,
}

/// Why an admin was not stored.
#[derive(Debug, thiserror::Error)]
pub enum InsertAdminError {
    /// Another admin has this address.
    #[error("the address is taken")]
    EmailTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
