//! Apps: the tenants. An app owns links and keys.

mod host;
mod patch;
mod set;
mod settings;
mod slug;

pub use host::Host;
pub use patch::AppPatch;
pub use set::{AppSet, Place};
pub use settings::{
    AndroidPackage, AppSettings, CertificateFingerprint, IosAppId, Matching, Threshold,
};
pub use slug::Slug;

use chrono::{DateTime, Utc};

use crate::{Invalid, InvalidCode};

/// An app's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppId(pub i64);

/// An app's display name: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppName(Box<str>);

impl AppName {
    /// Reads a name and trims it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Invalid::new(InvalidCode::TooShort, "is empty"));
        }
        if text.chars().any(char::is_control) {
            return Err(Invalid::new(InvalidCode::InvalidCharacter, "holds a control character"));
        }
        if text.chars().nth(100).is_some() {
            return Err(Invalid::too_long(100));
        }
        Ok(Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A stored app.
#[derive(Debug, Clone, PartialEq)]
pub struct App {
    /// Its number.
    pub id: AppId,
    /// Its word in URLs, unique in the installation.
    pub slug: Slug,
    /// Its display name.
    pub name: AppName,
    /// The hosts it answers on, the first of which its links carry.
    pub hosts: Vec<Host>,
    /// True when its first host answers for another app too; its URLs then name the slug.
    pub shares_host: bool,
    /// Everything else an operator may set.
    pub settings: AppSettings,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

impl App {
    /// The public URL of a code, below `base`, which has no slash at its end.
    ///
    /// An app with hosts of its own uses its first host and the base URL's scheme.
    pub fn link_url(&self, base: &str, code: &crate::link::ShortCode) -> String {
        let Some(host) = self.hosts.first() else {
            return format!("{base}/{code}");
        };
        let scheme = base.split_once("://").map_or("https", |(scheme, _)| scheme);
        if self.shares_host {
            format!("{scheme}://{host}/{}/{code}", self.slug)
        } else {
            format!("{scheme}://{host}/{code}")
        }
    }

    #[cfg(test)]
    pub(crate) fn for_tests(settings: AppSettings) -> Self {
        let at = DateTime::from_timestamp(0, 0).unwrap();
        Self {
            id: AppId(1),
            slug: Slug::parse("shop").unwrap(),
            name: AppName::parse("Shop").unwrap(),
            hosts: Vec::new(),
            shares_host: false,
            settings,
            created_at: at,
            updated_at: at,
        }
    }
}

/// An app before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct AppDraft {
    /// Its word in URLs.
    pub slug: Slug,
    /// Its display name.
    pub name: AppName,
    /// The hosts it answers on.
    pub hosts: Vec<Host>,
    /// Everything else.
    pub settings: AppSettings,
    /// When it is created.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ShortCode;

    #[test]
    fn a_link_url_uses_the_first_host_and_the_slug_where_the_host_is_shared() {
        let code = ShortCode::parse("abc").unwrap();
        let mut app = App::for_tests(AppSettings::default());
        assert_eq!(app.link_url("https://go.example", &code), "https://go.example/abc");
        app.hosts =
            vec![Host::parse("go.shop.example").unwrap(), Host::parse("x.example").unwrap()];
        assert_eq!(app.link_url("https://go.example", &code), "https://go.shop.example/abc");
        app.shares_host = true;
        assert_eq!(app.link_url("http://go.example", &code), "http://go.shop.example/shop/abc");
    }
}
