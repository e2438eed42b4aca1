//! Apps as answers.

use serde::Serialize;
use signpost_domain::app::App;
use signpost_domain::link::RedirectUrl;
use utoipa::ToSchema;

use crate::public_api::view::time;

/// An app.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = App)]
pub(crate) struct AppView {
    #[schema(example = 1)]
    id: i64,
    /// Its word in URLs.
    #[schema(example = "shop")]
    slug: String,
    #[schema(example = "Shop")]
    name: String,
    /// The hosts it answers on; its links carry the first.
    #[schema(example = json!(["go.shop.example"]))]
    hosts: Vec<String>,
    ios: IosView,
    android: AndroidView,
    /// Where everybody goes who has no better place to go.
    web_fallback_url: Option<String>,
    /// URL schemes that open the app.
    #[schema(example = json!(["shop"]))]
    custom_schemes: Vec<String>,
    matching: MatchingView,
    interstitial: InterstitialView,
    #[schema(example = "2026-01-05T09:00:00.000Z")]
    created_at: String,
    #[schema(example = "2026-01-05T09:00:00.000Z")]
    updated_at: String,
}

/// An app on iPhones and iPads.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppIos)]
pub(crate) struct IosView {
    /// Application identifiers for the association file.
    #[schema(example = json!(["TEAMID1234.com.example.shop"]))]
    app_ids: Vec<String>,
    store_url: Option<String>,
    /// Taken before the store.
    fallback_url: Option<String>,
}

/// An app on Android.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppAndroid)]
pub(crate) struct AndroidView {
    #[schema(example = "com.example.shop")]
    package_name: Option<String>,
    /// SHA-256 fingerprints of the signing certificates.
    certificate_fingerprints: Vec<String>,
    store_url: Option<String>,
    /// Taken before the store.
    fallback_url: Option<String>,
}

/// How installs are matched to clicks.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppMatching)]
pub(crate) struct MatchingView {
    #[schema(example = 720, minimum = 1, maximum = 2160)]
    install_referrer_hours: u16,
    #[schema(example = 24, minimum = 1, maximum = 168)]
    clipboard_hours: u16,
    #[schema(example = true)]
    probabilistic_android: bool,
    #[schema(example = false)]
    probabilistic_ios: bool,
    #[schema(example = 120, minimum = 1, maximum = 1440)]
    probabilistic_minutes: u16,
    #[schema(example = 0.85, minimum = 0.5, maximum = 0.99)]
    threshold: f64,
}

/// The page that gathers signals.
#[derive(Serialize, ToSchema)]
#[schema(as = AppInterstitial)]
pub(crate) struct InterstitialView {
    #[schema(example = false)]
    enabled: bool,
}

/// All apps that one may see.
#[derive(Serialize, ToSchema)]
#[schema(as = AppList)]
pub(crate) struct AppListView {
    pub(crate) data: Vec<AppView>,
}

impl From<&App> for AppView {
    fn from(app: &App) -> Self {
        let settings = &app.settings;
        let url = |url: &Option<RedirectUrl>| url.as_ref().map(|u| u.as_str().to_owned());
        let matching = &settings.matching;
        Self {
            id: app.id.0,
            slug: app.slug.as_str().to_owned(),
            name: app.name.as_str().to_owned(),
            hosts: app.hosts.iter().map(ToString::to_string).collect(),
            ios: IosView {
                app_ids: settings.ios_app_ids.iter().map(|i| i.as_str().to_owned()).collect(),
                store_url: url(&settings.ios_store_url),
                fallback_url: url(&settings.ios_fallback_url),
            },
            android: AndroidView {
                package_name: settings.android_package.as_ref().map(|p| p.as_str().to_owned()),
                certificate_fingerprints: settings
                    .android_fingerprints
                    .iter()
                    .map(|f| f.as_str().to_owned())
                    .collect(),
                store_url: url(&settings.android_store_url),
                fallback_url: url(&settings.android_fallback_url),
            },
            web_fallback_url: url(&settings.web_fallback_url),
            custom_schemes: settings.custom_schemes.iter().map(|s| s.as_str().to_owned()).collect(),
            matching: MatchingView {
                install_referrer_hours: matching.install_referrer_hours,
                clipboard_hours: matching.clipboard_hours,
                probabilistic_android: matching.probabilistic_android,
                probabilistic_ios: matching.probabilistic_ios,
                probabilistic_minutes: matching.probabilistic_minutes,
                threshold: matching.threshold.get(),
            },
            interstitial: InterstitialView { enabled: settings.interstitial },
            created_at: time(app.created_at),
            updated_at: time(app.updated_at),
        }
    }
}
