//! Admins: the people behind the dashboard.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::app::AppId;
use crate::{Invalid, InvalidCode};

/// An admin's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AdminId(pub i64);

/// An address to sign in with, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AdminEmail(Box<str>);

impl AdminEmail {
    /// Reads an address: one `@` with something on both sides, at most 254 characters (RFC 5321).
    ///
    /// Whether mail arrives there is nothing a form can tell.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.chars().nth(254).is_some() {
            return Err(Invalid::too_long(254));
        }
        let well_formed = text.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        }) && !text.chars().any(|c| c.is_whitespace() || c.is_control());
        if !well_formed {
            return Err(Invalid::new(InvalidCode::InvalidFormat, "is not an e-mail address"));
        }
        Ok(Self(text.to_lowercase().into()))
    }

    /// The address in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an admin may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Owner,
    /// The apps named for them.
    Member,
}

impl Role {
    /// The role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Member => "member",
        }
    }

    /// Reads a role's name.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::Owner, Self::Member].into_iter().find(|role| role.as_str() == text).ok_or_else(
            || Invalid::new(InvalidCode::UnknownValue, "is not a role: owner or member"),
        )
    }
}

/// An admin, without the password's hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Their number.
    pub id: AdminId,
    /// Their address.
    pub email: AdminEmail,
    /// Their role.
    pub role: Role,
    /// The apps a member may see.
    pub apps: Vec<AppId>,
    /// When the account was created.
    pub created_at: DateTime<Utc>,
}

impl Admin {
    /// True when this admin may see the app.
    pub fn sees(&self, app: AppId) -> bool {
        self.role == Role::Owner || self.apps.contains(&app)
    }
}

/// A session's number, unguessable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub Uuid);

/// A signed-in browser: all refresh tokens that descend from one sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its number.
    pub id: SessionId,
    /// Who signed in.
    pub admin_id: AdminId,
    /// When.
    pub created_at: DateTime<Utc>,
    /// When it ends without a refresh.
    pub expires_at: DateTime<Utc>,
    /// The browser that signed in.
    pub user_agent: Option<String>,
    /// The network it signed in from, cut to /24 or /48.
    pub network: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_two_sides_and_no_case() {
        assert_eq!(AdminEmail::parse(" Ops@Example.COM ").unwrap().as_str(), "ops@example.com");
        for text in
            ["", "ops", "@example.com", "ops@", "a@b@c", "a b@c", &format!("{}@x", "a".repeat(254))]
        {
            assert!(AdminEmail::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_member_sees_the_apps_named_and_an_owner_all() {
        let admin = |role, apps| Admin {
            id: AdminId(1),
            email: AdminEmail::parse("a@b").unwrap(),
            role,
            apps,
            created_at: DateTime::from_timestamp(0, 0).unwrap(),
        };
        assert!(admin(Role::Owner, vec![]).sees(AppId(2)));
        assert!(admin(Role::Member, vec![AppId(2)]).sees(AppId(2)));
        assert!(!admin(Role::Member, vec![AppId(2)]).sees(AppId(1)));
    }
}
