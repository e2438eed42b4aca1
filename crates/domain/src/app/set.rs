//! All apps of an installation, and which of them answer where.

use std::collections::HashMap;
use std::sync::Arc;

use super::{App, AppId, Host};

/// All apps, found by number and by host.
#[derive(Debug, Default)]
pub struct AppSet {
    apps: HashMap<AppId, Arc<App>>,
    hosts: HashMap<Host, Vec<AppId>>,
}

/// Where on the web a request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place<'a> {
    /// The host it was sent to; `None` for an address or a nonsensical header.
    pub host: Option<&'a Host>,
    /// The first of two path segments.
    pub slug: Option<&'a str>,
}

impl AppSet {
    /// Collects apps.
    pub fn new(apps: impl IntoIterator<Item = App>) -> Self {
        let mut set = Self::default();
        for app in apps {
            for host in &app.hosts {
                set.hosts.entry(host.clone()).or_default().push(app.id);
            }
            set.apps.insert(app.id, Arc::new(app));
        }
        set
    }

    /// The app with this number.
    pub fn get(&self, id: AppId) -> Option<&Arc<App>> {
        self.apps.get(&id)
    }

    /// The apps that list this host; none means that every app's links answer there.
    pub fn on_host(&self, host: &Host) -> impl Iterator<Item = &Arc<App>> {
        self.hosts.get(host).into_iter().flatten().filter_map(|id| self.apps.get(id))
    }

    /// The app that shows itself on this host without any code: of several that list it, the oldest
    /// that has a web default, else the oldest.
    pub fn front(&self, host: &Host) -> Option<&Arc<App>> {
        self.on_host(host).min_by_key(|app| (app.settings.web_fallback_url.is_none(), app.id))
    }

    /// True when any app lists a host.
    pub fn lists_hosts(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// True when the host belongs to apps: it then serves links, never the dashboard.
    pub fn is_app_host(&self, host: &Host) -> bool {
        self.hosts.contains_key(host)
    }

    /// The app, if its links answer at this place.
    ///
    /// On a host that apps list, only their links answer; on any other, all do. A slug before the
    /// code narrows the choice to its app.
    pub fn answering(&self, id: AppId, place: Place<'_>) -> Option<&Arc<App>> {
        let app = self.apps.get(&id)?;
        if place.slug.is_some_and(|slug| slug != app.slug.as_str()) {
            return None;
        }
        let listed = place.host.and_then(|host| self.hosts.get(host));
        listed.is_none_or(|ids| ids.contains(&id)).then_some(app)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{AppSettings, Slug};

    fn app(id: i64, slug: &str, hosts: &[&str]) -> App {
        App {
            id: AppId(id),
            slug: Slug::parse(slug).unwrap(),
            hosts: hosts.iter().map(|h| Host::parse(h).unwrap()).collect(),
            ..App::for_tests(AppSettings::default())
        }
    }

    fn answers(set: &AppSet, id: i64, host: &str, slug: Option<&str>) -> bool {
        let host = Host::parse(host).unwrap();
        set.answering(AppId(id), Place { host: Some(&host), slug }).is_some()
    }

    #[test]
    fn a_listed_host_serves_its_apps_only_and_any_other_host_all() {
        let set = AppSet::new([app(1, "shop", &["go.shop.example"]), app(2, "news", &[])]);
        assert!(answers(&set, 1, "go.shop.example", None));
        assert!(!answers(&set, 2, "go.shop.example", None));
        assert!(answers(&set, 1, "links.example", None));
        assert!(answers(&set, 2, "links.example", None));
        assert!(set.answering(AppId(3), Place::default()).is_none());
        assert!(set.answering(AppId(2), Place::default()).is_some());
    }

    #[test]
    fn a_shared_host_shows_the_oldest_app_that_has_a_page() {
        let hosts = &["go.example"];
        let (third, second) = (app(3, "news", hosts), app(2, "shop", hosts));
        let host = Host::parse("go.example").unwrap();
        let front = |apps: [App; 2]| AppSet::new(apps).front(&host).map(|app| app.id.0);
        assert_eq!(front([third.clone(), second.clone()]), Some(2));
        let mut paged = third;
        paged.settings.web_fallback_url =
            Some(crate::link::RedirectUrl::parse("https://news.example/", &[]).unwrap());
        assert_eq!(front([second, paged]), Some(3));
        assert!(AppSet::new([app(1, "shop", &[])]).front(&host).is_none());
    }

    #[test]
    fn a_slug_narrows_the_choice() {
        let set = AppSet::new([app(1, "shop", &["go.example"]), app(2, "news", &["go.example"])]);
        assert!(answers(&set, 1, "go.example", Some("shop")));
        assert!(!answers(&set, 1, "go.example", Some("news")));
        assert_eq!(set.on_host(&Host::parse("go.example").unwrap()).count(), 2);
    }
}
