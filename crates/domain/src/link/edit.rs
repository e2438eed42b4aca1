//! A partial update of a link.

use chrono::{DateTime, Utc};

use super::{
    Campaign, Channel, ImageUrl, Link, LinkContent, LinkVersion, OgDescription, OgTitle, Payload,
    RedirectUrl, Redirects, Tags,
};
use crate::Change;

/// What an update says about each field; absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkEdit {
    /// A new payload replaces the old one whole; it can't be cleared.
    pub payload: Option<Payload>,
    /// The title of the preview.
    pub og_title: Change<OgTitle>,
    /// The text of the preview.
    pub og_description: Change<OgDescription>,
    /// The picture of the preview.
    pub og_image_url: Change<ImageUrl>,
    /// The channel.
    pub channel: Change<Channel>,
    /// The campaign.
    pub campaign: Change<Campaign>,
    /// The tags; clearing them leaves none.
    pub tags: Change<Tags>,
    /// The URL for iPhones and iPads.
    pub ios: Change<RedirectUrl>,
    /// The URL for Android.
    pub android: Change<RedirectUrl>,
    /// The URL for everybody else.
    pub web: Change<RedirectUrl>,
    /// The URL after expiry.
    pub expired: Change<RedirectUrl>,
    /// The moment of expiry; a past one expires the link now.
    pub expires_at: Change<DateTime<Utc>>,
}

impl LinkEdit {
    /// The link after this edit at `now`.
    ///
    /// An edit that changes nothing leaves version and time of change alone, so that a client that
    /// sends back what it read doesn't look like a writer.
    pub fn apply(self, link: &Link, now: DateTime<Utc>) -> Link {
        let old = &link.content;
        let content = LinkContent {
            payload: self.payload.unwrap_or_else(|| old.payload.clone()),
            og_title: self.og_title.apply(old.og_title.clone()),
            og_description: self.og_description.apply(old.og_description.clone()),
            og_image_url: self.og_image_url.apply(old.og_image_url.clone()),
            channel: self.channel.apply(old.channel.clone()),
            campaign: self.campaign.apply(old.campaign.clone()),
            tags: self.tags.apply(Some(old.tags.clone())).unwrap_or_default(),
            redirects: Redirects {
                ios: self.ios.apply(old.redirects.ios.clone()),
                android: self.android.apply(old.redirects.android.clone()),
                web: self.web.apply(old.redirects.web.clone()),
                expired: self.expired.apply(old.redirects.expired.clone()),
            },
            expires_at: self.expires_at.apply(old.expires_at),
        };
        if content == *old {
            return link.clone();
        }
        Link {
            content,
            version: LinkVersion(link.version.0 + 1),
            // A clock set back must not make a change look older than the creation.
            updated_at: now.max(link.created_at),
            ..link.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::AppId;
    use crate::link::{LinkId, ShortCode};

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn link() -> Link {
        let mut content = LinkContent::new(Payload::parse(r#"{"a":1}"#).unwrap());
        content.og_title = Some(OgTitle::parse("old").unwrap());
        content.redirects.ios = Some(RedirectUrl::parse("https://i.example", &[]).unwrap());
        Link {
            id: LinkId(1),
            app_id: AppId(1),
            code: ShortCode::parse("abc").unwrap(),
            content,
            version: LinkVersion(1),
            created_at: at(100),
            updated_at: at(100),
        }
    }

    #[test]
    fn an_empty_edit_changes_nothing_not_even_the_time() {
        assert_eq!(LinkEdit::default().apply(&link(), at(200)), link());
    }

    #[test]
    fn setting_a_field_to_its_own_value_changes_nothing() {
        let edit = LinkEdit {
            og_title: Change::Set(OgTitle::parse("old").unwrap()),
            ..LinkEdit::default()
        };
        assert_eq!(edit.apply(&link(), at(200)), link());
    }

    #[test]
    fn a_change_touches_its_field_the_version_and_the_time_only() {
        let edit = LinkEdit { og_title: Change::Clear, ..LinkEdit::default() };
        let mut expected = link();
        expected.content.og_title = None;
        expected.version = LinkVersion(2);
        expected.updated_at = at(200);
        assert_eq!(edit.apply(&link(), at(200)), expected);
    }

    #[test]
    fn a_payload_is_replaced_whole() {
        let edit = LinkEdit {
            payload: Some(Payload::parse(r#"{"b":2}"#).unwrap()),
            ..LinkEdit::default()
        };
        assert_eq!(edit.apply(&link(), at(200)).content.payload.as_str(), r#"{"b":2}"#);
    }

    #[test]
    fn a_link_is_expired_from_the_moment_of_expiry_on() {
        let edit = LinkEdit { expires_at: Change::Set(at(150)), ..LinkEdit::default() };
        let link = edit.apply(&link(), at(120));
        assert!(!link.is_expired(at(149)));
        assert!(link.is_expired(at(150)));
    }
}
