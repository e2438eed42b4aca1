//! Clicks: who came, from where, and what that adds up to.

mod address;
mod crawler;
mod day_stats;
mod event;
mod packed;
mod platform;
mod range;
mod referrer;
mod stats;
pub mod token;
mod visitor_hash;
pub mod wire;

pub use address::{AddressMode, client_address, is_internal, network_of, truncate};
pub use crawler::is_preview_crawler;
pub use day_stats::{Counted, DayStats, Hour, summarize_days};
pub use event::{BotReason, Classification, Click, ClickId, DeviceClass, MatchMethod, NewClick};
pub use packed::WireError;
pub use platform::{Platform, is_prefetch};
pub use range::{DateRange, Interval, RangeError};
pub use referrer::Referrer;
pub use stats::{Count, LinkStats, PlatformClicks, SeriesPoint};
pub use visitor_hash::{DaySalt, visitor_hash};
