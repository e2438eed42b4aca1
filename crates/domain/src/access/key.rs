//! API keys: what they look like and what they allow.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::app::AppId;
use crate::{Invalid, InvalidCode};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A key's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiKeyId(pub i64);

/// The two kinds of keys; a key never mixes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// For back ends; must stay secret.
    Secret,
    /// For apps; ships inside them, so anybody can read it.
    Publishable,
}

impl KeyKind {
    /// What every key of this kind begins with. Changing it would revoke all keys in use.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Secret => "sp_live_",
            Self::Publishable => "sp_pub_",
        }
    }

    /// The name in rows and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Publishable => "publishable",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Secret, Self::Publishable].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A key in clear, as its owner holds it; it can't be printed.
///
/// 32 random base-62 characters (190 bits), then 6 that are their CRC-32. The checksum makes a
/// mistyped or invented key recognisable without asking the database.
#[derive(Clone, PartialEq, Eq)]
pub struct PlainKey {
    kind: KeyKind,
    text: Box<str>,
}

impl PlainKey {
    const RANDOM: usize = 32;
    const CHECKSUM: usize = 6;
    /// How much of a key a list may show.
    const SHOWN: usize = 4;

    /// Makes a key from a source of random numbers: `pick(n)` answers a number below `n`.
    pub fn generate(kind: KeyKind, mut pick: impl FnMut(usize) -> usize) -> Self {
        let mut text = kind.prefix().to_owned();
        text.extend((0..Self::RANDOM).map(|_| char::from(BASE62[pick(BASE62.len())])));
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Self { kind, text: text.into() }
    }

    /// Reads a key; nothing for a text that is no key, a wrong checksum included.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = [KeyKind::Secret, KeyKind::Publishable]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let length = kind.prefix().len() + Self::RANDOM + Self::CHECKSUM;
        if text.len() != length || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return None;
        }
        let (body, sum) = text.split_at(length - Self::CHECKSUM);
        (checksum(body) == sum).then(|| Self { kind, text: text.into() })
    }

    /// The kind its prefix names.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The whole key, to be shown to its owner once, or hashed.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The part that lists may show.
    pub fn shown_prefix(&self) -> &str {
        &self.text[..self.kind.prefix().len() + Self::SHOWN]
    }
}

impl fmt::Debug for PlainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainKey({}…)", self.kind.prefix())
    }
}

fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes()) as usize;
    let mut sum = [b'0'; PlainKey::CHECKSUM];
    for digit in sum.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    sum.iter().map(|&b| char::from(b)).collect()
}

/// The SHA-256 of a key or token: all that is stored of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretHash(pub [u8; 32]);

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// One permission of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Reading links.
    LinksRead,
    /// Creating, changing and deleting links.
    LinksWrite,
    /// Resolving links inside an app.
    SdkResolve,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::LinksRead, Self::LinksWrite, Self::SdkResolve];

    /// The scope's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinksRead => "links:read",
            Self::LinksWrite => "links:write",
            Self::SdkResolve => "sdk:resolve",
        }
    }

    /// Reads a scope's name.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            Invalid::new(
                InvalidCode::UnknownValue,
                "is not a scope: links:read, links:write or sdk:resolve",
            )
        })
    }

    /// The kind of key that may have this scope.
    pub fn kind(self) -> KeyKind {
        match self {
            Self::LinksRead | Self::LinksWrite => KeyKind::Secret,
            Self::SdkResolve => KeyKind::Publishable,
        }
    }
}

/// The permissions of a key: at least one, all of one kind; none implies another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(Vec<Scope>);

impl Scopes {
    /// Collects scopes; repeats are dropped.
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Result<Self, Invalid> {
        let mut unique = Vec::new();
        for scope in scopes {
            if !unique.contains(&scope) {
                unique.push(scope);
            }
        }
        let Some(first) = unique.first() else {
            return Err(Invalid::new(InvalidCode::Required, "names no scope"));
        };
        if unique.iter().any(|scope| scope.kind() != first.kind()) {
            return Err(Invalid::new(
                InvalidCode::InvalidFormat,
                "mixes scopes of secret and of publishable keys",
            ));
        }
        Ok(Self(unique))
    }

    /// True when the key has this permission.
    pub fn allow(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// The kind of key that has these scopes.
    pub fn kind(&self) -> KeyKind {
        self.0[0].kind()
    }

    /// The scopes in the order given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scope> + '_ {
        self.0.iter().copied()
    }
}

/// What a key is for, in its owner's words: up to 100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(Box<str>);

impl KeyName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        crate::app::AppName::parse(text).map(|name| Self(name.as_str().into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A key before it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyDraft {
    /// The app it belongs to.
    pub app_id: AppId,
    /// The hash of the whole key.
    pub hash: SecretHash,
    /// The part that lists show.
    pub prefix: String,
    /// What it is for.
    pub name: KeyName,
    /// What it allows.
    pub scopes: Scopes,
    /// When it is created.
    pub created_at: DateTime<Utc>,
    /// When it stops working by itself.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its number.
    pub id: ApiKeyId,
    /// The app it belongs to.
    pub app_id: AppId,
    /// The part that lists show.
    pub prefix: String,
    /// What it is for.
    pub name: KeyName,
    /// What it allows.
    pub scopes: Scopes,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it stops working by itself.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// True while the key is neither revoked nor expired.
    pub fn is_active(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: KeyKind) -> PlainKey {
        let mut n = 0;
        PlainKey::generate(kind, |below| {
            n += 7;
            n % below
        })
    }

    #[test]
    fn a_generated_key_reads_back_with_its_kind() {
        for kind in [KeyKind::Secret, KeyKind::Publishable] {
            let key = key(kind);
            assert!(key.expose().starts_with(kind.prefix()));
            assert_eq!(key.expose().len(), kind.prefix().len() + 38);
            assert_eq!(PlainKey::parse(key.expose()), Some(key.clone()));
            assert_eq!(key.kind(), kind);
        }
    }

    #[test]
    fn one_changed_character_makes_it_no_key() {
        let text = key(KeyKind::Secret).expose().to_owned();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(PlainKey::parse(std::str::from_utf8(&bytes).unwrap()), None, "{at}");
        }
        assert_eq!(PlainKey::parse(""), None);
        assert_eq!(PlainKey::parse("sp_live_"), None);
        assert_eq!(PlainKey::parse(&format!("sp_live_{}", "é".repeat(19))), None);
    }

    #[test]
    fn a_key_does_not_print_itself() {
        assert_eq!(format!("{:?}", key(KeyKind::Secret)), "PlainKey(sp_live_…)");
        assert_eq!(key(KeyKind::Secret).shown_prefix().len(), 12);
    }

    #[test]
    fn scopes_of_the_two_kinds_do_not_mix_and_none_implies_another() {
        assert!(Scopes::new([]).is_err());
        assert!(Scopes::new([Scope::LinksRead, Scope::SdkResolve]).is_err());
        let write = Scopes::new([Scope::LinksWrite, Scope::LinksWrite]).unwrap();
        assert_eq!(write.iter().len(), 1);
        assert!(write.allow(Scope::LinksWrite));
        assert!(!write.allow(Scope::LinksRead));
    }
}
