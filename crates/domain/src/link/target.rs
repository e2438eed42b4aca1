//! The URL a visitor is sent to, and what is added to it on the way.

use std::borrow::Cow;
use std::collections::BTreeSet;

use url::{Url, form_urlencoded};

/// A URL to send, in the form that goes into a header: ASCII, percent-encoded.
///
/// It is a text and mostly borrowed, because nearly all visits send it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'a>(Cow<'a, str>);

impl<'a> Target<'a> {
    /// Longest URL, in bytes, that a visitor's query may make: half of what servers should take
    /// (RFC 9110 section 4.1), which leaves room for what others add on the way.
    pub const MAX_BYTES: usize = 4096;

    /// `text` is a URL as [`Url`] writes it.
    pub(super) fn new(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The text for a `Location` header or a link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This target with the parameters a visitor brought; `visitor_query` is the text behind the
    /// `?`, as it came.
    ///
    /// A parameter that the target names itself is not taken over, nor are our own (`_dlc`, `_web`,
    /// `fp_…`), nor on a store's page those that say which app is installed for whom (`id`,
    /// `referrer`, `url`). Names are compared decoded, ours without regard to case. Repeated
    /// parameters all come along, in their order and spelling. Only http(s) targets get any, and
    /// none when the URL would be longer than [`MAX_BYTES`](Self::MAX_BYTES): call this last.
    #[must_use]
    pub fn with_query(self, visitor_query: &str) -> Self {
        if visitor_query.is_empty() || !self.is_web() {
            return self;
        }
        let own = self.query();
        let taken: BTreeSet<Cow<'_, str>> = pairs(own).map(name_of).collect();
        let at_store = self.is_store();
        let mut query = own.to_owned();
        for pair in pairs(visitor_query) {
            let name = name_of(pair);
            let stays_here =
                taken.contains(&name) || is_ours(&name) || (at_store && is_stores(&name));
            if !stays_here {
                push_pair(&mut query, pair);
            }
        }
        if query.len() == own.len() {
            return self;
        }
        let longer = self.clone().replace_query(&query);
        if longer.as_str().len() > Self::MAX_BYTES { self } else { longer }
    }

    /// This target with another query, which is percent-encoded where it must be.
    pub(super) fn replace_query(self, query: &str) -> Self {
        let Ok(mut url) = Url::parse(&self.0) else { return self };
        url.set_query(Some(query));
        Self(Cow::Owned(url.into()))
    }

    /// The scheme, in lower case.
    pub(super) fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(scheme, _)| scheme)
    }

    /// The query without its `?`.
    pub(super) fn query(&self) -> &str {
        let before_fragment = self.0.split_once('#').map_or(&*self.0, |(before, _)| before);
        before_fragment.split_once('?').map_or("", |(_, query)| query)
    }

    /// True for a page of the web or of a store, to which a redirect is safe.
    pub(super) fn is_web_or_store(&self) -> bool {
        matches!(self.scheme(), "http" | "https" | "market" | "itms-apps")
    }

    /// True for an app's page in the Play store, which takes an install referrer.
    pub fn is_play_store(&self) -> bool {
        self.scheme() == "market"
            || self.host_and_path().is_some_and(|(host, path)| {
                host == "play.google.com" && path.trim_end_matches('/') == "/store/apps/details"
            })
    }

    fn is_web(&self) -> bool {
        matches!(self.scheme(), "http" | "https")
    }

    fn is_store(&self) -> bool {
        self.is_play_store()
            || self.scheme() == "itms-apps"
            || self
                .host_and_path()
                .is_some_and(|(host, _)| matches!(host, "apps.apple.com" | "itunes.apple.com"))
    }

    /// Host and path of a page of the web. [`Url`] writes them in one way only and there is no user
    /// before the host, so the text can be cut where the rules for URLs would cut it.
    fn host_and_path(&self) -> Option<(&str, &str)> {
        let rest = self.0.strip_prefix("https://").or_else(|| self.0.strip_prefix("http://"))?;
        let until = |text: &str, ends: &[char]| text.find(ends).unwrap_or(text.len());
        let (authority, rest) = rest.split_at(until(rest, &['/', '?', '#']));
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        Some((host, &rest[..until(rest, &['?', '#'])]))
    }
}

/// Our own parameters, which mean nothing to anybody else.
fn is_ours(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "_dlc" || name == "_web" || name.starts_with("fp_")
}

/// The parameters of a store's page that a visitor must not choose.
fn is_stores(name: &str) -> bool {
    ["id", "referrer", "url"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// The `name=value` pairs of a query, as they are written.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|pair| !pair.is_empty())
}

pub(super) fn name_of(pair: &str) -> Cow<'_, str> {
    form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name).unwrap_or_default()
}

