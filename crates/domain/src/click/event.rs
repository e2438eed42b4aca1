//! A click, before and after it is stored.

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{Platform, Referrer};
use crate::app::AppId;
use crate::link::LinkId;

/// A click's number: a `UUIDv7` made at the redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClickId(pub Uuid);

/// A click as the redirect sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClick {
    /// Its number.
    pub id: ClickId,
    /// The link that was followed.
    pub link_id: LinkId,
    /// The link's app.
    pub app_id: AppId,
    /// When.
    pub at: DateTime<Utc>,
    /// As much of the visitor's address as may be kept.
    pub address: Option<IpAddr>,
    /// The user agent, cut to [`MAX_USER_AGENT`](Self::MAX_USER_AGENT) bytes.
    pub user_agent: Option<String>,
    /// Where the visitor came from.
    pub referrer: Option<Referrer>,
    /// The platform whose target they got.
    pub platform: Platform,
}

impl NewClick {
    /// Longest user agent kept, in bytes; real ones end below it.
    pub const MAX_USER_AGENT: usize = 512;

    /// A user agent as it is kept: cut at a character's edge, control characters replaced, nothing
    /// when empty.
    pub fn clean_user_agent(header: &[u8]) -> Option<String> {
        let header = &header[..header.len().min(Self::MAX_USER_AGENT)];
        // Nearly all are plain ASCII, and this is the hot path.
        if header.iter().all(|b| (0x21..0x7f).contains(b) || *b == b' ') {
            let text = String::from_utf8_lossy(header);
            return (!text.trim().is_empty()).then(|| text.into_owned());
        }
        let text = String::from_utf8_lossy(header);
        let mut text: String =
            text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        while text.len() > Self::MAX_USER_AGENT {
            text.pop();
        }
        (!text.trim().is_empty()).then_some(text)
    }
}

/// What kind of device a visitor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// A phone.
    Phone,
    /// A tablet.
    Tablet,
    /// A desktop or laptop.
    Desktop,
    /// A television or a box beneath it.
    Tv,
    /// A game console.
    Console,
    /// A watch or glasses.
    Wearable,
}

impl DeviceClass {
    const ALL: [Self; 6] =
        [Self::Phone, Self::Tablet, Self::Desktop, Self::Tv, Self::Console, Self::Wearable];

    /// The class's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Tablet => "tablet",
            Self::Desktop => "desktop",
            Self::Tv => "tv",
            Self::Console => "console",
            Self::Wearable => "wearable",
        }
    }

    /// Reads a class's name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == text)
    }
}

/// Why a click is not a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BotReason {
    /// The user agent is that of a known robot or program.
    UserAgent,
    /// There is no user agent; every browser sends one.
    NoUserAgent,
}

impl BotReason {
    /// The reason's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserAgent => "ua",
            Self::NoUserAgent => "no_ua",
        }
    }

    /// Reads a reason's name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::UserAgent, Self::NoUserAgent].into_iter().find(|reason| reason.as_str() == text)
    }
}

/// What a user agent says about its device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Classification {
    /// The browser's family, such as `Chrome`.
    pub browser: Option<String>,
    /// The operating system's family, such as `Android`.
    pub operating_system: Option<String>,
    /// The operating system's version, such as `15`.
    pub os_version: Option<String>,
    /// The kind of device.
    pub device: Option<DeviceClass>,
    /// Why it is a bot, if it is one.
    pub bot: Option<BotReason>,
}

/// How an install or an open found its click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchMethod {
    /// The link opened the installed app.
    Direct,
    /// The Play install referrer carried the click's token.
    InstallReferrer,
    /// The clipboard carried the click's token.
    Clipboard,
    /// Signals agreed well enough.
    Probabilistic,
}

impl MatchMethod {
    /// The method's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::InstallReferrer => "install_referrer",
            Self::Clipboard => "clipboard",
            Self::Probabilistic => "probabilistic",
        }
    }
}

/// A stored click.
#[derive(Debug, Clone, PartialEq)]
pub struct Click {
    /// Its number.
    pub id: ClickId,
    /// The link that was followed.
    pub link_id: LinkId,
    /// When.
    pub at: DateTime<Utc>,
    /// The address, as far as it is kept.
    pub address: Option<IpAddr>,
    /// The user agent.
    pub user_agent: Option<String>,
    /// Where the visitor came from.
    pub referrer: Option<String>,
    /// The platform whose target they got.
    pub platform: Platform,
    /// What the user agent says.
    pub classification: Classification,
    /// ISO 3166 alpha-2.
    pub country: Option<String>,
    /// How it was matched to an install, and with which confidence.
    pub matched: Option<(MatchMethod, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_cut_at_a_characters_edge_and_holds_no_control_character() {
        let long = "ü".repeat(300);
        let kept = NewClick::clean_user_agent(long.as_bytes()).unwrap();
        assert!(kept.len() <= 512 && kept.chars().all(|c| c == 'ü' || c == '\u{fffd}'));
        assert_eq!(NewClick::clean_user_agent(b"a\0b").as_deref(), Some("a\u{fffd}b"));
        assert_eq!(NewClick::clean_user_agent(&[0x80, 0xff]).as_deref(), Some("\u{fffd}\u{fffd}"));
        assert_eq!(NewClick::clean_user_agent(b"  "), None);
    }
}
