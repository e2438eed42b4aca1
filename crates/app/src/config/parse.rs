//! Reading the texts of settings; each mistake says what would be right.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;
use url::Url;

use super::{MAX_DAYS, RateLimits, Setting};

pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "is not an address with a port such as 127.0.0.1:8080".to_owned())
}

pub(super) fn parse_base_url(text: &str) -> Result<String, String> {
    let wrong = || "is not an http or https URL without path, query and user".to_owned();
    let url = Url::parse(text).map_err(|_| wrong())?;
    let bare = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty();
    if bare { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(wrong()) }
}

pub(super) fn parse_secrets(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let secrets: Vec<Vec<u8>> = list(text).map(|part| part.as_bytes().to_vec()).collect();
    if secrets.iter().any(|secret| secret.len() < 32) {
        return Err("needs at least 32 bytes for each secret".to_owned());
    }
    Ok(secrets)
}

pub(super) fn parse_network(text: &str) -> Result<IpNet, String> {
    let network =
        text.parse::<IpNet>().or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from));
    network.map_err(|_| format!("{text} is not a network such as 10.0.0.0/8"))
}

pub(super) fn parse_origin(text: &str) -> Result<String, String> {
    let wrong = || format!("{text} is not an origin such as https://dash.example.com");
    let url = Url::parse(text).map_err(|_| wrong())?;
    let origin = url.origin().ascii_serialization();
    if matches!(url.scheme(), "http" | "https") && origin == text.trim_end_matches('/') {
        Ok(origin)
    } else {
        Err(wrong())
    }
}

/// A number of milliseconds or seconds, `0` without a unit.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "is not a time such as 10ms or 2s".to_owned();
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| wrong());
    if let Some(digits) = text.strip_suffix("ms") {
        return number(digits).map(|n| Duration::from_millis(n.into()));
    }
    if let Some(digits) = text.strip_suffix('s') {
        return number(digits).map(|n| Duration::from_secs(n.into()));
    }
    if text == "0" { Ok(Duration::ZERO) } else { Err(wrong()) }
}

/// A number of bytes, with a binary unit or without.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || "is not a size such as 10GiB, 512MiB or a number of bytes".to_owned();
    let (digits, shift) = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]
        .into_iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
        .unwrap_or((text, 0));
    let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(wrong)
}

pub(super) fn parse_days(text: &str) -> Result<u32, String> {
    let days = text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.ok_or_else(|| format!("is not a number of days from 1 to {MAX_DAYS}"))
}

pub(super) fn parse_rate_limits(text: &str) -> Result<RateLimits, String> {
    if text == "off" {
        return Ok(RateLimits::OFF);
    }
    let default = Setting::named("SIGNPOST_RATE_LIMIT").default;
    let mut limits = RateLimits::OFF;
    // What a text leaves out keeps its default.
    for part in list(default).chain(list(text)) {
        let wrong = || format!("{part} is not a limit such as read=3000/min");
        let (name, rate) = part.split_once('=').ok_or_else(wrong)?;
        let limit = match rate.strip_suffix("/min") {
            Some(count) => Some(count.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(wrong)?),
            None if rate == "off" => None,
            None => return Err(wrong()),
        };
        match name {
            "read" => limits.read = limit,
            "write" => limits.write = limit,
            "resolve" => limits.resolve = limit,
            "login" => limits.login = limit,
            _ => return Err(format!("{name} is not one of read, write, resolve, login")),
        }
    }
    Ok(limits)
}
