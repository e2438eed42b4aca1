//! The bytes of a click in the journal.
//!
//! Version 1: the version; the kinds (two bits platform, two bits address, one bit each for a user
//! agent and a referrer); the click's 16 bytes; link, app and microseconds since 1970 as numbers of
//! variable length; then, where there, 4 or 16 bytes of address, and user agent and referrer as
//! texts. Framing and checksum are the journal's, so a record says nothing about its own length.

use std::net::IpAddr;

use chrono::DateTime;
use uuid::Uuid;

use super::packed::{Reader, put_number, put_signed, put_text};
use super::{ClickId, NewClick, Platform, Referrer, WireError};
use crate::app::AppId;
use crate::link::LinkId;

const VERSION: u8 = 1;

const NO_ADDRESS: u8 = 0;
const V4: u8 = 1;
const V6: u8 = 2;
const HAS_USER_AGENT: u8 = 1 << 4;
const HAS_REFERRER: u8 = 1 << 5;

/// Appends a click's bytes to `out`; the click's time is cut to whole microseconds, the finest a
/// [`Clock`](crate::ports::Clock) gives.
pub fn encode(click: &NewClick, out: &mut Vec<u8>) {
    let platform = match click.platform {
        Platform::Ios => 0,
        Platform::Android => 1,
        Platform::Web => 2,
    };
    let address = match click.address {
        None => NO_ADDRESS,
        Some(IpAddr::V4(_)) => V4,
        Some(IpAddr::V6(_)) => V6,
    };
    let mut kinds = platform | address << 2;
    if click.user_agent.is_some() {
        kinds |= HAS_USER_AGENT;
    }
    if click.referrer.is_some() {
        kinds |= HAS_REFERRER;
    }
    out.push(VERSION);
    out.push(kinds);
    out.extend_from_slice(click.id.0.as_bytes());
    put_number(out, click.link_id.0.cast_unsigned());
    put_number(out, click.app_id.0.cast_unsigned());
    put_signed(out, click.at.timestamp_micros());
    match click.address {
        None => {}
        Some(IpAddr::V4(v4)) => out.extend_from_slice(&v4.octets()),
        Some(IpAddr::V6(v6)) => out.extend_from_slice(&v6.octets()),
    }
    if let Some(agent) = &click.user_agent {
        put_text(out, agent);
    }
    if let Some(referrer) = &click.referrer {
        put_text(out, referrer.as_str());
    }
}

