//! Who may do what: API keys, their scopes, admins and their roles.

mod admin;
mod key;

pub use admin::{Admin, AdminEmail, AdminId, Role, Session, SessionId};
pub use key::{
    ApiKey, ApiKeyDraft, ApiKeyId, KeyKind, KeyName, PlainKey, Scope, Scopes, SecretHash,
};
