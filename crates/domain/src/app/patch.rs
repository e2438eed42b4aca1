//! A partial update of an app.

use super::{
    AndroidPackage, App, AppName, AppSettings, CertificateFingerprint, Host, IosAppId, Matching,
    Slug,
};
use crate::Change;
use crate::link::{CustomScheme, RedirectUrl};

/// What a `PATCH` says: absent parts stay, lists are replaced whole, `null` clears.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppPatch {
    /// A new slug; links printed with the old one stop working, which is the operator's choice.
    pub slug: Option<Slug>,
    /// A new name.
    pub name: Option<AppName>,
    /// The hosts, whole.
    pub hosts: Change<Vec<Host>>,
    /// Apple's application identifiers, whole.
    pub ios_app_ids: Change<Vec<IosAppId>>,
    /// The App Store page.
    pub ios_store_url: Change<RedirectUrl>,
    /// The iOS fallback.
    pub ios_fallback_url: Change<RedirectUrl>,
    /// The Android package.
    pub android_package: Change<AndroidPackage>,
    /// The certificate fingerprints, whole.
    pub android_fingerprints: Change<Vec<CertificateFingerprint>>,
    /// The Play Store page.
    pub android_store_url: Change<RedirectUrl>,
    /// The Android fallback.
    pub android_fallback_url: Change<RedirectUrl>,
    /// The web fallback.
    pub web_fallback_url: Change<RedirectUrl>,
    /// The schemes, whole.
    pub custom_schemes: Change<Vec<CustomScheme>>,
    /// Window of the install referrer; clearing restores the default, as for all below.
    pub install_referrer_hours: Change<u16>,
    /// Window of clipboard tokens.
    pub clipboard_hours: Change<u16>,
    /// Signals on Android.
    pub probabilistic_android: Change<bool>,
    /// Signals on iOS.
    pub probabilistic_ios: Change<bool>,
    /// Window of signals.
    pub probabilistic_minutes: Change<u16>,
    /// Confidence needed.
    pub threshold: Change<super::Threshold>,
    /// The page that gathers signals.
    pub interstitial: Change<bool>,
}

impl AppPatch {
    /// Slug, name, hosts and settings after this patch.
    pub fn apply(self, app: &App) -> (Slug, AppName, Vec<Host>, AppSettings) {
        let old = &app.settings;
        let standard = Matching::default();
        let list = |kept: Option<_>| kept.unwrap_or_default();
        let settings = AppSettings {
            ios_app_ids: list(self.ios_app_ids.apply(Some(old.ios_app_ids.clone()))),
            ios_store_url: self.ios_store_url.apply(old.ios_store_url.clone()),
            ios_fallback_url: self.ios_fallback_url.apply(old.ios_fallback_url.clone()),
            android_package: self.android_package.apply(old.android_package.clone()),
            android_fingerprints: self
                .android_fingerprints
                .apply(Some(old.android_fingerprints.clone()))
                .unwrap_or_default(),
            android_store_url: self.android_store_url.apply(old.android_store_url.clone()),
            android_fallback_url: self.android_fallback_url.apply(old.android_fallback_url.clone()),
            web_fallback_url: self.web_fallback_url.apply(old.web_fallback_url.clone()),
            custom_schemes: self
                .custom_schemes
                .apply(Some(old.custom_schemes.clone()))
                .unwrap_or_default(),
            matching: Matching {
                install_referrer_hours: self
                    .install_referrer_hours
                    .apply(Some(old.matching.install_referrer_hours))
                    .unwrap_or(standard.install_referrer_hours),
                clipboard_hours: self
                    .clipboard_hours
                    .apply(Some(old.matching.clipboard_hours))
                    .unwrap_or(standard.clipboard_hours),
                probabilistic_android: self
                    .probabilistic_android
                    .apply(Some(old.matching.probabilistic_android))
                    .unwrap_or(standard.probabilistic_android),
                probabilistic_ios: self
                    .probabilistic_ios
                    .apply(Some(old.matching.probabilistic_ios))
                    .unwrap_or(standard.probabilistic_ios),
                probabilistic_minutes: self
                    .probabilistic_minutes
                    .apply(Some(old.matching.probabilistic_minutes))
                    .unwrap_or(standard.probabilistic_minutes),
                threshold: self
                    .threshold
                    .apply(Some(old.matching.threshold))
                    .unwrap_or(standard.threshold),
            },
            interstitial: self.interstitial.apply(Some(old.interstitial)).unwrap_or_default(),
        };
        (
            self.slug.unwrap_or_else(|| app.slug.clone()),
            self.name.unwrap_or_else(|| app.name.clone()),
            self.hosts.apply(Some(app.hosts.clone())).unwrap_or_default(),
            settings,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_patch_changes_nothing() {
        let app = App::for_tests(AppSettings { interstitial: true, ..AppSettings::default() });
        let (slug, name, hosts, settings) = AppPatch::default().apply(&app);
        assert_eq!((slug, name, hosts, settings), (app.slug, app.name, app.hosts, app.settings));
    }

    #[test]
    fn null_restores_the_default_and_empties_lists() {
        let mut app = App::for_tests(AppSettings::default());
        app.settings.matching.clipboard_hours = 1;
        app.hosts = vec![Host::parse("go.example").unwrap()];
        let patch = AppPatch {
            clipboard_hours: Change::Clear,
            hosts: Change::Clear,
            ..AppPatch::default()
        };
        let (_, _, hosts, settings) = patch.apply(&app);
        assert_eq!(settings.matching.clipboard_hours, 24);
        assert!(hosts.is_empty());
    }
}
