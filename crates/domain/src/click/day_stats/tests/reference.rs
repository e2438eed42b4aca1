//! What clicks add up to, counted one by one and without any packing.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::click::stats::{Series, UNKNOWN, ranking};
use crate::click::{
    Count, DateRange, DeviceClass, Interval, LinkStats, Platform, PlatformClicks, Referrer,
};

/// All that a statistic looks at in a click, but for the visitor.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    pub(super) hour: DateTime<Utc>,
    pub(super) platform: Platform,
    pub(super) browser: Option<String>,
    pub(super) device: Option<DeviceClass>,
    pub(super) operating_system: Option<String>,
    pub(super) country: Option<String>,
    pub(super) referrer: Option<String>,
    pub(super) is_bot: bool,
}

pub(super) fn summarize(
    tallies: &[Tally],
    range: DateRange,
    interval: Interval,
    include_bots: bool,
    unique_visitors: Option<u64>,
) -> LinkStats {
    let counted: Vec<&Tally> = tallies.iter().filter(|t| include_bots || !t.is_bot).collect();
    let rank = |name: &dyn Fn(&Tally) -> Option<String>| -> Vec<Count> {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for name in counted.iter().filter_map(|tally| name(tally)) {
            *sums.entry(name).or_default() += 1;
        }
        ranking(sums, 0)
    };
    let known = |name: Option<&str>| Some(name.unwrap_or(UNKNOWN).to_owned());
    let on = |platform| counted.iter().filter(|t| t.platform == platform).count() as u64;
    let mut series = Series::new(range, interval);
    for tally in &counted {
        series.add(tally.hour, 1);
    }
    LinkStats {
        total_clicks: counted.len() as u64,
        unique_visitors,
        bot_clicks: tallies.iter().filter(|t| t.is_bot).count() as u64,
        platforms: PlatformClicks {
            ios: on(Platform::Ios),
            android: on(Platform::Android),
            web: on(Platform::Web),
        },
        browsers: rank(&|t| known(t.browser.as_deref())),
        devices: rank(&|t| known(t.device.map(DeviceClass::as_str))),
        operating_systems: rank(&|t| known(t.operating_system.as_deref())),
        countries: rank(&|t| t.country.clone()),
        referrers: rank(&|t| t.referrer.as_deref().and_then(Referrer::host_of)),
        matching_methods: Vec::new(),
        series: series.into_points(),
    }
}
