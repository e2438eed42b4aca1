//! The statistics of a range from those of its days.

use std::collections::BTreeMap;

use chrono::{NaiveDate, TimeDelta};

use super::dimension::Dimension;
use super::{Clicks, DEVICES, DayStats, METHODS, add};
use crate::click::stats::{Series, UNKNOWN, midnight, ranking};
use crate::click::{Count, DateRange, Interval, LinkStats, PlatformClicks};

/// Adds days up; the answer is what counting their clicks one by one would give, as long as no
/// dimension of a day has more than 64 values.
///
/// Days outside the range are left out, and a day that comes twice counts twice. Without kept
/// addresses there are no visitors to tell.
pub fn summarize_days(
    days: impl Iterator<Item = (NaiveDate, DayStats)>,
    range: DateRange,
    interval: Interval,
    include_bots: bool,
    addresses_kept: bool,
) -> LinkStats {
    let mut sums = Sums::default();
    let mut series = Series::new(range, interval);
    let mut matches = [0; METHODS.len()];
    let (mut bot_clicks, mut visitors) = (0, 0);
    for (day, stats) in days.filter(|(day, _)| (range.start()..=range.end()).contains(day)) {
        add(&mut bot_clicks, stats.bot_clicks());
        add(&mut visitors, stats.visitors());
        super::add_each(&mut matches, &stats.matches);
        let bots = include_bots.then_some(&stats.bots);
        for clicks in [Some(&stats.people), bots].into_iter().flatten() {
            sums.add(clicks);
            for (hour, clicks) in (0..).zip(clicks.hours) {
                series.add(midnight(day) + TimeDelta::hours(hour), clicks);
            }
        }
    }
    let mut methods = Ranking::default();
    for (method, clicks) in METHODS.iter().zip(matches) {
        methods.add(method.as_str(), clicks);
    }
    LinkStats {
        total_clicks: sums.total,
        unique_visitors: addresses_kept.then_some(visitors),
        bot_clicks,
        platforms: sums.platforms,
        browsers: sums.browsers.into_lines(),
        devices: sums.devices.into_lines(),
        operating_systems: sums.operating_systems.into_lines(),
        countries: sums.countries.into_lines(),
        referrers: sums.referrers.into_lines(),
        matching_methods: methods.into_lines(),
        series: series.into_points(),
    }
}

#[derive(Default)]
struct Sums {
    total: u64,
    platforms: PlatformClicks,
    devices: Ranking,
    browsers: Ranking,
    operating_systems: Ranking,
    countries: Ranking,
    referrers: Ranking,
}

impl Sums {
    fn add(&mut self, clicks: &Clicks) {
        let total = clicks.total();
        add(&mut self.total, total);
        add(&mut self.platforms.ios, clicks.platforms.ios);
        add(&mut self.platforms.android, clicks.platforms.android);
        add(&mut self.platforms.web, clicks.platforms.web);
        let mut without_device = total;
        for (device, clicks) in DEVICES.iter().zip(clicks.devices) {
            self.devices.add(device.as_str(), clicks);
            without_device = without_device.saturating_sub(clicks);
        }
        self.devices.add(UNKNOWN, without_device);
        self.browsers.add_whole(&clicks.browsers, total);
        self.operating_systems.add_whole(&clicks.operating_systems, total);
        self.countries.add_known(&clicks.countries);
        self.referrers.add_known(&clicks.referrers);
    }
}

#[derive(Default)]
struct Ranking {
    sums: BTreeMap<String, u64>,
    rest: u64,
}

impl Ranking {
    fn add(&mut self, name: &str, clicks: u64) {
        if clicks == 0 {
            return;
        }
        if let Some(sum) = self.sums.get_mut(name) {
            add(sum, clicks);
        } else {
            self.sums.insert(name.to_owned(), clicks);
        }
    }

    fn add_known(&mut self, dimension: &Dimension) {
        for (name, clicks) in &dimension.named {
            self.add(name, *clicks);
        }
        add(&mut self.rest, dimension.other);
    }

    /// Adds a dimension and what it lacks to the total.
    fn add_whole(&mut self, dimension: &Dimension, total: u64) {
        self.add_known(dimension);
        self.add(UNKNOWN, total.saturating_sub(dimension.total().unwrap_or(total)));
    }

    fn into_lines(self) -> Vec<Count> {
        ranking(self.sums, self.rest)
    }
}
