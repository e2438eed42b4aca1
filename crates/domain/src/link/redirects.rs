//! The URLs of a link: where visitors are sent, and the preview's picture.

use url::Url;

use super::Target;
use crate::{Invalid, InvalidCode};

/// Longest URL, in Unicode characters: what browsers and app stores agree on.
const MAX_CHARS: usize = 2048;

/// Schemes of app stores, which phones open without a browser.
const STORE_SCHEMES: &[&str] = &["market", "itms-apps"];

/// Schemes that run code or reach into the device; refused even when an app registers them.
const FORBIDDEN_SCHEMES: &[&str] = &[
    "javascript",
    "data",
    "vbscript",
    "file",
    "blob",
    "intent",
    "about",
    "view-source",
    "filesystem",
    "content",
    "ws",
    "wss",
    "ftp",
    "mailto",
    "tel",
    "sms",
];

/// A scheme that an app has registered with the phone's system, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomScheme(Box<str>);

impl CustomScheme {
    /// Reads a scheme by RFC 3986 section 3.1, without the colon; at most 64 characters.
    ///
    /// Schemes with a meaning of their own (`https`, `javascript`, `market`, …) are refused.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let scheme = text.to_ascii_lowercase();
        let well_formed = scheme.len() <= 64
            && scheme.starts_with(|c: char| c.is_ascii_lowercase())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        if !well_formed {
            return Err(Invalid::new(
                InvalidCode::InvalidFormat,
                "is not a URL scheme: a letter, then letters, digits, +, - or .",
            ));
        }
        let taken = ["http", "https"].contains(&scheme.as_str())
            || STORE_SCHEMES.contains(&scheme.as_str())
            || FORBIDDEN_SCHEMES.contains(&scheme.as_str());
        if taken {
            return Err(Invalid::new(
                InvalidCode::SchemeNotAllowed,
                "is a scheme with a meaning of its own",
            ));
        }
        Ok(Self(scheme.into()))
    }

    /// The scheme in lower case, without the colon.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An absolute URL that a visitor may be sent to, kept as its writer wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUrl {
    written: Box<str>,
    /// As it is sent, where that is spelt differently: found out once and not on every visit.
    sent: Option<Box<str>>,
}

impl RedirectUrl {
    /// Reads a URL for a link of an app with these schemes.
    ///
    /// Allowed are http and https with a host, store schemes, and the app's own schemes.
    pub fn parse(text: &str, own: &[CustomScheme]) -> Result<Self, Invalid> {
        let url = Self::from_stored(text)?;
        if url.target(own).is_some() {
            Ok(url)
        } else {
            Err(Invalid::new(
                InvalidCode::SchemeNotAllowed,
                "must use http, https, an app store scheme or a scheme registered for the app",
            ))
        }
    }

    /// Reads a stored URL: its form is checked, its scheme when it is used.
    ///
    /// An app may drop a scheme that its links still name; such a row is no damage, and
    /// [`target`](Self::target) refuses it.
    pub fn from_stored(text: &str) -> Result<Self, Invalid> {
        let url = parse_url(text)?;
        let sent = (url.as_str() != text).then(|| url.as_str().into());
        Ok(Self { written: text.into(), sent })
    }

    /// The URL to send, if its scheme is allowed for the app today.
    pub fn target(&self, own: &[CustomScheme]) -> Option<Target<'_>> {
        let target = Target::new(self.sent.as_deref().unwrap_or(&self.written));
        scheme_allowed(target.scheme(), own).then_some(target)
    }

    /// The URL as its writer wrote it.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

fn scheme_allowed(scheme: &str, own: &[CustomScheme]) -> bool {
    matches!(scheme, "http" | "https")
        || STORE_SCHEMES.contains(&scheme)
        || (!FORBIDDEN_SCHEMES.contains(&scheme) && own.iter().any(|own| own.as_str() == scheme))
}

/// An http or https URL of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageUrl(Box<str>);

impl ImageUrl {
    /// Reads an image URL.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match parse_url(text)?.scheme() {
            "http" | "https" => Ok(Self(text.into())),
            _ => Err(Invalid::new(InvalidCode::SchemeNotAllowed, "must use http or https")),
        }
    }

    /// The URL as its writer wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where the visitors of a link are sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redirects {
    /// Visitors with an iPhone or iPad.
    pub ios: Option<RedirectUrl>,
    /// Visitors with an Android device.
    pub android: Option<RedirectUrl>,
    /// Everybody else, and the platforms above when they have no URL of their own.
    pub web: Option<RedirectUrl>,
    /// Visitors who come after the link's expiry.
    pub expired: Option<RedirectUrl>,
}

