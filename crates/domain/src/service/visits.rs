//! Visits: from a code to a place to go, with the click recorded on the way.

use std::net::IpAddr;
use std::sync::Arc;

use crate::app::{App, Place};
use crate::click::{AddressMode, NewClick, Platform, Referrer};
use crate::link::{Destination, Route, ShortCode};
use crate::ports::{
    AppDirectory, Cached, ClickJournal, Clock, IdSource, LinkLookup, Recording, StoreError,
};

/// Follows links.
#[derive(Clone)]
pub struct Visits {
    links: Arc<dyn LinkLookup>,
    apps: Arc<dyn AppDirectory>,
    journal: Arc<dyn ClickJournal>,
    ids: Arc<dyn IdSource>,
    clock: Arc<dyn Clock>,
    address_mode: AddressMode,
}

/// A link with its app.
#[derive(Debug, Clone)]
pub struct Found {
    /// The link.
    pub route: Arc<Route>,
    /// Its app.
    pub app: Arc<App>,
}

/// What memory knows of a visit's link.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The link.
    Found(Found),
    /// No such link at this place.
    Absent,
    /// The store must be asked, with [`Visits::load`].
    Unknown,
}

/// What a request says about its sender.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Their platform.
    pub platform: Platform,
    /// Their address.
    pub address: IpAddr,
    /// Their user agent.
    pub user_agent: Option<String>,
    /// Where they come from.
    pub referrer: Option<Referrer>,
    /// False for `HEAD` requests and prefetches: the same answer, but no click.
    pub counts: bool,
}

/// Where a visitor goes, and the click to record before telling them.
#[derive(Debug)]
pub struct Visit {
    /// Where they go.
    pub destination: Destination,
    /// The click, unless the visit doesn't count.
    pub click: Option<NewClick>,
}

impl Visits {
    /// The service over a lookup, the apps and a journal.
    pub fn new(
        links: Arc<dyn LinkLookup>,
        apps: Arc<dyn AppDirectory>,
        journal: Arc<dyn ClickJournal>,
        ids: Arc<dyn IdSource>,
        clock: Arc<dyn Clock>,
        address_mode: AddressMode,
    ) -> Self {
        Self { links, apps, journal, ids, clock, address_mode }
    }

    /// False when no app lists any host, so that every link answers on every host; never blocks.
    pub fn host_matters(&self) -> bool {
        self.apps.in_memory().is_none_or(|apps| apps.lists_hosts())
    }

    /// What memory knows; never blocks.
    pub fn in_memory(&self, code: &ShortCode, place: Place<'_>) -> Lookup {
        let Some(apps) = self.apps.in_memory() else { return Lookup::Unknown };
        match self.links.in_memory(code) {
            Cached::Known(route) => apps
                .answering(route.app_id, place)
                .cloned()
                .map_or(Lookup::Absent, |app| Lookup::Found(Found { route, app })),
            Cached::Absent => Lookup::Absent,
            Cached::Unknown => Lookup::Unknown,
        }
    }

    /// Asks the store; may block.
    pub fn load(&self, code: &ShortCode, place: Place<'_>) -> Result<Option<Found>, StoreError> {
        let Some(route) = self.links.load(code)? else { return Ok(None) };
        let apps = self.apps.load()?;
        Ok(apps.answering(route.app_id, place).cloned().map(|app| Found { route, app }))
    }

    /// Decides where a visitor goes.
    pub fn arrive(&self, found: &Found, visitor: Visitor) -> Visit {
        let now = self.clock.now();
        let destination = found.route.destination(&found.app, visitor.platform, now);
        let leads_on = matches!(destination, Destination::Redirect(_) | Destination::Landing(_));
        let click = (visitor.counts && leads_on).then(|| NewClick {
            id: self.ids.click_id(now),
            link_id: found.route.link_id,
            app_id: found.route.app_id,
            at: now,
            address: self.address_mode.keep(visitor.address),
            user_agent: visitor.user_agent,
            referrer: visitor.referrer,
            platform: visitor.platform,
        });
        Visit { destination, click }
    }

    /// Records a click; to be awaited before the visitor is answered.
    pub fn record(&self, click: NewClick) -> Recording {
        self.journal.append(click)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{AppId, AppSet, AppSettings};
    use crate::click::ClickId;
    use crate::link::{LinkId, RedirectUrl, Redirects};
    use crate::ports::{MockAppDirectory, MockClickJournal, MockLinkLookup};
    use crate::service::setup::tests::{FixedClock, now};

    struct Ids;
    impl IdSource for Ids {
        fn click_id(&self, _: chrono::DateTime<chrono::Utc>) -> ClickId {
            ClickId(uuid::Uuid::nil())
        }
    }

    fn visits(links: MockLinkLookup, mode: AddressMode) -> Visits {
        let mut apps = MockAppDirectory::new();
        let set = Arc::new(AppSet::new([App::for_tests(AppSettings::default())]));
        apps.expect_in_memory().returning(move || Some(set.clone()));
        Visits::new(
            Arc::new(links),
            Arc::new(apps),
            Arc::new(MockClickJournal::new()),
            Arc::new(Ids),
            Arc::new(FixedClock),
            mode,
        )
    }

    fn found(expired: bool) -> Found {
        Found {
            route: Arc::new(Route {
                link_id: LinkId(5),
                app_id: AppId(1),
                code: ShortCode::parse("abc").unwrap(),
                redirects: Redirects {
                    web: Some(RedirectUrl::parse("https://w.example/", &[]).unwrap()),
                    ..Redirects::default()
                },
                expires_at: expired.then(now),
                og_title: None,
                og_description: None,
                og_image_url: None,
                channel: None,
                campaign: None,
            }),
            app: Arc::new(App::for_tests(AppSettings::default())),
        }
    }

    fn visitor(counts: bool) -> Visitor {
        Visitor {
            platform: Platform::Ios,
            address: [198, 51, 100, 7].into(),
            user_agent: None,
            referrer: None,
            counts,
        }
    }

    #[test]
    fn a_person_who_is_sent_on_is_a_click() {
        let visit = visits(MockLinkLookup::new(), AddressMode::Truncated)
            .arrive(&found(false), visitor(true));
        assert!(matches!(visit.destination, Destination::Redirect(_)));
        let click = visit.click.unwrap();
        assert_eq!(click.link_id, LinkId(5));
        assert_eq!(click.address, Some([198, 51, 100, 0].into()));
    }

    #[test]
    fn neither_a_prefetch_nor_a_visit_after_expiry_is_a_click() {
        let service = visits(MockLinkLookup::new(), AddressMode::Full);
        assert!(service.arrive(&found(false), visitor(false)).click.is_none());
        let late = service.arrive(&found(true), visitor(true));
        assert_eq!(late.destination, Destination::Expired);
        assert!(late.click.is_none());
    }

    #[test]
    fn another_apps_slug_hides_a_known_link() {
        let mut links = MockLinkLookup::new();
        links.expect_in_memory().returning(|_| Cached::Known(found(false).route));
        let service = visits(links, AddressMode::Full);
        let code = ShortCode::parse("abc").unwrap();
        let at = |slug| Place { host: None, slug };
        assert!(matches!(service.in_memory(&code, at(Some("shop"))), Lookup::Found(_)));
        assert!(matches!(service.in_memory(&code, at(Some("news"))), Lookup::Absent));
    }
}
