//! Links as answers.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::value::RawValue;
use signpost_domain::app::App;
use signpost_domain::link::{Link, ShortCode};
use signpost_domain::page::{Page, PageRequest};
use signpost_domain::ports::Clock;
use utoipa::ToSchema;

/// A link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Link)]
pub(crate) struct LinkView<'a> {
    /// Its number: below 2^53, never used twice.
    #[schema(example = 42)]
    id: i64,
    /// The code that visitors see.
    #[schema(example = "k7Qm2xT")]
    short_code: &'a str,
    /// The URL to publish.
    #[schema(example = "https://go.example.com/k7Qm2xT")]
    url: String,
    /// The JSON object handed to the app, byte for byte as sent, less white space between tokens.
    #[schema(value_type = Object, example = json!({"promo": "SUMMER50"}))]
    payload: &'a RawValue,
    /// Title of the preview.
    og_title: Option<&'a str>,
    /// Text of the preview.
    og_description: Option<&'a str>,
    /// Picture of the preview.
    og_image_url: Option<&'a str>,
    /// Where the link is published.
    channel: Option<&'a str>,
    /// The campaign it belongs to.
    campaign: Option<&'a str>,
    /// Free labels.
    tags: Vec<&'a str>,
    /// Target for iPhones and iPads.
    ios_redirect_url: Option<&'a str>,
    /// Target for Android.
    android_redirect_url: Option<&'a str>,
    /// Target for everybody else.
    web_redirect_url: Option<&'a str>,
    /// When it expires.
    #[schema(example = "2026-12-31T23:59:59.000Z")]
    expires_at: Option<String>,
    /// Target after expiry.
    expired_redirect_url: Option<&'a str>,
    /// Whether it has expired.
    is_expired: bool,
    /// When it was created.
    #[schema(example = "2026-01-05T09:00:00.000Z")]
    created_at: String,
    /// When its content changed last.
    #[schema(example = "2026-01-05T09:00:00.000Z")]
    updated_at: String,
}

/// One page of links.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkPage)]
pub(crate) struct LinkPageView<'a> {
    /// The links, newest first.
    data: Vec<LinkView<'a>>,
    /// Where this page stands.
    pagination: PaginationView,
}

/// Where a page stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Pagination)]
pub(crate) struct PaginationView {
    /// This page's number, from 1.
    #[schema(example = 1)]
    page: u32,
    /// How many entries a page holds.
    #[schema(example = 20)]
    limit: u32,
    /// How many entries there are.
    #[schema(example = 57)]
    total: u64,
    /// How many pages there are.
    #[schema(example = 3)]
    total_pages: u64,
}

impl PaginationView {
    pub(crate) fn new(page: PageRequest, total: u64) -> Self {
        Self { page: page.page(), limit: page.limit(), total, total_pages: page.total_pages(total) }
    }
}

/// Makes answers of links: it knows what their URLs start with, and the time.
#[derive(Clone)]
pub(crate) struct Views {
    base_url: Arc<str>,
    clock: Arc<dyn Clock>,
}

/// A JSON text, and the moment for which it is true.
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) now: DateTime<Utc>,
}

impl Views {
    /// `base_url` has no slash at its end.
    pub(crate) fn new(base_url: &str, clock: Arc<dyn Clock>) -> Self {
        Self { base_url: base_url.into(), clock }
    }

    /// The public URL of a link.
    pub(crate) fn url(&self, app: &App, code: &ShortCode) -> String {
        app.link_url(&self.base_url, code)
    }

    /// A link as JSON.
    pub(crate) fn json(&self, app: &App, link: &Link) -> Rendered {
        let now = self.clock.now();
        Rendered { text: to_json(&self.view(app, link, now)), now }
    }

    /// A page of links as JSON.
    pub(crate) fn page_json(&self, app: &App, page: &Page<Link>, asked: PageRequest) -> String {
        let now = self.clock.now();
        to_json(&LinkPageView {
            data: page.items.iter().map(|link| self.view(app, link, now)).collect(),
            pagination: PaginationView::new(asked, page.total),
        })
    }

    /// Now, by the clock of the answers.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(crate) fn view<'a>(&self, app: &App, link: &'a Link, now: DateTime<Utc>) -> LinkView<'a> {
        let content = &link.content;
        let redirects = &content.redirects;
        LinkView {
            id: link.id.0,
            short_code: link.code.as_str(),
            url: self.url(app, &link.code),
            payload: serde_json::from_str(content.payload.as_str())
                .expect("a payload is JSON by its type"),
            og_title: content.og_title.as_ref().map(|t| t.as_str()),
            og_description: content.og_description.as_ref().map(|t| t.as_str()),
            og_image_url: content.og_image_url.as_ref().map(|t| t.as_str()),
            channel: content.channel.as_ref().map(|t| t.as_str()),
            campaign: content.campaign.as_ref().map(|t| t.as_str()),
            tags: content.tags.iter().map(|t| t.as_str()).collect(),
            ios_redirect_url: redirects.ios.as_ref().map(|u| u.as_str()),
            android_redirect_url: redirects.android.as_ref().map(|u| u.as_str()),
            web_redirect_url: redirects.web.as_ref().map(|u| u.as_str()),
            expires_at: content.expires_at.map(time),
            expired_redirect_url: redirects.expired.as_ref().map(|u| u.as_str()),
            is_expired: link.is_expired(now),
            created_at: time(link.created_at),
            updated_at: time(link.updated_at),
        }
    }
}

/// A moment as the API writes it: RFC 3339, UTC with `Z`, milliseconds.
pub(crate) fn time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Any answer as JSON.
pub(crate) fn to_json<T: Serialize>(view: &T) -> String {
    serde_json::to_string(view).expect("views hold strings, numbers and lists only")
}
