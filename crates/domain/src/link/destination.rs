//! Where a visit leads.

use chrono::{DateTime, Utc};

use super::{
    Campaign, Channel, ImageUrl, Link, LinkId, OgDescription, OgTitle, RedirectUrl, Redirects,
    ShortCode, Target,
};
use crate::app::{App, AppId};
use crate::click::Platform;

/// The part of a link that a visit needs; it holds no payload, so that many fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The link's number.
    pub link_id: LinkId,
    /// The app that owns it.
    pub app_id: AppId,
    /// Its code.
    pub code: ShortCode,
    /// Where visitors are sent.
    pub redirects: Redirects,
    /// When it stops leading anywhere.
    pub expires_at: Option<DateTime<Utc>>,
    /// The title of its preview.
    pub og_title: Option<OgTitle>,
    /// The text of its preview.
    pub og_description: Option<OgDescription>,
    /// The picture of its preview.
    pub og_image_url: Option<ImageUrl>,
    /// Its channel, for the install referrer.
    pub channel: Option<Channel>,
    /// Its campaign, for the install referrer.
    pub campaign: Option<Campaign>,
}

impl From<&Link> for Route {
    fn from(link: &Link) -> Self {
        let content = &link.content;
        Self {
            link_id: link.id,
            app_id: link.app_id,
            code: link.code.clone(),
            redirects: content.redirects.clone(),
            expires_at: content.expires_at,
            og_title: content.og_title.clone(),
            og_description: content.og_description.clone(),
            og_image_url: content.og_image_url.clone(),
            channel: content.channel.clone(),
            campaign: content.campaign.clone(),
        }
    }
}

/// What a visitor gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination<'a> {
    /// A redirect; a click.
    Redirect(Target<'a>),
    /// A page with a button: nothing is configured for this visitor, or only an own scheme of the
    /// app, which a redirect would open into nothing when the app is missing. A click too.
    Landing(Option<Target<'a>>),
    /// The link has expired and names a place to go then; no click.
    ExpiredRedirect(Target<'a>),
    /// The link has expired; no click.
    Expired,
}

impl<'a> Destination<'a> {
    /// The URL in it.
    pub fn target(self) -> Option<Target<'a>> {
        match self {
            Self::Redirect(target) | Self::ExpiredRedirect(target) => Some(target),
            Self::Landing(target) => target,
            Self::Expired => None,
        }
    }

    fn of(target: Option<Target<'a>>) -> Self {
        match target {
            Some(target) if target.is_web_or_store() => Self::Redirect(target),
            other => Self::Landing(other),
        }
    }
}

/// An app's pages in the stores, for the buttons of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stores<'a> {
    /// The page in the App Store.
    pub app_store: Option<Target<'a>>,
    /// The page in the Play Store.
    pub google_play: Option<Target<'a>>,
}

impl<'a> Stores<'a> {
    /// Both pages with something done to their URLs.
    #[must_use]
    pub fn map(self, change: impl Fn(Target<'a>) -> Target<'a>) -> Self {
        Self { app_store: self.app_store.map(&change), google_play: self.google_play.map(&change) }
    }
}

impl App {
    /// Where its host leads without any code: to its web default, else to a page.
    pub fn front(&self) -> Destination<'_> {
        let url = self.settings.web_fallback_url.as_ref();
        Destination::of(url.and_then(|url| url.target(&self.settings.custom_schemes)))
    }

    /// Its pages in the stores.
    pub fn stores(&self) -> Stores<'_> {
        let settings = &self.settings;
        let schemes = &settings.custom_schemes;
        Stores {
            app_store: settings.ios_store_url.as_ref().and_then(|url| url.target(schemes)),
            google_play: settings.android_store_url.as_ref().and_then(|url| url.target(schemes)),
        }
    }
}

impl Route {
    /// True from the moment of expiry on: `now ≥ expiresAt`.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }

