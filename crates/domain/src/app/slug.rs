//! An app's word in URLs.

use std::fmt;

use crate::link::is_reserved;
use crate::{Invalid, InvalidCode};

/// A slug: 2–40 characters of `a-z0-9-`, not at the ends a hyphen, not a reserved word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slug(Box<str>);

impl Slug {
    /// Longest slug.
    pub const MAX_LENGTH: usize = 40;

    /// Reads a slug.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() < 2 {
            return Err(Invalid::new(InvalidCode::TooShort, "is shorter than 2 characters"));
        }
        if text.len() > Self::MAX_LENGTH {
            return Err(Invalid::too_long(Self::MAX_LENGTH));
        }
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !text.bytes().all(allowed) || text.starts_with('-') || text.ends_with('-') {
            return Err(Invalid::new(
                InvalidCode::InvalidFormat,
                "may hold a-z, 0-9 and, between them, hyphens only",
            ));
        }
        if is_reserved(text) {
            return Err(Invalid::new(InvalidCode::Reserved, "is a word reserved by the service"));
        }
        Ok(Self(text.into()))
    }

    /// A slug made from a name: its ASCII letters and digits, everything else a hyphen.
    ///
    /// Answers nothing when too little is left of the name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut slug = String::new();
        for c in name.to_lowercase().chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c);
            } else if !slug.ends_with('-') && !slug.is_empty() {
                slug.push('-');
            }
        }
        slug.truncate(Self::MAX_LENGTH);
        let slug = slug.trim_end_matches('-');
        Self::parse(slug).or_else(|_| Self::parse(&format!("{slug}-app"))).ok()
    }

    /// The slug's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_and_not_reserved() {
        assert!(Slug::parse("shop-2").is_ok());
        for text in ["", "a", "Shop", "-a", "a-", "a_b", "ä1", "api", "dashboard", &"x".repeat(41)]
        {
            assert!(Slug::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_suggests_its_slug() {
        let slug = |name| Slug::from_name(name).map(|s| s.as_str().to_owned());
        assert_eq!(slug("My Shop!"), Some("my-shop".to_owned()));
        assert_eq!(slug("App"), Some("app-app".to_owned()));
        assert_eq!(slug("日本"), None);
    }
}
