//! What the clicks of a link add up to.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{DateRange, Interval};

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

    fn lines(sums: &[(&str, u64)], rest: u64) -> Vec<(String, u64)> {
        let sums = sums.iter().map(|(name, clicks)| ((*name).to_owned(), *clicks)).collect();
        ranking(sums, rest).into_iter().map(|line| (line.name, line.clicks)).collect()
    }

    #[test]
    fn a_ranking_goes_by_clicks_then_name_and_ends_with_the_rest() {
        let own = |name: &str, clicks| (name.to_owned(), clicks);
        let sums = [("b", 2), ("a", 2), ("Other", 1), ("c", 3)];
        let expected = [own("c", 3), own("a", 2), own("b", 2), own("Other", 1)];
        assert_eq!(lines(&sums, 0), expected);
        let expected = [own("c", 3), own("a", 2), own("b", 2), own("Other", 5)];
        assert_eq!(lines(&sums, 4), expected);
    }

    #[test]
    fn a_long_ranking_ends_with_other() {
        let sums: BTreeMap<String, u64> = (0..150).map(|n| (format!("b{n:03}"), 200 - n)).collect();
        let total: u64 = sums.values().sum();
        let lines = ranking(sums, 7);
        assert_eq!(lines.len(), 100);
        assert_eq!(lines[0].name, "b000");
        assert_eq!(lines[99].name, "Other");
        assert_eq!(lines.iter().map(|line| line.clicks).sum::<u64>(), total + 7);
    }

    #[test]
    fn a_series_has_every_day_and_every_hour() {
        let now = crate::time::parse_moment("2026-01-05T12:00:00Z").unwrap();
        let range = DateRange::parse(Some("2026-01-04"), None, now).unwrap();
        let points = |interval| {
            let mut series = Series::new(range, interval);
            series.add(crate::time::parse_moment("2026-01-05T11:00:00Z").unwrap(), 3);
            series.into_points().into_iter().map(|point| point.clicks).collect::<Vec<_>>()
        };
        assert_eq!(points(Interval::Day), [0, 3]);
        let hours = points(Interval::Hour);
        assert_eq!(hours.len(), 48);
        assert_eq!(hours[24 + 11], 3);
    }
}
