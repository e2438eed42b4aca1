//! Visits: from a code to a place to go, with the click recorded on the way.

use std::net::IpAddr;
use std::sync::Arc;

use crate::app::{App, Place};
use crate::click::{AddressMode, NewClick, Platform, Referrer, token};
use crate::link::{Destination, Route, ShortCode, Stores, Target};
use crate::ports::{
    AppDirectory, Cached, ClickJournal, Clock, IdSource, LinkLookup, Recording, StoreError,
    TokenMac,
};

/// Follows links.
#[derive(Clone)]
pub struct Visits {
    links: Arc<dyn LinkLookup>,
    apps: Arc<dyn AppDirectory>,
    journal: Arc<dyn ClickJournal>,
    ids: Arc<dyn IdSource>,
    macs: Arc<dyn TokenMac>,
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
pub struct Visitor<'a> {
    /// Their platform.
    pub platform: Platform,
    /// Their address.
    pub address: IpAddr,
    /// Their user agent.
    pub user_agent: Option<String>,
    /// Where they come from.
    pub referrer: Option<Referrer>,
    /// The text behind the `?` of the URL they asked for.
    pub query: &'a str,
    /// True for a program that shows previews of links.
    pub previews: bool,
    /// False for `HEAD` requests and prefetches: the same answer, but no click.
    pub counts: bool,
}

/// What a visitor gets, and the click to record before they do.
#[derive(Debug)]
pub struct Visit<'a> {
    /// What they get.
    pub reply: Reply<'a>,
    /// The click, unless the visit doesn't count.
    pub click: Option<NewClick>,
}

/// What a visitor gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A redirect.
    Redirect(Target<'a>),
    /// A page with buttons: to the target, and to the stores.
    Landing(Option<Target<'a>>, Stores<'a>),
    /// The link's preview.
    Preview,
    /// The link has expired and redirects to the place that it names for then.
    ExpiredRedirect(Target<'a>),
    /// The link has expired.
    Expired,
}

/// Where a link leads at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection<'a> {
    /// The URL for each platform; none where visitors get a page without a target.
    pub targets: [(Platform, Option<Target<'a>>); 3],
    /// Whether the link has expired.
    pub is_expired: bool,
}

impl Visits {
    /// The service over a lookup, the apps and a journal.
    pub fn new(
        links: Arc<dyn LinkLookup>,
        apps: Arc<dyn AppDirectory>,
        journal: Arc<dyn ClickJournal>,
        ids: Arc<dyn IdSource>,
        macs: Arc<dyn TokenMac>,
        clock: Arc<dyn Clock>,
        address_mode: AddressMode,
    ) -> Self {
        Self { links, apps, journal, ids, macs, clock, address_mode }
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

    /// Decides what a visitor gets.
    ///
    /// A program that shows previews gets the link's preview while the link leads anywhere, and is
    /// no click. The targets of everybody else carry the visitor's parameters, and those in the
    /// Play store the install referrer, with the click's token if there is a click.
    pub fn arrive<'a>(&self, found: &'a Found, visitor: Visitor<'_>) -> Visit<'a> {
        let now = self.clock.now();
        let (route, app) = (&*found.route, &*found.app);
        let destination = route.destination(app, visitor.platform, now);
        let leads_on = matches!(destination, Destination::Redirect(_) | Destination::Landing(_));
        if leads_on && visitor.previews {
            return Visit { reply: Reply::Preview, click: None };
        }
        let query = visitor.query;
        let click = (visitor.counts && leads_on).then(|| NewClick {
            id: self.ids.click_id(now),
            link_id: route.link_id,
            app_id: route.app_id,
            at: now,
            address: self.address_mode.keep(visitor.address),
            user_agent: visitor.user_agent,
            referrer: visitor.referrer,
            platform: visitor.platform,
        });
        // In this order: a visitor's parameters must not replace the referrer.
        let sent = |target| self.with_referrer(target, route, click.as_ref()).with_query(query);
        let reply = match destination {
            Destination::Redirect(target) => Reply::Redirect(sent(target)),
            Destination::Landing(target) => {
                Reply::Landing(target.map(sent), app.stores().map(sent))
            }
            Destination::ExpiredRedirect(target) => {
                Reply::ExpiredRedirect(target.with_query(query))
            }
            Destination::Expired => Reply::Expired,
        };
        Visit { reply, click }
    }

    fn with_referrer<'a>(
        &self,
        target: Target<'a>,
        route: &Route,
        click: Option<&NewClick>,
    ) -> Target<'a> {
        if !target.is_play_store() {
            return target;
        }
        let token = click.map(|click| {
            let mac = self.macs.mac(click.id, click.link_id);
            token::encode(click.id, click.link_id, mac)
        });
        let (channel, campaign) = (route.channel.as_ref(), route.campaign.as_ref());
        target.with_install_referrer(channel, campaign, token.as_deref())
    }

    /// Shows where a link leads, without going there.
    pub fn inspect<'a>(&self, found: &'a Found) -> Inspection<'a> {
        let now = self.clock.now();
        let target = |platform| found.route.destination(&found.app, platform, now).target();
        Inspection {
            targets: Platform::ALL.map(|platform| (platform, target(platform))),
            is_expired: found.route.is_expired(now),
        }
    }

    /// Records a click; to be awaited before the visitor is answered.
    pub fn record(&self, click: NewClick) -> Recording {
        self.journal.append(click)
    }
}

#[cfg(test)]
mod tests;
