//! What the clicks of one UTC day add up to, packed into one small record.

mod dimension;
mod summary;
mod visitors;
mod wire;

use chrono::{DateTime, Timelike, Utc};

use self::dimension::Dimension;
use self::visitors::Visitors;
use super::{Classification, DeviceClass, MatchMethod, Platform, PlatformClicks};

pub use self::summary::summarize_days;

/// The statistics of a link, or of all links of an app, on one UTC day.
///
/// People and bots are counted apart. Of each open dimension (browser, operating system, country,
/// referring host) 64 values have a name and the rest is one sum. Clicks without a value are not
/// counted there at all: they are what is missing to the total. So the parts add up by
/// construction.
///
/// Counting clicks one by one and merging the statistics of parts of them give the same, in any
/// order, but for one thing: which 64 values of a dimension have names, when there are more, is
/// decided by who comes first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DayStats {
    people: Clicks,
    bots: Clicks,
    matches: [u64; METHODS.len()],
    visitors: Visitors,
}

/// The clicks of people, or those of bots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Clicks {
    /// These add up to the total, and nothing else keeps it.
    hours: [u64; 24],
    platforms: PlatformClicks,
    devices: [u64; DEVICES.len()],
    browsers: Dimension,
    operating_systems: Dimension,
    countries: Dimension,
    referrers: Dimension,
}

/// The kinds of devices in the order of the stored bytes; a new one goes to the end.
const DEVICES: [DeviceClass; 6] = [
    DeviceClass::Phone,
    DeviceClass::Tablet,
    DeviceClass::Desktop,
    DeviceClass::Tv,
    DeviceClass::Console,
    DeviceClass::Wearable,
];

/// The matching methods in the order of the stored bytes; a new one goes to the end.
const METHODS: [MatchMethod; 4] = [
    MatchMethod::Direct,
    MatchMethod::InstallReferrer,
    MatchMethod::Clipboard,
    MatchMethod::Probabilistic,
];

/// An hour of a UTC day, 0 to 23.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour(usize);

impl Hour {
    /// The hour a moment falls into.
    pub fn of(moment: DateTime<Utc>) -> Self {
        // `hour` is below 24 always, and every number below 24 is a `usize`.
        Self(usize::try_from(moment.hour()).unwrap_or_default())
    }
}

/// What the statistics look at in a click.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// The hour it fell into.
    pub hour: Hour,
    /// Its platform.
    pub platform: Platform,
    /// What its user agent says; whether it is a bot's is said below.
    pub classification: &'a Classification,
    /// The country it came from, ISO 3166 alpha-2.
    pub country: Option<&'a str>,
    /// The host of the page it came from.
    pub referrer_host: Option<&'a str>,
    /// Who it was, as [`visitor_hash`](super::visitor_hash()) tells; nothing when the address is
    /// unknown or the day's salt is gone.
    pub visitor: Option<u64>,
    /// Whether it is a bot's; bots are no visitors.
    pub is_bot: bool,
}

impl DayStats {
    /// Counts a click.
    pub fn count(&mut self, click: &Counted<'_>) {
        if click.is_bot {
            self.bots.count(click);
            return;
        }
        self.people.count(click);
        if let Some(visitor) = click.visitor {
            self.visitors.add(visitor);
        }
    }

    /// Counts a click of this day that an install or an open was matched to.
    pub fn record_match(&mut self, method: MatchMethod) {
        for (known, count) in METHODS.iter().zip(&mut self.matches) {
            if *known == method {
                add(count, 1);
            }
        }
    }

    /// Adds the statistics of other clicks of the same day.
    ///
    /// A dimension with 64 names keeps them and takes no other's.
    pub fn merge(&mut self, other: &Self) {
        self.people.merge(&other.people);
        self.bots.merge(&other.bots);
        add_each(&mut self.matches, &other.matches);
        self.visitors.merge(&other.visitors);
    }

    /// The clicks of people.
    pub fn clicks(&self) -> u64 {
        self.people.total()
    }

    /// The clicks of bots.
    pub fn bot_clicks(&self) -> u64 {
        self.bots.total()
    }

    /// The distinct visitors: exact up to 256, beyond that within 2 % (three standard errors).
    pub fn visitors(&self) -> u64 {
        self.visitors.estimate()
    }

    /// The statistics as bytes; equal statistics have equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Reads the bytes of exactly one day; numbers that can't add up are refused.
    pub fn decode(bytes: &[u8]) -> Result<Self, super::WireError> {
        wire::decode(bytes)
    }
}

impl Clicks {
    fn total(&self) -> u64 {
        self.hours.iter().fold(0, |sum, hour| sum.saturating_add(*hour))
    }

    fn count(&mut self, click: &Counted<'_>) {
        if let Some(hour) = self.hours.get_mut(click.hour.0) {
            add(hour, 1);
        }
        let platforms = &mut self.platforms;
        match click.platform {
            Platform::Ios => add(&mut platforms.ios, 1),
            Platform::Android => add(&mut platforms.android, 1),
            Platform::Web => add(&mut platforms.web, 1),
        }
        let class = click.classification;
        for (device, count) in DEVICES.iter().zip(&mut self.devices) {
            if class.device == Some(*device) {
                add(count, 1);
            }
        }
        for (dimension, value) in [
            (&mut self.browsers, class.browser.as_deref()),
            (&mut self.operating_systems, class.operating_system.as_deref()),
            (&mut self.countries, click.country),
            (&mut self.referrers, click.referrer_host),
        ] {
            if let Some(value) = value {
                dimension.add(value, 1);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        add_each(&mut self.hours, &other.hours);
        add(&mut self.platforms.ios, other.platforms.ios);
        add(&mut self.platforms.android, other.platforms.android);
        add(&mut self.platforms.web, other.platforms.web);
        add_each(&mut self.devices, &other.devices);
        self.browsers.merge(&other.browsers);
        self.operating_systems.merge(&other.operating_systems);
        self.countries.merge(&other.countries);
        self.referrers.merge(&other.referrers);
    }
}

/// Adds without a panic: only a forged record comes near the end of `u64`.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        add(sum, *more);
    }
}

#[cfg(test)]
mod tests;