/// Reads the bytes of exactly one click.
pub fn decode(bytes: &[u8]) -> Result<NewClick, WireError> {
    let mut reader = Reader::versioned(bytes, VERSION)?;
    let kinds = reader.byte()?;
    if kinds & !(0x0f | HAS_USER_AGENT | HAS_REFERRER) != 0 {
        return Err(WireError::Impossible("kind"));
    }
    let platform = match kinds & 3 {
        0 => Platform::Ios,
        1 => Platform::Android,
        2 => Platform::Web,
        _ => return Err(WireError::Impossible("platform")),
    };
    let id = ClickId(Uuid::from_bytes(reader.array()?));
    let link_id = LinkId(reader.number()?.cast_signed());
    let app_id = AppId(reader.number()?.cast_signed());
    let at =
        DateTime::from_timestamp_micros(reader.signed()?).ok_or(WireError::Impossible("moment"))?;
    let address = match kinds >> 2 & 3 {
        NO_ADDRESS => None,
        V4 => Some(IpAddr::from(reader.array::<4>()?)),
        V6 => Some(IpAddr::from(reader.array::<16>()?)),
        _ => return Err(WireError::Impossible("address")),
    };
    let user_agent = match kinds & HAS_USER_AGENT {
        0 => None,
        _ => Some(reader.text("user agent")?.to_owned()),
    };
    let referrer = match kinds & HAS_REFERRER {
        0 => None,
        _ => Some(
            Referrer::from_kept(reader.text("referrer")?)
                .ok_or(WireError::Impossible("referrer"))?,
        ),
    };
    reader.finish()?;
    Ok(NewClick { id, link_id, app_id, at, address, user_agent, referrer, platform })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typical() -> NewClick {
        NewClick {
            id: ClickId(Uuid::from_u128(0x0192_f0c1_0000_7abc_8def_0123_4567_89ab)),
            link_id: LinkId(42),
            app_id: AppId(1),
            at: crate::time::parse_moment("2026-01-05T09:00:00.123Z").unwrap(),
            address: Some([203, 0, 113, 7].into()),
            user_agent: Some(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Mobile Safari/537.36"
                    .to_owned(),
            ),
            referrer: Referrer::parse("https://news.example/a"),
            platform: Platform::Android,
        }
    }

    fn bytes_of(click: &NewClick) -> Vec<u8> {
        let mut out = Vec::new();
        encode(click, &mut out);
        out
    }

    fn clicks() -> impl Strategy<Value = NewClick> {
        let at = any::<i64>().prop_filter_map("a moment", DateTime::from_timestamp_micros);
        let referrer = "(https?|android-app)://[a-z]{1,9}\\.example/\\PC{0,40}"
            .prop_map(|text| Referrer::parse(&text));
        (
            (any::<u128>(), any::<i64>(), any::<i64>(), at),
            any::<Option<IpAddr>>(),
            proptest::option::of("\\PC{0,200}"),
            proptest::option::of(referrer).prop_map(Option::flatten),
            proptest::sample::select(&Platform::ALL[..]),
        )
            .prop_map(|((id, link, app, at), address, user_agent, referrer, platform)| {
                NewClick {
                    id: ClickId(Uuid::from_u128(id)),
                    link_id: LinkId(link),
                    app_id: AppId(app),
                    at,
                    address,
                    user_agent,
                    referrer,
                    platform,
                }
            })
    }

    #[test]
    fn the_bytes_of_version_1_never_change() {
        let click = NewClick { user_agent: Some("UA".to_owned()), ..typical() };
        let expected = [
            &[1, 0b0011_0101][..],
            &[1, 0x92, 0xf0, 0xc1, 0, 0, 0x7a, 0xbc, 0x8d, 0xef, 1, 0x23, 0x45, 0x67, 0x89, 0xab],
            &[42, 1],
            &[0xf0, 0x91, 0x83, 0x8b, 0x89, 0xe8, 0xa3, 0x06],
            &[203, 0, 113, 7],
            b"\x02UA",
            b"\x16https://news.example/a",
        ]
        .concat();
        assert_eq!(bytes_of(&click), expected);
        assert!(bytes_of(&typical()).len() < 170);
    }

    #[test]
    fn a_shortened_or_lengthened_record_is_refused() {
        let bytes = bytes_of(&typical());
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end]), Err(WireError::Truncated), "{end}");
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), Err(WireError::Trailing));
    }

    #[test]
    fn an_unknown_version_or_kind_is_refused() {
        let mut bytes = bytes_of(&typical());
        bytes[1] |= 0x80;
        assert_eq!(decode(&bytes), Err(WireError::Impossible("kind")));
        bytes[1] = 3;
        assert_eq!(decode(&bytes), Err(WireError::Impossible("platform")));
        bytes[0] = 2;
        assert_eq!(decode(&bytes), Err(WireError::Version(2)));
    }

    proptest! {
        #[test]
        fn every_click_comes_back(click in clicks()) {
            prop_assert_eq!(decode(&bytes_of(&click)), Ok(click));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Ok(click) = decode(&bytes) {
                prop_assert_eq!(bytes_of(&click), bytes);
            }
        }

        #[test]
        fn a_damaged_record_is_read_or_refused(
            click in clicks(),
            at: prop::sample::Index,
            value: u8,
        ) {
            let mut bytes = bytes_of(&click);
            let at = at.index(bytes.len());
            bytes[at] = value;
            if let Ok(click) = decode(&bytes) {
                prop_assert_eq!(bytes_of(&click), bytes);
            }
        }
    }
}
