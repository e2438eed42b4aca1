//! An app's settings as JSON: the form in which they are stored.

use serde::{Deserialize, Serialize};
use signpost_domain::Invalid;
use signpost_domain::app::{
    AndroidPackage, AppSettings, CertificateFingerprint, IosAppId, Matching, Threshold,
};
use signpost_domain::link::{CustomScheme, RedirectUrl};

use crate::db::DbError;

/// The settings as text.
pub(crate) fn write(settings: &AppSettings) -> Result<String, DbError> {
    serde_json::to_string(&SettingsJson::from(settings))
        .map_err(|e| DbError::corrupt("apps", "settings", e))
}

/// The settings from their text; anything unknown or invalid is an error.
pub(super) fn read(text: &str) -> Result<AppSettings, DbError> {
    let json: SettingsJson =
        serde_json::from_str(text).map_err(|e| DbError::corrupt("apps", "settings", e))?;
    AppSettings::try_from(json).map_err(|e| DbError::corrupt("apps", "settings", e))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsJson {
    ios_app_ids: Vec<String>,
    ios_store_url: Option<String>,
    ios_fallback_url: Option<String>,
    android_package: Option<String>,
    android_fingerprints: Vec<String>,
    android_store_url: Option<String>,
    android_fallback_url: Option<String>,
    web_fallback_url: Option<String>,
    custom_schemes: Vec<String>,
    matching: MatchingJson,
    interstitial: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchingJson {
    install_referrer_hours: u16,
    clipboard_hours: u16,
    probabilistic_android: bool,
    probabilistic_ios: bool,
    probabilistic_minutes: u16,
    threshold: f64,
}

impl From<&AppSettings> for SettingsJson {
    fn from(settings: &AppSettings) -> Self {
        let url = |url: &Option<RedirectUrl>| url.as_ref().map(|url| url.as_str().to_owned());
        let matching = settings.matching;
        Self {
            ios_app_ids: texts(&settings.ios_app_ids, IosAppId::as_str),
            ios_store_url: url(&settings.ios_store_url),
            ios_fallback_url: url(&settings.ios_fallback_url),
            android_package: settings.android_package.as_ref().map(|p| p.as_str().to_owned()),
            android_fingerprints: texts(
                &settings.android_fingerprints,
                CertificateFingerprint::as_str,
            ),
            android_store_url: url(&settings.android_store_url),
            android_fallback_url: url(&settings.android_fallback_url),
            web_fallback_url: url(&settings.web_fallback_url),
            custom_schemes: texts(&settings.custom_schemes, CustomScheme::as_str),
            matching: MatchingJson {
                install_referrer_hours: matching.install_referrer_hours,
                clipboard_hours: matching.clipboard_hours,
                probabilistic_android: matching.probabilistic_android,
                probabilistic_ios: matching.probabilistic_ios,
                probabilistic_minutes: matching.probabilistic_minutes,
                threshold: matching.threshold.get(),
            },
            interstitial: settings.interstitial,
        }
    }
}

impl TryFrom<SettingsJson> for AppSettings {
    type Error = Invalid;

    fn try_from(json: SettingsJson) -> Result<Self, Invalid> {
        let url = |text: Option<String>| text.map(|t| RedirectUrl::from_stored(&t)).transpose();
        Ok(Self {
            ios_app_ids: parsed(&json.ios_app_ids, IosAppId::parse)?,
            ios_store_url: url(json.ios_store_url)?,
            ios_fallback_url: url(json.ios_fallback_url)?,
            android_package: json
                .android_package
                .map(|text| AndroidPackage::parse(&text))
                .transpose()?,
            android_fingerprints: parsed(
                &json.android_fingerprints,
                CertificateFingerprint::parse,
            )?,
            android_store_url: url(json.android_store_url)?,
            android_fallback_url: url(json.android_fallback_url)?,
            web_fallback_url: url(json.web_fallback_url)?,
            custom_schemes: parsed(&json.custom_schemes, CustomScheme::parse)?,
            matching: Matching {
                install_referrer_hours: json.matching.install_referrer_hours,
                clipboard_hours: json.matching.clipboard_hours,
                probabilistic_android: json.matching.probabilistic_android,
                probabilistic_ios: json.matching.probabilistic_ios,
                probabilistic_minutes: json.matching.probabilistic_minutes,
                threshold: Threshold::new(json.matching.threshold)?,
            },
            interstitial: json.interstitial,
        })
    }
}

fn texts<T>(values: &[T], text: impl Fn(&T) -> &str) -> Vec<String> {
    values.iter().map(|value| text(value).to_owned()).collect()
}

fn parsed<T>(
    texts: &[String],
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Vec<T>, Invalid> {
    texts.iter().map(|text| parse(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back_as_they_were() {
        let url = |text| Some(RedirectUrl::from_stored(text).unwrap());
        let settings = AppSettings {
            ios_app_ids: vec![IosAppId::parse("TEAMID1234.com.example.shop").unwrap()],
            ios_store_url: url("https://apps.apple.com/app/id1"),
            ios_fallback_url: url("shop://gone"),
            android_package: Some(AndroidPackage::parse("com.example.shop").unwrap()),
            android_fingerprints: vec![
                CertificateFingerprint::parse(&["ab"; 32].join(":")).unwrap(),
            ],
            android_store_url: url("market://details?id=x"),
            android_fallback_url: url("https://a.example"),
            web_fallback_url: url("https://w.example"),
            custom_schemes: vec![CustomScheme::parse("shop").unwrap()],
            matching: Matching { probabilistic_ios: true, ..Matching::default() },
            interstitial: true,
        };
        assert_eq!(read(&write(&settings).unwrap()).unwrap(), settings);
        let defaults = AppSettings::default();
        assert_eq!(read(&write(&defaults).unwrap()).unwrap(), defaults);
    }

    #[test]
    fn an_unknown_or_invalid_setting_is_damage() {
        let text = write(&AppSettings::default()).unwrap();
        for (part, damage) in [
            (r#""interstitial":false"#, r#""interstitial":false,"colour":"red""#),
            (r#""interstitial":false"#, r#""interstitial":"no""#),
            (r#""threshold":0.85"#, r#""threshold":1.85"#),
            (r#""custom_schemes":[]"#, r#""custom_schemes":["javascript"]"#),
        ] {
            assert!(text.contains(part), "{text}");
            assert!(read(&text.replace(part, damage)).is_err(), "{damage}");
        }
    }
}
