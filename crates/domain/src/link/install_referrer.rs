//! What the Play store tells the app it installs about the link that led to it.

use std::borrow::Cow;

use url::form_urlencoded;

use super::target::{name_of, pairs, push_pair};
use super::{Campaign, Channel, Target};

impl Target<'_> {
    /// Longest install referrer, percent-encoded (Google Play, "Install referrer": "512 characters
    /// or less").
    pub const MAX_REFERRER: usize = 512;

    /// This target with the referrer that the Play store hands to the app it installs; other
    /// targets stay as they are.
    ///
    /// It holds `utm_source` (the channel, else `link`), `utm_medium`, `utm_campaign` and the
    /// click's token as `dlc`, when there is a click. The keys of a referrer in the URL itself are
    /// kept and win, `dlc` excepted. A referrer of more than [`MAX_REFERRER`](Self::MAX_REFERRER) characters loses
    /// first our `utm_` keys, then the URL's, then all but the token.
    #[must_use]
    pub fn with_install_referrer(
        self,
        channel: Option<&Channel>,
        campaign: Option<&Campaign>,
        click_token: Option<&str>,
    ) -> Self {
        if !self.is_play_store() {
            return self;
        }
        let own = self.query();
        let (referrers, others): (Vec<&str>, Vec<&str>) =
            pairs(own).partition(|pair| name_of(pair) == "referrer");
        let stored = referrers.first().map(|pair| value_of(pair)).unwrap_or_default();
        let kept: Vec<&str> = pairs(&stored).filter(|pair| name_of(pair) != "dlc").collect();
        let token = click_token.map(|token| format!("dlc={}", percent_encode(token)));
        let referrer = shortened(&kept, &our_utm(&kept, channel, campaign), token.as_deref());
        let mut query = String::new();
        for pair in others {
            push_pair(&mut query, pair);
        }
        if !referrer.is_empty() {
            push_pair(&mut query, &format!("referrer={referrer}"));
        }
        self.replace_query(&query)
    }
}

fn value_of(pair: &str) -> Cow<'_, str> {
    form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value).unwrap_or_default()
}

/// Encodes everything but letters, digits and `*-._`; a blank is `%20`, because not every reader
/// of a referrer takes `+` for one.
fn percent_encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes())
        .map(|part| if part == "+" { "%20" } else { part })
        .collect()
}

/// The `utm_` pairs that the stored referrer doesn't have.
fn our_utm(kept: &[&str], channel: Option<&Channel>, campaign: Option<&Campaign>) -> Vec<String> {
    let source = channel.map_or("link", Channel::as_str);
    [
        ("utm_source", Some(source)),
        ("utm_medium", Some("deeplink")),
        ("utm_campaign", campaign.map(Campaign::as_str)),
    ]
    .into_iter()
    .filter(|(name, _)| !kept.iter().any(|pair| name_of(pair) == *name))
    .filter_map(|(name, value)| Some(format!("{name}={}", percent_encode(value?))))
    .collect()
}