pub(super) fn push_pair(query: &mut String, pair: &str) {
    if !query.is_empty() && !query.ends_with('&') {
        query.push('&');
    }
    query.push_str(pair);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAY: &str = "https://play.google.com/store/apps/details?id=com.example.shop";

    fn target(text: &str) -> Target<'static> {
        Target(Cow::Owned(Url::parse(text).unwrap().into()))
    }

    fn forwarded(text: &str, query: &str) -> String {
        target(text).with_query(query).as_str().to_owned()
    }

    #[test]
    fn a_visitors_query_comes_along_and_the_targets_own_parameters_win() {
        for (target, query, expected) in [
            ("https://w.example/", "a=1", "https://w.example/?a=1"),
            ("https://w.example/p", "", "https://w.example/p"),
            ("https://w.example/?", "a=1", "https://w.example/?a=1"),
            ("https://w.example/?a=0", "a=1&b=2", "https://w.example/?a=0&b=2"),
            ("https://w.example/?a=0#part", "b=2", "https://w.example/?a=0&b=2#part"),
            ("https://w.example/", "a=1&a=2&flag&b=", "https://w.example/?a=1&a=2&flag&b="),
            ("https://w.example/?a=0", "a=1", "https://w.example/?a=0"),
            ("https://w.example/?a%62=0", "%61b=1&c=2", "https://w.example/?a%62=0&c=2"),
            ("https://w.example/", "&&a=1&&", "https://w.example/?a=1"),
            ("https://w.example/?x=1&", "a=1", "https://w.example/?x=1&a=1"),
            (
                "https://w.example/",
                "a=%zz%&b=+%20&c=ü#",
                "https://w.example/?a=%zz%&b=+%20&c=%C3%BC%23",
            ),
            ("https://w.example/?A=0", "a=1", "https://w.example/?A=0&a=1"),
        ] {
            assert_eq!(forwarded(target, query), expected, "{target} {query}");
        }
    }

    #[test]
    fn our_own_parameters_stay_here_however_they_are_written() {
        for query in ["_dlc=1", "_web", "fp_x=1", "fp_", "%5Fdlc=1", "%66p_x=1", "_DLC=1", "FP_x"] {
            assert_eq!(forwarded("https://w.example/", query), "https://w.example/", "{query}");
        }
        assert_eq!(forwarded("https://w.example/", "fp=1&dlc=2"), "https://w.example/?fp=1&dlc=2");
    }

    #[test]
    fn a_visitor_does_not_choose_the_app_that_a_store_installs() {
        let query = "id=evil&referrer=dlc%3Dx&url=u&%69d=evil&hl=de";
        for (store, expected) in [
            (PLAY, format!("{PLAY}&hl=de")),
            ("https://apps.apple.com/app/id1", "https://apps.apple.com/app/id1?hl=de".to_owned()),
            (
                "https://itunes.apple.com/app/id1",
                "https://itunes.apple.com/app/id1?hl=de".to_owned(),
            ),
            (
                "https://play.google.com/store/apps/details/",
                "https://play.google.com/store/apps/details/?hl=de".to_owned(),
            ),
        ] {
            assert_eq!(forwarded(store, query), expected);
        }
        assert_eq!(forwarded("https://w.example/", "id=1&url=u"), "https://w.example/?id=1&url=u");
    }

    #[test]
    fn only_web_targets_get_a_query() {
        for text in
            ["market://details?id=x", "itms-apps://itunes.apple.com/app/id1", "shop://item/1"]
        {
            assert_eq!(forwarded(text, "a=1"), text);
        }
    }

    #[test]
    fn an_apps_page_in_the_play_store_is_told_by_host_and_path() {
        for (text, is) in [
            (PLAY, true),
            ("http://play.google.com/store/apps/details/?id=x", true),
            ("https://play.google.com:8443/store/apps/details?id=x", true),
            ("market://details?id=x", true),
            ("https://play.google.com/store/apps/dev?id=1", false),
            ("https://play.google.com.evil.example/store/apps/details?id=x", false),
            ("https://evil.example/?//play.google.com/store/apps/details", false),
            ("https://evil.example/#play.google.com/store/apps/details", false),
            ("https://[::1]/store/apps/details", false),
            ("shop://play.google.com/store/apps/details", false),
        ] {
            assert_eq!(target(text).is_play_store(), is, "{text}");
        }
    }

    #[test]
    fn a_url_beyond_4096_bytes_goes_without_the_visitors_query() {
        let base = "https://w.example/?a=";
        let fits = "x".repeat(4096 - base.len());
        assert_eq!(forwarded("https://w.example/", &format!("a={fits}")), format!("{base}{fits}"));
        let query = format!("a={fits}x");
        assert_eq!(forwarded("https://w.example/", &query), "https://w.example/");
        // The limit is that of the URL as sent: each of these letters takes six bytes there.
        let query = format!("a={}", "ü".repeat(700));
        assert_eq!(forwarded("https://w.example/?b=1", &query), "https://w.example/?b=1");
    }

    proptest! {
        #[test]
        fn the_text_is_cut_where_a_parser_cuts_it(text in "(https?|shop)://[a-z0-9.:@\\[\\]?#/%&=é]{0,30}") {
            if let Ok(url) = Url::parse(&text)
                && url.username().is_empty()
                && url.password().is_none()
            {
                let target = Target::new(url.as_str());
                prop_assert_eq!(target.scheme(), url.scheme());
                prop_assert_eq!(target.query(), url.query().unwrap_or_default());
                if target.is_web() && !matches!(url.host(), Some(url::Host::Ipv6(_))) {
                    prop_assert_eq!(target.host_and_path(), url.host_str().map(|h| (h, url.path())));
                }
            }
        }

        #[test]
        fn whatever_a_visitor_sends_the_target_keeps_its_own(query in "\\PC{0,80}|[a-c=&%_+#]{0,60}") {
            let sent = target("https://w.example/p?a=1&b=2#f").with_query(&query);
            let url = Url::parse(sent.as_str()).unwrap();
            prop_assert!(sent.as_str().is_ascii());
            prop_assert!(url.query().unwrap().starts_with("a=1&b=2"));
            prop_assert_eq!((url.host_str(), url.path(), url.fragment()), (Some("w.example"), "/p", Some("f")));
            let count = |name: &str| url.query_pairs().filter(|(n, _)| n == name).count();
            prop_assert_eq!((count("a"), count("b")), (1, 1));
        }
    }
}