/// Parses a URL after refusing what the WHATWG parser would silently repair.
///
/// The parser drops tabs and line breaks, trims blanks, reads `\` as `/` and `http:host` as
/// `http://host`. Readers that don't repair see another host than those that do, which is how
/// filters are fooled, so the odd forms are refused instead.
fn parse_url(text: &str) -> Result<Url, Invalid> {
    let invalid = |message: &str| Invalid::new(InvalidCode::InvalidUrl, message);
    if text.chars().any(char::is_control) {
        return Err(Invalid::new(InvalidCode::InvalidCharacter, "holds a control character"));
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(Invalid::too_long(MAX_CHARS));
    }
    if text.contains(|c: char| c.is_whitespace() || c == '\\') {
        return Err(invalid("holds white space or a backslash"));
    }
    let url = Url::parse(text).map_err(|_| invalid("is not an absolute URL"))?;
    if matches!(url.scheme(), "http" | "https") {
        let after_scheme = &text[url.scheme().len()..];
        let authority = after_scheme.strip_prefix("://").filter(|rest| !rest.starts_with('/'));
        if authority.is_none() || url.host_str().is_none_or(str::is_empty) {
            return Err(invalid("has no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("holds a user name or a password"));
        }
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> InvalidCode {
        RedirectUrl::parse(text, &[]).unwrap_err().code
    }

    #[test]
    fn web_and_store_urls_are_accepted_as_written() {
        for text in [
            "https://example.com",
            "HTTPS://Example.com/ä?q=€#x",
            "http://192.0.2.1:8080/a%20b",
            "market://details?id=com.example.shop",
            "itms-apps://itunes.apple.com/app/id1",
        ] {
            assert_eq!(RedirectUrl::parse(text, &[]).unwrap().as_str(), text);
        }
    }

    #[test]
    fn code_and_device_schemes_are_refused_even_when_registered() {
        for text in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "intent://x#Intent;end",
            "blob:https://a/b",
            "vbscript:x",
        ] {
            assert_eq!(refusal(text), InvalidCode::SchemeNotAllowed, "{text}");
        }
        assert_eq!(
            CustomScheme::parse("JavaScript").unwrap_err().code,
            InvalidCode::SchemeNotAllowed
        );
        assert_eq!(CustomScheme::parse("https").unwrap_err().code, InvalidCode::SchemeNotAllowed);
        assert_eq!(CustomScheme::parse("my app").unwrap_err().code, InvalidCode::InvalidFormat);
    }

    #[test]
    fn an_own_scheme_is_allowed_for_its_app_only() {
        let shop = [CustomScheme::parse("Shop").unwrap()];
        assert!(RedirectUrl::parse("shop://item/1", &shop).is_ok());
        assert_eq!(refusal("shop://item/1"), InvalidCode::SchemeNotAllowed);
        let stored = RedirectUrl::from_stored("shop://item/1").unwrap();
        assert!(stored.target(&shop).is_some());
        assert!(stored.target(&[]).is_none());
    }

    #[test]
    fn a_url_is_sent_in_its_normal_spelling_and_kept_in_its_writers() {
        for (written, sent) in [
            ("HTTPS://Example.com", "https://example.com/"),
            ("https://example.com/ä?q=€", "https://example.com/%C3%A4?q=%E2%82%AC"),
            ("https://example.com/", "https://example.com/"),
        ] {
            let url = RedirectUrl::parse(written, &[]).unwrap();
            assert_eq!((url.as_str(), url.target(&[]).unwrap().as_str()), (written, sent));
        }
    }

    #[test]
    fn forms_that_parsers_read_differently_are_refused() {
        for text in [
            "//evil.example",
            "/path",
            "example.com",
            "http:evil.example",
            "https:///evil.example",
            "https://user@example.com",
            "https://u:p@example.com",
            "https://",
            "http://a b",
            " https://example.com",
            "https:\\\\evil.example",
        ] {
            assert_eq!(refusal(text), InvalidCode::InvalidUrl, "{text}");
        }
        assert_eq!(refusal("java\tscript:alert(1)"), InvalidCode::InvalidCharacter);
        assert_eq!(refusal("https://example.com/\r\nSet-Cookie:x"), InvalidCode::InvalidCharacter);
        assert_eq!(refusal("https://example.com/\0"), InvalidCode::InvalidCharacter);
    }

    #[test]
    fn a_url_has_at_most_2048_characters() {
        let base = "https://example.com/";
        assert!(
            RedirectUrl::parse(&format!("{base}{}", "x".repeat(2048 - base.len())), &[]).is_ok()
        );
        assert_eq!(
            refusal(&format!("{base}{}", "x".repeat(2049 - base.len()))),
            InvalidCode::TooLong
        );
    }

    #[test]
    fn a_picture_needs_http() {
        assert!(ImageUrl::parse("https://cdn.example.com/a.png").is_ok());
        assert_eq!(ImageUrl::parse("market://x").unwrap_err().code, InvalidCode::SchemeNotAllowed);
    }
}