    /// Where this link leads a visitor of `platform` at `now`.
    ///
    /// Expiry is judged here, on every visit, because a cached link outlives its own expiry. The
    /// order of targets: the platform's URL, the link's web URL, the app's default for the
    /// platform, the app's web default. A URL whose scheme the app has given up is passed over.
    pub fn destination<'a>(
        &'a self,
        app: &'a App,
        platform: Platform,
        now: DateTime<Utc>,
    ) -> Destination<'a> {
        let schemes = &app.settings.custom_schemes;
        let usable = |url: Option<&'a RedirectUrl>| url.and_then(|u| u.target(schemes));
        if self.is_expired(now) {
            return match usable(self.redirects.expired.as_ref()) {
                Some(target) if target.is_web_or_store() => Destination::ExpiredRedirect(target),
                _ => Destination::Expired,
            };
        }
        let own = match platform {
            Platform::Ios => self.redirects.ios.as_ref(),
            Platform::Android => self.redirects.android.as_ref(),
            Platform::Web => None,
        };
        let found = [own, self.redirects.web.as_ref()]
            .into_iter()
            .chain(app.settings.defaults(platform))
            .find_map(usable);
        Destination::of(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::AppSettings;
    use crate::link::CustomScheme;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn schemes() -> Vec<CustomScheme> {
        vec![CustomScheme::parse("shop").unwrap()]
    }

    #[expect(clippy::unnecessary_wraps, reason = "every field it fills is optional")]
    fn url(text: &str) -> Option<RedirectUrl> {
        Some(RedirectUrl::parse(text, &schemes()).unwrap())
    }

    fn route(redirects: Redirects) -> Route {
        Route {
            link_id: LinkId(1),
            app_id: AppId(1),
            code: ShortCode::parse("abc").unwrap(),
            redirects,
            expires_at: None,
            og_title: None,
            og_description: None,
            og_image_url: None,
            channel: None,
            campaign: None,
        }
    }

    fn leads_to(route: &Route, app: &App, platform: Platform) -> String {
        match route.destination(app, platform, at(100)) {
            Destination::Redirect(target) => target.as_str().to_owned(),
            Destination::Landing(Some(target)) => format!("page with {}", target.as_str()),
            Destination::Landing(None) => "page".to_owned(),
            Destination::ExpiredRedirect(target) => format!("expired, {}", target.as_str()),
            Destination::Expired => "expired".to_owned(),
        }
    }

    #[test]
    fn each_platform_has_its_url_and_the_web_url_stands_in() {
        let app = App::for_tests(AppSettings::default());
        let all = route(Redirects {
            ios: url("https://i.example/"),
            android: url("https://a.example/"),
            web: url("https://w.example/"),
            expired: None,
        });
        assert_eq!(leads_to(&all, &app, Platform::Ios), "https://i.example/");
        assert_eq!(leads_to(&all, &app, Platform::Android), "https://a.example/");
        assert_eq!(leads_to(&all, &app, Platform::Web), "https://w.example/");
        let web = route(Redirects { web: url("https://w.example/"), ..Redirects::default() });
        assert_eq!(leads_to(&web, &app, Platform::Ios), "https://w.example/");
    }

    #[test]
    fn the_app_defaults_follow_platform_first_then_web() {
        let app = App::for_tests(AppSettings {
            ios_store_url: url("https://store.example/"),
            android_fallback_url: url("https://fallback.example/"),
            android_store_url: url("market://details?id=x"),
            web_fallback_url: url("https://home.example/"),
            ..AppSettings::default()
        });
        let bare = route(Redirects::default());
        assert_eq!(leads_to(&bare, &app, Platform::Ios), "https://store.example/");
        assert_eq!(leads_to(&bare, &app, Platform::Android), "https://fallback.example/");
        assert_eq!(leads_to(&bare, &app, Platform::Web), "https://home.example/");
        let ios_only = route(Redirects { ios: url("https://i.example/"), ..Redirects::default() });
        assert_eq!(leads_to(&ios_only, &app, Platform::Web), "https://home.example/");
    }

    #[test]
    fn without_any_target_there_is_a_page() {
        let app = App::for_tests(AppSettings::default());
        assert_eq!(leads_to(&route(Redirects::default()), &app, Platform::Web), "page");
    }

    #[test]
    fn an_own_scheme_gets_a_page_with_a_button_and_only_while_the_app_registers_it() {
        let link = route(Redirects { ios: url("shop://item/1"), ..Redirects::default() });
        let app =
            App::for_tests(AppSettings { custom_schemes: schemes(), ..AppSettings::default() });
        assert_eq!(leads_to(&link, &app, Platform::Ios), "page with shop://item/1");
        let app = App::for_tests(AppSettings::default());
        assert_eq!(leads_to(&link, &app, Platform::Ios), "page");
    }

    #[test]
    fn an_expired_link_leads_nowhere_or_to_its_expired_url() {
        let app = App::for_tests(AppSettings::default());
        let mut link = route(Redirects { web: url("https://w.example/"), ..Redirects::default() });
        link.expires_at = Some(at(101));
        assert_eq!(leads_to(&link, &app, Platform::Web), "https://w.example/");
        link.expires_at = Some(at(100));
        assert_eq!(leads_to(&link, &app, Platform::Web), "expired");
        link.redirects.expired = url("https://late.example/");
        assert_eq!(leads_to(&link, &app, Platform::Web), "expired, https://late.example/");
    }

    #[test]
    fn the_host_of_an_app_leads_to_its_web_default_or_to_a_page() {
        let front = |web: &str| {
            let app = App::for_tests(AppSettings {
                web_fallback_url: url(web),
                custom_schemes: schemes(),
                ..AppSettings::default()
            });
            matches!(app.front(), Destination::Redirect(_))
        };
        assert!(front("https://home.example/") && !front("shop://home"));
        let bare = App::for_tests(AppSettings::default());
        assert_eq!(bare.front(), Destination::Landing(None));
    }

    #[test]
    fn a_store_page_is_offered_only_under_a_scheme_that_the_app_may_use() {
        let mut app = App::for_tests(AppSettings {
            ios_store_url: url("shop://store"),
            android_store_url: url("market://details?id=x"),
            custom_schemes: schemes(),
            ..AppSettings::default()
        });
        let both = app.stores();
        assert!(both.app_store.is_some() && both.google_play.is_some());
        app.settings.custom_schemes.clear();
        let one = app.stores();
        assert!(one.app_store.is_none() && one.google_play.is_some());
    }

    #[test]
    fn a_location_is_plain_ascii() {
        let app = App::for_tests(AppSettings::default());
        let link = route(Redirects {
            web: url("https://bücher.example/€?q=ü"),
            ..Redirects::default()
        });
        assert_eq!(
            leads_to(&link, &app, Platform::Web),
            "https://xn--bcher-kva.example/%E2%82%AC?q=%C3%BC"
        );
    }
}
