//! Links: what they are made of, how they change, where they lead.

mod destination;
mod draft;
mod edit;
mod filter;
mod install_referrer;
mod payload;
mod redirects;
mod short_code;
mod tags;
mod target;
mod text;

pub use destination::{Destination, Route, Stores};
pub use draft::{CodeChoice, LinkDraft};
pub use edit::LinkEdit;
pub use filter::{LinkFilter, LinkStatus, SearchTerm, search_key};
pub use payload::Payload;
pub use redirects::{CustomScheme, ImageUrl, RedirectUrl, Redirects};
pub use short_code::{RESERVED_WORDS, ShortCode, is_reserved};
pub use tags::{Tag, Tags};
pub use target::Target;
pub use text::{Campaign, Channel, OgDescription, OgTitle};

use chrono::{DateTime, Utc};

use crate::app::AppId;

/// A link's number: unique in the installation, below 2^53, never given out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub i64);

/// How often a link has changed; the first version is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkVersion(pub i64);

/// A stored link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its number.
    pub id: LinkId,
    /// The app that owns it.
    pub app_id: AppId,
    /// The code that visitors see.
    pub code: ShortCode,
    /// What clients may change.
    pub content: LinkContent,
    /// Counts the changes, for `ETag` and `If-Match`.
    pub version: LinkVersion,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When its content changed last.
    pub updated_at: DateTime<Utc>,
}

impl Link {
    /// True from the moment of expiry on: `now ≥ expiresAt`.
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.content.expires_at.is_some_and(|end| now >= end)
    }
}

/// The part of a link that clients write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkContent {
    /// The JSON object handed to the app.
    pub payload: Payload,
    /// The title of the preview.
    pub og_title: Option<OgTitle>,
    /// The text of the preview.
    pub og_description: Option<OgDescription>,
    /// The picture of the preview.
    pub og_image_url: Option<ImageUrl>,
    /// Where the link is published, such as `email`.
    pub channel: Option<Channel>,
    /// The campaign it belongs to.
    pub campaign: Option<Campaign>,
    /// Free labels.
    pub tags: Tags,
    /// Where visitors are sent.
    pub redirects: Redirects,
    /// From when on the link no longer leads anywhere.
    pub expires_at: Option<DateTime<Utc>>,
}

impl LinkContent {
    /// A link with a payload and nothing else.
    pub fn new(payload: Payload) -> Self {
        Self {
            payload,
            og_title: None,
            og_description: None,
            og_image_url: None,
            channel: None,
            campaign: None,
            tags: Tags::default(),
            redirects: Redirects::default(),
            expires_at: None,
        }
    }
}
