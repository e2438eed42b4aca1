//! What the clicks of a link add up to.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{DateRange, DeviceClass, Interval, Platform, Referrer};

/// A number of clicks that agree in everything a statistic looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The hour they fell into.
    pub hour: DateTime<Utc>,
    /// Their platform.
    pub platform: Platform,
    /// Their browser.
    pub browser: Option<String>,
    /// Their kind of device.
    pub device: Option<DeviceClass>,
    /// Their operating system.
    pub operating_system: Option<String>,
    /// The country they came from.
    pub country: Option<String>,
    /// The page they came from.
    pub referrer: Option<String>,
    /// Whether they are a bot's.
    pub is_bot: bool,
    /// How many.
    pub clicks: u64,
}

/// One line of a ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The value, or `Unknown`, or `Other` for the rest of a long list.
    pub name: String,
    /// How many clicks have it.
    pub clicks: u64,
}

/// Clicks per platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlatformClicks {
    /// iPhones and iPads.
    pub ios: u64,
    /// Android.
    pub android: u64,
    /// Everything else.
    pub web: u64,
}

/// One entry of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesPoint {
    /// When the day or hour begins.
    pub at: DateTime<Utc>,
    /// Clicks in it.
    pub clicks: u64,
}

/// The statistics of a link over a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkStats {
    /// All counted clicks; each ranking below adds up to it, countries and referrers aside, which
    /// leave out clicks that name none.
    pub total_clicks: u64,
    /// Distinct visitors per day, summed; nothing when addresses are not kept.
    pub unique_visitors: Option<u64>,
    /// Clicks of bots, which the other numbers leave out unless asked for.
    pub bot_clicks: u64,
    /// Clicks per platform.
    pub platforms: PlatformClicks,
    /// Clicks per browser.
    pub browsers: Vec<Count>,
    /// Clicks per kind of device.
    pub devices: Vec<Count>,
    /// Clicks per operating system.
    pub operating_systems: Vec<Count>,
    /// Clicks per country.
    pub countries: Vec<Count>,
    /// Clicks per referring host.
    pub referrers: Vec<Count>,
    /// Matched clicks per method.
    pub matching_methods: Vec<Count>,
    /// Clicks over time, zero where nothing happened.
    pub series: Vec<SeriesPoint>,
}

/// Most lines of a ranking; the rest is summed as `Other`.
const MAX_LINES: usize = 100;

/// The line of the rest of a ranking.
const OTHER: &str = "Other";

/// The line of clicks without a value, in rankings that add up to the total.
pub(super) const UNKNOWN: &str = "Unknown";

/// Adds tallies up.
///
/// Every ranking counts each click once, so rankings with an `Unknown` line add up to the total.
pub fn summarize(
    tallies: &[Tally],
    range: DateRange,
    interval: Interval,
    include_bots: bool,
    unique_visitors: Option<u64>,
) -> LinkStats {
    let counted = || tallies.iter().filter(|t| include_bots || !t.is_bot);
    let rank = |name: &dyn Fn(&Tally) -> Option<String>| {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for tally in counted() {
            if let Some(name) = name(tally) {
                *sums.entry(name).or_default() += tally.clicks;
            }
        }
        ranking(sums, 0)
    };
    let known = |name: Option<&str>| Some(name.unwrap_or(UNKNOWN).to_owned());
    let mut platforms = PlatformClicks::default();
    for tally in counted() {
        *match tally.platform {
            Platform::Ios => &mut platforms.ios,
            Platform::Android => &mut platforms.android,
            Platform::Web => &mut platforms.web,
        } += tally.clicks;
    }
    LinkStats {
        total_clicks: counted().map(|t| t.clicks).sum(),
        unique_visitors,
        bot_clicks: tallies.iter().filter(|t| t.is_bot).map(|t| t.clicks).sum(),
        platforms,
        browsers: rank(&|t| known(t.browser.as_deref())),
        devices: rank(&|t| known(t.device.map(DeviceClass::as_str))),
        operating_systems: rank(&|t| known(t.operating_system.as_deref())),
        countries: rank(&|t| t.country.clone()),
        referrers: rank(&|t| t.referrer.as_deref().and_then(Referrer::host_of)),
        matching_methods: Vec::new(),
        series: series(counted(), range, interval),
    }
}

/// The lines of a ranking, by clicks, then name. `rest` are clicks whose names are not known any
/// more; they and the lines beyond [`MAX_LINES`] stand last, as `Other`.
pub(super) fn ranking(mut sums: BTreeMap<String, u64>, mut rest: u64) -> Vec<Count> {
    if rest > 0 {
        rest = rest.saturating_add(sums.remove(OTHER).unwrap_or_default());
    }
    let mut lines: Vec<Count> =
        sums.into_iter().map(|(name, clicks)| Count { name, clicks }).collect();
    // The map gave the names in order and the sort is stable, so equal counts stay in name order.
    lines.sort_by_key(|line| std::cmp::Reverse(line.clicks));
    if lines.len() + usize::from(rest > 0) > MAX_LINES {
        rest = lines.drain(MAX_LINES - 1..).fold(rest, |sum, line| sum.saturating_add(line.clicks));
    }
    if rest > 0 {
        lines.push(Count { name: OTHER.to_owned(), clicks: rest });
    }
    lines
}

