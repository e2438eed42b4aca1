//! The bytes of a day.
//!
//! Version 1: the version; a byte that says which parts follow (people, bots, matches, visitors, in
//! this order), each only when it holds anything. A part of clicks is: clicks per hour; clicks on
//! iOS and on Android, the web's being the rest; clicks per kind of device; browsers, operating
//! systems, countries and referrers. Counts of a closed list are a mask of the entries above zero
//! and a number for each. An open dimension is the number of its names, the clicks of all others,
//! and per name, in order, its length as one byte, its bytes, its clicks.

use super::dimension::Dimension;
use super::visitors::Visitors;
use super::{Clicks, DayStats};
use crate::click::packed::{Reader, put_number};
use crate::click::{PlatformClicks, WireError};

const VERSION: u8 = 1;

/// What most days fit into, so that few of them grow twice.
const TYPICAL_SIZE: usize = 256;

const PEOPLE: u8 = 1;
const BOTS: u8 = 2;
const MATCHES: u8 = 4;
const VISITORS: u8 = 8;

pub(super) fn encode(stats: &DayStats) -> Vec<u8> {
    let mut out = Vec::with_capacity(TYPICAL_SIZE);
    out.extend([VERSION, 0]);
    let mut parts = 0;
    for (part, clicks) in [(PEOPLE, &stats.people), (BOTS, &stats.bots)] {
        if clicks.total() > 0 {
            parts |= part;
            encode_clicks(clicks, &mut out);
        }
    }
    if stats.matches.iter().any(|count| *count > 0) {
        parts |= MATCHES;
        encode_counts(&stats.matches, &mut out);
    }
    if !stats.visitors.is_empty() {
        parts |= VISITORS;
        stats.visitors.encode(&mut out);
    }
    if let Some(byte) = out.get_mut(1) {
        *byte = parts;
    }
    out
}

pub(super) fn decode(bytes: &[u8]) -> Result<DayStats, WireError> {
    let mut reader = Reader::versioned(bytes, VERSION)?;
    let parts = reader.byte()?;
    if parts & !(PEOPLE | BOTS | MATCHES | VISITORS) != 0 {
        return Err(WireError::Impossible("part"));
    }
    let mut stats = DayStats::default();
    for (part, clicks) in [(PEOPLE, &mut stats.people), (BOTS, &mut stats.bots)] {
        if parts & part != 0 {
            *clicks = decode_clicks(&mut reader)?;
        }
    }
    if parts & MATCHES != 0 {
        stats.matches = decode_counts(&mut reader)?;
        if stats.matches.iter().all(|count| *count == 0) {
            return Err(WireError::Impossible("part"));
        }
    }
    if parts & VISITORS != 0 {
        stats.visitors = Visitors::decode(&mut reader)?;
        if stats.visitors.is_empty() {
            return Err(WireError::Impossible("part"));
        }
    }
    reader.finish()?;
    Ok(stats)
}

fn encode_clicks(clicks: &Clicks, out: &mut Vec<u8>) {
    encode_counts(&clicks.hours, out);
    put_number(out, clicks.platforms.ios);
    put_number(out, clicks.platforms.android);
    encode_counts(&clicks.devices, out);
    for dimension in
        [&clicks.browsers, &clicks.operating_systems, &clicks.countries, &clicks.referrers]
    {
        encode_dimension(dimension, out);
    }
}

fn decode_clicks(reader: &mut Reader<'_>) -> Result<Clicks, WireError> {
    let hours = decode_counts(reader)?;
    let total = sum(&hours).filter(|total| *total > 0).ok_or(WireError::Impossible("total"))?;
    let within = |part: Option<u64>, what| {
        part.filter(|part| *part <= total)
            .map(|part| total - part)
            .ok_or(WireError::Impossible(what))
    };
    let (ios, android) = (reader.number()?, reader.number()?);
    let web = within(ios.checked_add(android), "platform")?;
    let devices = decode_counts(reader)?;
    within(sum(&devices), "device")?;
    let mut dimension = |what| {
        let dimension = decode_dimension(reader, what)?;
        within(dimension.total(), what).map(|_| dimension)
    };
    Ok(Clicks {
        hours,
        platforms: PlatformClicks { ios, android, web },
        devices,
        browsers: dimension("browser")?,
        operating_systems: dimension("operating system")?,
        countries: dimension("country")?,
        referrers: dimension("referrer")?,
    })
}

fn sum(counts: &[u64]) -> Option<u64> {
    counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count))
}

/// One bit per entry, lowest first, in as many bytes as needed; then the entries above zero.
fn encode_counts(counts: &[u64], out: &mut Vec<u8>) {
    for eight in counts.chunks(8) {
        out.push(eight.iter().rev().fold(0, |mask, count| mask << 1 | u8::from(*count > 0)));
    }
    for count in counts.iter().filter(|count| **count > 0) {
        put_number(out, *count);
    }
}

fn decode_counts<const N: usize>(reader: &mut Reader<'_>) -> Result<[u64; N], WireError> {
    let mut counts = [0; N];
    let masks = reader.bytes(N.div_ceil(8))?;
    for (eight, mask) in counts.chunks_mut(8).zip(masks) {
        if eight.len() < 8 && mask >> eight.len() != 0 {
            return Err(WireError::Impossible("mask"));
        }
        for (n, count) in eight.iter_mut().enumerate() {
            if mask >> n & 1 == 1 {
                *count = positive(reader)?;
            }
        }
    }
    Ok(counts)
}

fn positive(reader: &mut Reader<'_>) -> Result<u64, WireError> {
    Some(reader.number()?).filter(|n| *n > 0).ok_or(WireError::Impossible("count"))
}

fn encode_dimension(dimension: &Dimension, out: &mut Vec<u8>) {
    put_number(out, dimension.named.len() as u64);
    put_number(out, dimension.other);
    for (name, clicks) in &dimension.named {
        // A dimension takes no longer names, so nothing is cut here.
        out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(name.as_bytes());
        put_number(out, *clicks);
    }
}

fn decode_dimension(reader: &mut Reader<'_>, what: &'static str) -> Result<Dimension, WireError> {
    let impossible = WireError::Impossible(what);
    let names = reader.length(Dimension::MAX_NAMES, what)?;
    let mut dimension = Dimension { other: reader.number()?, ..Dimension::default() };
    for _ in 0..names {
        let length = usize::from(reader.byte()?);
        let name = std::str::from_utf8(reader.bytes(length)?).map_err(|_| impossible)?;
        if dimension.named.last_key_value().is_some_and(|(last, _)| &**last >= name) {
            return Err(impossible);
        }
        dimension.named.insert(name.into(), positive(reader)?);
    }
    Ok(dimension)
}