/// The encoded referrer, with as many of its parts as its length allows.
fn shortened(kept: &[&str], utm: &[String], token: Option<&str>) -> String {
    let utm = utm.iter().map(String::as_str);
    let join = |parts: Vec<&str>| percent_encode(&parts.join("&"));
    let stored = || kept.iter().copied();
    let without_utm = || stored().filter(|pair| !name_of(pair).starts_with("utm_"));
    [
        join(stored().chain(utm).chain(token).collect()),
        join(stored().chain(token).collect()),
        join(without_utm().chain(token).collect()),
    ]
    .into_iter()
    .find(|referrer| referrer.len() <= Target::MAX_REFERRER)
    .unwrap_or_else(|| token.map(percent_encode).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use url::Url;

    use super::*;

    const PLAY: &str = "https://play.google.com/store/apps/details?id=com.example.shop";

    fn target(text: &str) -> Target<'_> {
        let target = Target::new(text);
        assert_eq!(target, Target::new(Url::parse(text).unwrap().as_str()));
        target
    }

    /// The referrer that the store reads out of the URL.
    fn referrer(text: &str, channel: Option<&str>, campaign: Option<&str>) -> String {
        let channel = channel.map(|text| Channel::parse(text).unwrap());
        let campaign = campaign.map(|text| Campaign::parse(text).unwrap());
        let target =
            target(text).with_install_referrer(channel.as_ref(), campaign.as_ref(), Some("TOKEN"));
        let raw = pairs(target.query()).find_map(|pair| pair.strip_prefix("referrer=")).unwrap();
        assert!(raw.len() <= 512, "{raw}");
        let url = Url::parse(target.as_str()).unwrap();
        let mut found = url.query_pairs().filter(|(name, _)| name == "referrer");
        let value = found.next().unwrap().1.into_owned();
        assert!(found.next().is_none());
        value
    }

    #[test]
    fn the_store_hears_of_channel_campaign_and_click() {
        assert_eq!(referrer(PLAY, None, None), "utm_source=link&utm_medium=deeplink&dlc=TOKEN");
        assert_eq!(
            referrer("market://details?id=x", Some("e mail"), Some("50 % & mehr")),
            "utm_source=e%20mail&utm_medium=deeplink&utm_campaign=50%20%25%20%26%20mehr&dlc=TOKEN"
        );
        let target = target(PLAY).with_install_referrer(None, None, Some("T"));
        assert_eq!(
            target.as_str(),
            format!("{PLAY}&referrer=utm_source%3Dlink%26utm_medium%3Ddeeplink%26dlc%3DT")
        );
    }

    #[test]
    fn a_referrer_in_the_url_keeps_its_keys_but_for_the_token() {
        let url = format!("{PLAY}&referrer=utm_source%3Dposter%26k%3Da%2520b%26dlc%3Dold&hl=de#x");
        assert_eq!(
            referrer(&url, Some("email"), Some("spring")),
            "utm_source=poster&k=a%20b&utm_medium=deeplink&utm_campaign=spring&dlc=TOKEN"
        );
        let target = target(&url).with_install_referrer(None, None, Some("T"));
        assert!(target.as_str().starts_with(&format!("{PLAY}&hl=de&referrer=")));
        assert!(target.as_str().ends_with("#x"));
    }

    #[test]
    fn a_long_referrer_loses_its_utm_keys_first_and_the_token_never() {
        let long = "ü".repeat(255);
        assert_eq!(referrer(PLAY, None, Some(&long)), "dlc=TOKEN");
        let own = format!("{PLAY}&referrer=k%3D1");
        assert_eq!(referrer(&own, None, Some(&long)), "k=1&dlc=TOKEN");
        let own = format!("{PLAY}&referrer=k%3D1%26utm_term%3D{}", "x".repeat(490));
        assert_eq!(referrer(&own, None, None), "k=1&dlc=TOKEN");
        let own = format!("{PLAY}&referrer=k%3D{}", "x".repeat(600));
        assert_eq!(referrer(&own, None, None), "dlc=TOKEN");
    }

    #[test]
    fn without_a_click_the_store_hears_of_channel_and_campaign_only() {
        let without =
            |text| target(text).with_install_referrer(None, None, None).as_str().to_owned();
        assert_eq!(
            without(PLAY),
            format!("{PLAY}&referrer=utm_source%3Dlink%26utm_medium%3Ddeeplink")
        );
        let stale = format!("{PLAY}&referrer=utm_source%3Da%26utm_medium%3Db%26dlc%3Dold");
        assert_eq!(without(&stale), format!("{PLAY}&referrer=utm_source%3Da%26utm_medium%3Db"));
        let long = format!("{PLAY}&referrer=k%3D{}", "x".repeat(600));
        assert_eq!(without(&long), PLAY);
    }

    #[test]
    fn other_targets_get_no_referrer() {
        for text in [
            "https://w.example/store/apps/details?id=x",
            "https://play.google.com/store/apps/dev?id=1",
            "https://apps.apple.com/app/id1",
            "shop://item/1",
        ] {
            assert_eq!(target(text).with_install_referrer(None, None, Some("T")), target(text));
        }
    }

    #[test]
    fn a_visitor_can_not_replace_the_referrer() {
        let sent = target(PLAY).with_install_referrer(None, None, Some("T"));
        assert_eq!(sent.clone().with_query("referrer=dlc%3Dmine"), sent);
    }

    proptest! {
        #[test]
        fn every_referrer_fits_and_ends_with_the_token(
            own in "\\PC{0,300}",
            campaign in proptest::option::of("[^\\p{Cc}]{1,255}"),
        ) {
            let own: String = form_urlencoded::byte_serialize(own.as_bytes()).collect();
            let value = referrer(&format!("{PLAY}&referrer={own}"), None, campaign.as_deref());
            prop_assert!(value.ends_with("dlc=TOKEN"));
            prop_assert_eq!(pairs(&value).filter(|pair| name_of(pair) == "dlc").count(), 1);
        }
    }
}
