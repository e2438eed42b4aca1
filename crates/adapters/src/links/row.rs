//! Rows of links.
#![expect(clippy::ref_option_ref, reason = "written by the derives of borrowed rows")]

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_domain::Invalid;
use signpost_domain::app::AppId;
use signpost_domain::link::{
    Campaign, Channel, ImageUrl, Link, LinkContent, LinkId, LinkVersion, OgDescription, OgTitle,
    Payload, RedirectUrl, Redirects, Route, ShortCode, Tag, Tags, search_key,
};

use crate::db::schema::links;
use crate::db::{DbError, SEPARATOR, computed_column, moment};

computed_column!(
    /// The tags of a link in their order.
    TagList of links: Nullable<Text> =
    "(SELECT string_agg(tag, '\n' ORDER BY position) FROM link_tags WHERE link_id = links.id)"
);

/// What a visit needs.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = links)]
pub(super) struct RouteRow {
    id: i64,
    app_id: i64,
    short_code: String,
    og_title: Option<String>,
    og_description: Option<String>,
    og_image_url: Option<String>,
    channel: Option<String>,
    campaign: Option<String>,
    ios_redirect_url: Option<String>,
    android_redirect_url: Option<String>,
    web_redirect_url: Option<String>,
    expired_redirect_url: Option<String>,
    expires_at: Option<i64>,
}

impl TryFrom<RouteRow> for Route {
    type Error = DbError;

    fn try_from(row: RouteRow) -> Result<Self, DbError> {
        let redirect = |name, text| optional(name, text, RedirectUrl::from_stored);
        Ok(Self {
            link_id: LinkId(row.id),
            app_id: AppId(row.app_id),
            code: read("short_code", &row.short_code, ShortCode::parse)?,
            redirects: Redirects {
                ios: redirect("ios_redirect_url", row.ios_redirect_url)?,
                android: redirect("android_redirect_url", row.android_redirect_url)?,
                web: redirect("web_redirect_url", row.web_redirect_url)?,
                expired: redirect("expired_redirect_url", row.expired_redirect_url)?,
            },
            expires_at: row.expires_at.map(|at| moment("links", "expires_at", at)).transpose()?,
            og_title: optional("og_title", row.og_title, OgTitle::parse)?,
            og_description: optional("og_description", row.og_description, OgDescription::parse)?,
            og_image_url: optional("og_image_url", row.og_image_url, ImageUrl::parse)?,
            channel: optional("channel", row.channel, Channel::parse)?,
            campaign: optional("campaign", row.campaign, Campaign::parse)?,
        })
    }
}

/// A whole link that was not deleted.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = links)]
pub(super) struct LinkRow {
    #[diesel(embed)]
    route: RouteRow,
    payload: Option<String>,
    #[diesel(select_expression = TagList, select_expression_type = TagList)]
    tags: Option<String>,
    version: i64,
    created_at: i64,
    updated_at: i64,
}

impl TryFrom<LinkRow> for Link {
    type Error = DbError;

    fn try_from(row: LinkRow) -> Result<Self, DbError> {
        let payload = row.payload.ok_or_else(|| DbError::corrupt("links", "payload", "NULL"))?;
        let payload = read("payload", &payload, Payload::parse)?;
        let route = Route::try_from(row.route)?;
        Ok(Self {
            id: route.link_id,
            app_id: route.app_id,
            code: route.code,
            content: LinkContent {
                payload,
                og_title: route.og_title,
                og_description: route.og_description,
                og_image_url: route.og_image_url,
                channel: route.channel,
                campaign: route.campaign,
                tags: tags(row.tags.as_deref())?,
                redirects: route.redirects,
                expires_at: route.expires_at,
            },
            version: LinkVersion(row.version),
            created_at: moment("links", "created_at", row.created_at)?,
            updated_at: moment("links", "updated_at", row.updated_at)?,
        })
    }
}

fn tags(list: Option<&str>) -> Result<Tags, DbError> {
    list.into_iter()
        .flat_map(|list| list.split(SEPARATOR))
        .map(Tag::parse)
        .collect::<Result<Vec<_>, _>>()
        .and_then(Tags::new)
        .map_err(|e| DbError::corrupt("link_tags", "tag", e))
}

fn read<T>(
    column: &str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<T, DbError> {
    parse(text).map_err(|e| DbError::corrupt("links", column, e))
}

fn optional<T>(
    column: &str,
    text: Option<String>,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, DbError> {
    text.map(|text| read(column, &text, parse)).transpose()
}

/// What is written of a link, for a new row and for a changed one.
#[derive(Debug, Insertable, AsChangeset)]
#[diesel(table_name = links, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(super) struct LinkColumns<'a> {
    app_id: i64,
    short_code: &'a str,
    payload: &'a str,
    og_title: Option<&'a str>,
    og_description: Option<&'a str>,
    og_image_url: Option<&'a str>,
    channel: Option<&'a str>,
    campaign: Option<&'a str>,
    ios_redirect_url: Option<&'a str>,
    android_redirect_url: Option<&'a str>,
    web_redirect_url: Option<&'a str>,
    expired_redirect_url: Option<&'a str>,
    expires_at: Option<i64>,
    search_text: String,
    version: i64,
    created_at: i64,
    updated_at: i64,
}

impl<'a> From<&'a Link> for LinkColumns<'a> {
    fn from(link: &'a Link) -> Self {
        let content = &link.content;
        let redirects = &content.redirects;
        Self {
            app_id: link.app_id.0,
            short_code: link.code.as_str(),
            payload: content.payload.as_str(),
            og_title: content.og_title.as_ref().map(OgTitle::as_str),
            og_description: content.og_description.as_ref().map(OgDescription::as_str),
            og_image_url: content.og_image_url.as_ref().map(ImageUrl::as_str),
            channel: content.channel.as_ref().map(Channel::as_str),
            campaign: content.campaign.as_ref().map(Campaign::as_str),
            ios_redirect_url: redirects.ios.as_ref().map(RedirectUrl::as_str),
            android_redirect_url: redirects.android.as_ref().map(RedirectUrl::as_str),
            web_redirect_url: redirects.web.as_ref().map(RedirectUrl::as_str),
            expired_redirect_url: redirects.expired.as_ref().map(RedirectUrl::as_str),
            expires_at: content.expires_at.map(|at| at.timestamp_micros()),
            search_text: search_key(link),
            version: link.version.0,
            created_at: link.created_at.timestamp_micros(),
            updated_at: link.updated_at.timestamp_micros(),
        }
    }
}
