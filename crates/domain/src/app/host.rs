//! The hosts an app answers on.

use std::fmt;

use crate::{Invalid, InvalidCode};

/// A host name in lower case ASCII, without a port; international names are stored as punycode.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Box<str>);

impl Host {
    /// Reads a host name such as `go.shop.example`.
    ///
    /// No port, because neither Apple nor Google takes one in an association (Apple TN3155).
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(InvalidCode::InvalidFormat, "is not a host name");
        if text.len() > 253 {
            return Err(Invalid::too_long(253));
        }
        let plain = |c: char| c.is_alphanumeric() || c == '.' || c == '-';
        if !text.chars().all(plain) {
            return Err(invalid());
        }
        match url::Host::parse(text).map_err(|_| invalid())? {
            url::Host::Domain(domain) if !domain.is_empty() => {
                let label = |l: &str| {
                    (1..=63).contains(&l.len()) && !l.starts_with('-') && !l.ends_with('-')
                };
                if domain.split('.').all(label) { Ok(Self(domain.into())) } else { Err(invalid()) }
            }
            _ => Err(invalid()),
        }
    }

    /// The host that a `Host` header names, its port cut off; nothing for an address or nonsense.
    pub fn from_header(text: &str) -> Option<Self> {
        let name = text.rsplit_once(':').map_or(text, |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { name } else { text }
        });
        Self::parse(name).ok()
    }

    /// The host's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_without_port_or_path() {
        assert_eq!(Host::parse("Go.Shop.Example").unwrap().as_str(), "go.shop.example");
        assert_eq!(Host::parse("bücher.example").unwrap().as_str(), "xn--bcher-kva.example");
        for text in [
            "",
            "a b",
            "a.example:80",
            "a/b",
            "127.0.0.1",
            "[::1]",
            "-a.example",
            "a..b",
            "a.example.",
        ] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_header_may_carry_a_port() {
        assert_eq!(Host::from_header("Go.example:8080").unwrap().as_str(), "go.example");
        assert_eq!(Host::from_header("127.0.0.1:8080"), None);
    }
}
