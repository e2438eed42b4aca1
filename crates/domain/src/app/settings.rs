//! What an operator sets for an app.

use super::Host;
use crate::click::Platform;
use crate::link::{CustomScheme, RedirectUrl};
use crate::{Invalid, InvalidCode};

/// The settings of an app.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppSettings {
    /// Application identifiers (prefix and bundle id) for Apple's association file.
    pub ios_app_ids: Vec<IosAppId>,
    /// The app's page in the App Store.
    pub ios_store_url: Option<RedirectUrl>,
    /// Where iPhones and iPads go instead of the store.
    pub ios_fallback_url: Option<RedirectUrl>,
    /// The Android package.
    pub android_package: Option<AndroidPackage>,
    /// Fingerprints of the certificates that sign the package, for Google's association file.
    pub android_fingerprints: Vec<CertificateFingerprint>,
    /// The app's page in the Play Store.
    pub android_store_url: Option<RedirectUrl>,
    /// Where Android devices go instead of the store.
    pub android_fallback_url: Option<RedirectUrl>,
    /// Where everybody else goes.
    pub web_fallback_url: Option<RedirectUrl>,
    /// URL schemes that open the app.
    pub custom_schemes: Vec<CustomScheme>,
    /// How installs are matched to clicks.
    pub matching: Matching,
    /// Whether visitors get a page that gathers signals instead of a plain redirect.
    pub interstitial: bool,
}

impl AppSettings {
    /// Most hosts, app ids, fingerprints or schemes of one app.
    pub const MAX_LIST: usize = 20;

    /// The app's defaults for a platform, the best first, then those for the web.
    pub fn defaults(&self, platform: Platform) -> [Option<&RedirectUrl>; 3] {
        let (fallback, store) = match platform {
            Platform::Ios => (&self.ios_fallback_url, &self.ios_store_url),
            Platform::Android => (&self.android_fallback_url, &self.android_store_url),
            Platform::Web => (&None, &None),
        };
        [fallback.as_ref(), store.as_ref(), self.web_fallback_url.as_ref()]
    }

    /// Refuses lists beyond [`MAX_LIST`](Self::MAX_LIST).
    pub fn check_list<T>(list: &[T]) -> Result<(), Invalid> {
        if list.len() > Self::MAX_LIST {
            return Err(Invalid::new(
                InvalidCode::TooLong,
                format!("has more than {} entries", Self::MAX_LIST),
            ));
        }
        Ok(())
    }

    /// Hosts without repeats, in their order.
    pub fn unique_hosts(hosts: Vec<Host>) -> Vec<Host> {
        let mut unique: Vec<Host> = Vec::new();
        for host in hosts {
            if !unique.contains(&host) {
                unique.push(host);
            }
        }
        unique
    }
}

/// How installs are matched to clicks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matching {
    /// How long after a click its Play install referrer counts, in hours; Play keeps 90 days.
    pub install_referrer_hours: u16,
    /// How long after a click its clipboard token counts, in hours.
    pub clipboard_hours: u16,
    /// Whether Android installs without a token are matched by signals.
    pub probabilistic_android: bool,
    /// The same for iOS; off unless the operator turns it on, because Apple's developer agreement
    /// forbids deriving data from a device to identify it.
    pub probabilistic_ios: bool,
    /// How long after a click signals count, in minutes.
    pub probabilistic_minutes: u16,
    /// The confidence a match by signals needs.
    pub threshold: Threshold,
}

impl Matching {
    /// Longest window of the install referrer: the 90 days that Play keeps it.
    pub const MAX_REFERRER_HOURS: u16 = 2160;
    /// Longest window of a clipboard token: a week.
    pub const MAX_CLIPBOARD_HOURS: u16 = 168;
    /// Longest window of signals: a day, because addresses change hands.
    pub const MAX_PROBABILISTIC_MINUTES: u16 = 1440;
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            install_referrer_hours: 720,
            clipboard_hours: 24,
            probabilistic_android: true,
            probabilistic_ios: false,
            probabilistic_minutes: 120,
            threshold: Threshold(0.85),
        }
    }
}

/// A confidence from 0.5 to 0.99.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Threshold(f64);

impl Threshold {
    /// Reads a threshold.
    pub fn new(value: f64) -> Result<Self, Invalid> {
        if (0.5..=0.99).contains(&value) {
            Ok(Self(value))
        } else {
            Err(Invalid::new(InvalidCode::OutOfRange, "must be from 0.5 to 0.99"))
        }
    }

    /// The confidence.
    pub fn get(self) -> f64 {
        self.0
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $message:literal, $read:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Reads the identifier.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                let read: fn(&str) -> Option<String> = $read;
                read(text)
                    .map(|text| Self(text.into()))
                    .ok_or_else(|| Invalid::new(InvalidCode::InvalidFormat, $message))
            }

            /// The identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

identifier!(
    /// Apple's application identifier: a ten-character prefix, a dot, the bundle id.
    IosAppId,
    "is not an application identifier such as TEAMID1234.com.example.shop",
    |text| {
        let (prefix, bundle) = text.split_once('.')?;
        let well_formed = prefix.len() == 10
            && prefix.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
            && (1..=155).contains(&bundle.len())
            && bundle.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
        well_formed.then(|| text.to_owned())
    }
);

identifier!(
    /// An Android application id: at least two segments, each beginning with a letter.
    AndroidPackage,
    "is not an Android package name such as com.example.shop",
    |text| {
        let segment = |s: &str| {
            s.starts_with(|c: char| c.is_ascii_alphabetic())
                && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let well_formed = text.len() <= 255 && text.contains('.') && text.split('.').all(segment);
        well_formed.then(|| text.to_owned())
    }
);

identifier!(
    /// The SHA-256 fingerprint of a signing certificate: 32 upper-case hex pairs with colons.
    CertificateFingerprint,
    "is not a SHA-256 fingerprint: 32 hexadecimal pairs separated by colons",
    |text| {
        let pair = |p: &str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit());
        let well_formed = text.split(':').count() == 32 && text.split(':').all(pair);
        well_formed.then(|| text.to_ascii_uppercase())
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_the_stores_have_their_forms() {
        assert!(IosAppId::parse("TEAMID1234.com.example.shop").is_ok());
        assert!(IosAppId::parse("team.com.example").is_err());
        assert!(AndroidPackage::parse("com.example.shop_2").is_ok());
        assert!(AndroidPackage::parse("shop").is_err());
        assert!(AndroidPackage::parse("com.2shop").is_err());
        let fingerprint = vec!["ab"; 32].join(":");
        assert_eq!(
            CertificateFingerprint::parse(&fingerprint).unwrap().as_str(),
            fingerprint.to_uppercase()
        );
        assert!(CertificateFingerprint::parse(&fingerprint[3..]).is_err());
    }

    #[test]
    fn a_threshold_is_a_confidence_worth_the_name() {
        assert!(Threshold::new(0.85).is_ok());
        assert!(Threshold::new(0.1).is_err());
        assert!(Threshold::new(f64::NAN).is_err());
    }
}
