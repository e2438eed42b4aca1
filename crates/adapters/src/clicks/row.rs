//! Clicks and user agents as rows.
#![expect(clippy::ref_option_ref, reason = "diesel's derive borrows every field")]

use std::net::IpAddr;

use diesel::prelude::*;
use signpost_domain::click::{
    BotReason, Classification, Click, ClickId, DeviceClass, Platform, Referrer,
};
use signpost_domain::link::LinkId;
use uuid::Uuid;

use super::items::{Item, Items};
use crate::db::DbError;
use crate::db::schema::clicks;
use crate::parse::moment;

#[derive(Insertable)]
#[diesel(table_name = clicks, treat_none_as_default_value = false)]
pub(super) struct NewClickRow<'a> {
    link_id: i64,
    occurred_at: i64,
    id: &'a [u8],
    ip: Option<Vec<u8>>,
    ua_hash: Option<&'a [u8]>,
    referrer: Option<&'a str>,
    platform: &'static str,
    browser: Option<&'a str>,
    os: Option<&'a str>,
    os_version: Option<&'a str>,
    device: Option<&'static str>,
    country: Option<&'a str>,
    source: &'static str,
    is_bot: bool,
    bot_reason: Option<&'static str>,
}

impl<'a> NewClickRow<'a> {
    /// How many values a row binds.
    pub(super) const COLUMNS: usize = 15;

    pub(super) fn new(items: &'a Items<'_>, item: &'a Item<'_>) -> Self {
        let (click, class) = (item.click, item.class);
        Self {
            link_id: item.link,
            occurred_at: item.at,
            id: click.id.0.as_bytes(),
            ip: click.address.map(address_bytes),
            ua_hash: items.agent_of(item).map(|agent| &agent.hash[..]),
            referrer: click.referrer.as_ref().map(Referrer::as_str),
            platform: click.platform.as_str(),
            browser: class.browser.as_deref(),
            os: class.operating_system.as_deref(),
            os_version: class.os_version.as_deref(),
            device: class.device.map(DeviceClass::as_str),
            country: None,
            source: "visit",
            is_bot: class.bot.is_some(),
            bot_reason: class.bot.map(BotReason::as_str),
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = clicks)]
pub(super) struct ClickRow {
    link_id: i64,
    occurred_at: i64,
    id: Vec<u8>,
    ip: Option<Vec<u8>>,
    referrer: Option<String>,
    platform: String,
    browser: Option<String>,
    os: Option<String>,
    os_version: Option<String>,
    device: Option<String>,
    country: Option<String>,
    is_bot: bool,
    bot_reason: Option<String>,
}

impl ClickRow {
    pub(super) fn with_agent(self, user_agent: Option<String>) -> Result<Click, DbError> {
        let corrupt = |column, cause: &str| DbError::corrupt("clicks", column, cause);
        let bot = self.bot_reason.as_deref().map(parse_reason).transpose()?;
        if self.is_bot != bot.is_some() {
            return Err(corrupt("bot_reason", "a reason and a bot go together"));
        }
        let id = Uuid::from_slice(&self.id).map_err(|_| corrupt("id", "not 16 bytes"))?;
        Ok(Click {
            id: ClickId(id),
            link_id: LinkId(self.link_id),
            at: moment(self.occurred_at, "clicks", "occurred_at")?,
            address: self.ip.as_deref().map(parse_address).transpose()?,
            user_agent,
            referrer: self.referrer,
            platform: parse_platform(&self.platform)?,
            classification: Classification {
                browser: self.browser,
                operating_system: self.os,
                os_version: self.os_version,
                device: self.device.as_deref().map(parse_device).transpose()?,
                bot,
            },
            country: self.country,
            matched: None,
        })
    }
}

fn parse_platform(text: &str) -> Result<Platform, DbError> {
    Platform::parse(text).ok_or_else(|| DbError::corrupt("clicks", "platform", text))
}

fn parse_device(text: &str) -> Result<DeviceClass, DbError> {
    DeviceClass::parse(text).ok_or_else(|| DbError::corrupt("clicks", "device", text))
}

fn parse_reason(text: &str) -> Result<BotReason, DbError> {
    BotReason::parse(text).ok_or_else(|| DbError::corrupt("clicks", "bot_reason", text))
}

fn address_bytes(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

fn parse_address(bytes: &[u8]) -> Result<IpAddr, DbError> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Ok(v4.into());
    }
    <[u8; 16]>::try_from(bytes)
        .map(IpAddr::from)
        .map_err(|_| DbError::corrupt("clicks", "ip", "neither 4 nor 16 bytes"))
}
