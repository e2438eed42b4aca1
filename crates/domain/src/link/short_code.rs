//! Short codes: the part of a link that visitors see.

use std::fmt;

use crate::{Invalid, InvalidCode};

/// A short code: 3–64 characters of `A-Za-z0-9_-`; case matters.
///
/// A code belongs to one link for ever: a deleted link keeps it reserved, so that a printed QR code
/// never leads to somebody else's page.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortCode(Box<str>);

impl ShortCode {
    /// Shortest code.
    pub const MIN_LENGTH: usize = 3;
    /// Longest code.
    pub const MAX_LENGTH: usize = 64;
    /// Length of a generated code: 58^7 ≈ 2.2 · 10^12 of them, so guessing finds next to nothing.
    pub const GENERATED_LENGTH: usize = 7;
    /// The letters of generated codes: base 58, without `0 O I l`, which people mix up.
    pub const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

    /// Reads a code as it stands in a URL or in a row.
    ///
    /// Checks the grammar only, because a stored code outlives today's list of reserved words.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() < Self::MIN_LENGTH {
            return Err(Invalid::new(
                InvalidCode::TooShort,
                format!("is shorter than {} characters", Self::MIN_LENGTH),
            ));
        }
        if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return Err(Invalid::new(
                InvalidCode::InvalidCharacter,
                "may hold letters A-Z and a-z, digits, _ and - only",
            ));
        }
        if text.len() > Self::MAX_LENGTH {
            return Err(Invalid::too_long(Self::MAX_LENGTH));
        }
        Ok(Self(text.into()))
    }

    /// Reads a code that a client chose for a new link.
    ///
    /// Beyond the grammar it must not consist of digits alone (the Admin API takes an id or a code
    /// in the same place) and must not be a reserved word.
    pub fn parse_own(text: &str) -> Result<Self, Invalid> {
        let code = Self::parse(text)?;
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Invalid::new(
                InvalidCode::InvalidFormat,
                "must not consist of digits only",
            ));
        }
        if is_reserved(text) {
            return Err(Invalid::new(InvalidCode::Reserved, "is a word reserved by the service"));
        }
        Ok(code)
    }

    /// Makes a code from a source of random numbers: `pick(n)` answers a number below `n`.
    ///
    /// A draw without any letter is thrown away, so a generated code is never mistaken for an id.
    pub fn generate(mut pick: impl FnMut(usize) -> usize) -> Self {
        loop {
            let text: String = (0..Self::GENERATED_LENGTH)
                .map(|_| char::from(Self::ALPHABET[pick(Self::ALPHABET.len())]))
                .collect();
            if text.bytes().any(|b| b.is_ascii_alphabetic()) && !is_reserved(&text) {
                return Self(text.into());
            }
        }
    }

    /// The code's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ShortCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Words that the service keeps for its own paths, today's and likely ones.
pub const RESERVED_WORDS: &[&str] = &[
    "api",
    "bulk",
    "docs",
    "dashboard",
    "admin",
    "login",
    "logout",
    "auth",
    "app",
    "apps",
    "sdk",
    "signals",
    "resolve",
    "identity",
    "qr",
    "static",
    "assets",
    "health",
    "healthz",
    "livez",
    "readyz",
    "metrics",
    "status",
    "robots",
    "favicon",
    "well-known",
    "sitemap",
    "manifest",
    "security",
    "help",
    "about",
    "terms",
    "privacy",
    "open",
    "go",
    "link",
    "links",
    "www",
];

/// True for a reserved word, without regard to case.
pub fn is_reserved(text: &str) -> bool {
    RESERVED_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(result: Result<ShortCode, Invalid>) -> InvalidCode {
        result.unwrap_err().code
    }

    #[test]
    fn a_code_of_3_to_64_url_safe_characters_is_accepted() {
        for text in ["abc", "A-_", "k7Qm2xT", &"x".repeat(64)] {
            assert_eq!(ShortCode::parse_own(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn length_and_alphabet_are_checked() {
        assert_eq!(code_of(ShortCode::parse("ab")), InvalidCode::TooShort);
        assert_eq!(code_of(ShortCode::parse(&"x".repeat(65))), InvalidCode::TooLong);
        for text in ["a b", "süß", "a/b", "a.b", "abc\0", "ab+", "аbс"] {
            assert_eq!(code_of(ShortCode::parse(text)), InvalidCode::InvalidCharacter, "{text}");
        }
    }

    #[test]
    fn an_own_code_is_neither_a_number_nor_a_reserved_word() {
        assert_eq!(code_of(ShortCode::parse_own("12345")), InvalidCode::InvalidFormat);
        for text in ["api", "API", "Dashboard", "well-known", "bulk"] {
            assert_eq!(code_of(ShortCode::parse_own(text)), InvalidCode::Reserved, "{text}");
        }
    }

    #[test]
    fn a_generated_code_has_a_letter_and_no_look_alikes() {
        // The first draw gives digits only and must be thrown away.
        let mut draws = [0, 1, 2, 3, 4, 5, 6].into_iter().chain((9..).map(|n| n % 58));
        let code = ShortCode::generate(|_| draws.next().unwrap());
        assert_eq!(code.as_str(), "ABCDEFG");
        assert!(!ShortCode::ALPHABET.iter().any(|b| b"0OIl".contains(b)));
        assert!(ShortCode::parse_own(code.as_str()).is_ok());
    }
}