fn series<'a>(
    tallies: impl Iterator<Item = &'a Tally>,
    range: DateRange,
    interval: Interval,
) -> Vec<SeriesPoint> {
    let mut series = Series::new(range, interval);
    for tally in tallies {
        series.add(tally.hour, tally.clicks);
    }
    series.into_points()
}

/// A series in the making; it has every day or hour of its range from the start.
pub(super) struct Series {
    interval: Interval,
    points: BTreeMap<DateTime<Utc>, u64>,
}

impl Series {
    pub(super) fn new(range: DateRange, interval: Interval) -> Self {
        let points = match interval {
            Interval::Day => range.each_day().map(|day| (midnight(day), 0)).collect(),
            Interval::Hour => range
                .each_day()
                .flat_map(|day| (0..24).map(move |hour| midnight(day) + TimeDelta::hours(hour)))
                .map(|hour| (hour, 0))
                .collect(),
        };
        Self { interval, points }
    }

    /// Adds the clicks of the hour that begins at `hour`.
    pub(super) fn add(&mut self, hour: DateTime<Utc>, clicks: u64) {
        let at = match self.interval {
            Interval::Day => midnight(hour.date_naive()),
            Interval::Hour => hour,
        };
        let point = self.points.entry(at).or_default();
        *point = point.saturating_add(clicks);
    }

    pub(super) fn into_points(self) -> Vec<SeriesPoint> {
        self.points.into_iter().map(|(at, clicks)| SeriesPoint { at, clicks }).collect()
    }
}

pub(super) fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(hour: &str, platform: Platform, browser: Option<&str>, clicks: u64) -> Tally {
        Tally {
            hour: crate::time::parse_moment(hour).unwrap(),
            platform,
            browser: browser.map(str::to_owned),
            device: None,
            operating_system: None,
            country: None,
            referrer: Some("https://news.example/a".to_owned()),
            is_bot: false,
            clicks,
        }
    }

    fn range() -> DateRange {
        let now = crate::time::parse_moment("2026-01-05T12:00:00Z").unwrap();
        DateRange::parse(Some("2026-01-04"), None, now).unwrap()
    }

    fn sum(lines: &[Count]) -> u64 {
        lines.iter().map(|line| line.clicks).sum()
    }

    #[test]
    fn the_parts_add_up_to_the_total_and_bots_stand_apart() {
        let bot = Tally { is_bot: true, ..tally("2026-01-04T10:00:00Z", Platform::Web, None, 5) };
        let tallies = [
            tally("2026-01-04T10:00:00Z", Platform::Ios, Some("Safari"), 2),
            tally("2026-01-05T11:00:00Z", Platform::Android, None, 3),
            bot,
        ];
        let stats = summarize(&tallies, range(), Interval::Day, false, Some(4));
        assert_eq!((stats.total_clicks, stats.bot_clicks), (5, 5));
        assert_eq!(stats.platforms, PlatformClicks { ios: 2, android: 3, web: 0 });
        assert_eq!(stats.browsers[0], Count { name: "Unknown".to_owned(), clicks: 3 });
        for lines in [&stats.browsers, &stats.devices, &stats.operating_systems] {
            assert_eq!(sum(lines), 5);
        }
        assert_eq!(stats.referrers, [Count { name: "news.example".to_owned(), clicks: 5 }]);
        let with_bots = summarize(&tallies, range(), Interval::Day, true, None);
        assert_eq!((with_bots.total_clicks, with_bots.bot_clicks), (10, 5));
    }

    #[test]
    fn a_series_has_every_day_and_every_hour() {
        let tallies = [tally("2026-01-05T11:00:00Z", Platform::Ios, None, 3)];
        let days = summarize(&tallies, range(), Interval::Day, false, None).series;
        assert_eq!(days.iter().map(|p| p.clicks).collect::<Vec<_>>(), [0, 3]);
        let hours = summarize(&tallies, range(), Interval::Hour, false, None).series;
        assert_eq!(hours.len(), 48);
        assert_eq!(hours[24 + 11].clicks, 3);
    }

    #[test]
    fn a_long_ranking_ends_with_other() {
        let tallies: Vec<Tally> = (0..150)
            .map(|n| {
                tally("2026-01-05T11:00:00Z", Platform::Web, Some(&format!("b{n:03}")), 200 - n)
            })
            .collect();
        let stats = summarize(&tallies, range(), Interval::Day, false, None);
        assert_eq!(stats.browsers.len(), 100);
        assert_eq!(stats.browsers[0].name, "b000");
        assert_eq!(stats.browsers[99].name, "Other");
        assert_eq!(sum(&stats.browsers), stats.total_clicks);
    }
}
