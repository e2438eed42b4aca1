mod reference;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{NaiveDate, TimeDelta};
use proptest::prelude::*;

use self::reference::{Tally, summarize};
use super::visitors::tests::hashes;
use super::*;
use crate::click::{BotReason, DateRange, Interval, Referrer, WireError, summarize_days};

/// A click of one of three days.
#[derive(Debug, Clone)]
struct Sample {
    hour: i64,
    platform: Platform,
    classification: Classification,
    country: Option<String>,
    referrer: Option<String>,
    visitor: u64,
}

impl Sample {
    fn at(&self) -> DateTime<Utc> {
        start().and_time(chrono::NaiveTime::MIN).and_utc() + TimeDelta::hours(self.hour)
    }

    fn count(&self, stats: &mut DayStats) {
        let host = self.referrer.as_deref().and_then(Referrer::host_of);
        stats.count(&Counted {
            hour: Hour::of(self.at()),
            platform: self.platform,
            classification: &self.classification,
            country: self.country.as_deref(),
            referrer_host: host.as_deref(),
            visitor: Some(self.visitor),
            is_bot: self.classification.bot.is_some(),
        });
    }

    fn tally(&self) -> Tally {
        let class = self.classification.clone();
        Tally {
            hour: self.at(),
            platform: self.platform,
            browser: class.browser,
            device: class.device,
            operating_system: class.operating_system,
            country: self.country.clone(),
            referrer: self.referrer.clone(),
            is_bot: class.bot.is_some(),
        }
    }
}

fn start() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 3).unwrap()
}

fn range() -> DateRange {
    let now = crate::time::parse_moment("2026-01-05T12:00:00Z").unwrap();
    DateRange::parse(Some("2026-01-03"), None, now).unwrap()
}

/// `names` tells how many values the open dimensions have.
fn samples(names: u32, most: usize) -> impl Strategy<Value = Vec<Sample>> {
    let name = move || proptest::option::of((0..names).prop_map(|n| format!("Name {n}")));
    let class = (
        name(),
        name(),
        proptest::option::of(proptest::sample::select(&DEVICES[..])),
        proptest::option::weighted(0.2, Just(BotReason::UserAgent)),
    )
        .prop_map(|(browser, operating_system, device, bot)| Classification {
            browser,
            operating_system,
            os_version: None,
            device,
            bot,
        });
    let referrer = proptest::option::of((0..names).prop_map(|n| format!("https://h{n}.example/a")));
    let platform = proptest::sample::select(&Platform::ALL[..]);
    let sample = (0_i64..72, platform, class, name(), referrer, 0_u64..40).prop_map(
        |(hour, platform, classification, country, referrer, visitor)| Sample {
            hour,
            platform,
            classification,
            country,
            referrer,
            visitor,
        },
    );
    proptest::collection::vec(sample, 0..most)
}

fn day(samples: &[Sample]) -> DayStats {
    let mut stats = DayStats::default();
    for sample in samples {
        sample.count(&mut stats);
    }
    stats
}

fn merged<const N: usize>(parts: [&DayStats; N]) -> DayStats {
    let mut all = DayStats::default();
    for part in parts {
        all.merge(part);
    }
    all
}

/// The statistics without the names of open dimensions.
fn without_names(stats: &DayStats) -> DayStats {
    let mut stats = stats.clone();
    for clicks in [&mut stats.people, &mut stats.bots] {
        for dimension in [
            &mut clicks.browsers,
            &mut clicks.operating_systems,
            &mut clicks.countries,
            &mut clicks.referrers,
        ] {
            let other = dimension.total().unwrap();
            *dimension = Dimension { other, ..Dimension::default() };
        }
    }
    stats
}

#[test]
fn a_small_day_takes_less_than_150_bytes() {
    let mut stats = DayStats::default();
    for (n, hash) in (0..10).zip(hashes(1)) {
        let (browser, system, platform) = match n % 3 {
            0 => ("Safari", "iOS", Platform::Ios),
            _ => ("Chrome", "Android", Platform::Android),
        };
        stats.count(&Counted {
            hour: Hour(8 + n / 2),
            platform,
            classification: &Classification {
                browser: Some(browser.to_owned()),
                operating_system: Some(system.to_owned()),
                device: Some(DeviceClass::Phone),
                ..Classification::default()
            },
            country: Some("DE"),
            referrer_host: None,
            visitor: (n < 8).then_some(hash),
            is_bot: false,
        });
    }
    let bytes = stats.encode();
    assert!(bytes.len() < 150, "{}", bytes.len());
    assert_eq!(DayStats::default().encode(), [1, 0]);
}

#[test]
fn bots_are_counted_apart_and_are_no_visitors() {
    let bot = Classification { bot: Some(BotReason::UserAgent), ..Classification::default() };
    let mut stats = DayStats::default();
    stats.count(&Counted {
        hour: Hour(0),
        platform: Platform::Web,
        classification: &bot,
        country: None,
        referrer_host: None,
        visitor: Some(1),
        is_bot: true,
    });
    assert_eq!((stats.clicks(), stats.bot_clicks(), stats.visitors()), (0, 1, 0));
}

#[test]
fn matches_are_ranked_by_method() {
    let mut stats = DayStats::default();
    stats.record_match(MatchMethod::Clipboard);
    stats.record_match(MatchMethod::Direct);
    stats.record_match(MatchMethod::Clipboard);
    let stats = DayStats::decode(&stats.encode()).unwrap();
    let days = [(start(), stats)].into_iter();
    let lines = summarize_days(days, range(), Interval::Day, false, true).matching_methods;
    let lines: Vec<_> = lines.iter().map(|line| (&*line.name, line.clicks)).collect();
    assert_eq!(lines, [("clipboard", 2), ("direct", 1)]);
}

#[test]
fn the_rest_of_a_day_is_the_last_line_and_the_parts_add_up() {
    let browser =
        |n: u32| Classification { browser: Some(format!("b{n:02}")), ..Classification::default() };
    let mut stats = DayStats::default();
    for n in 0..90 {
        stats.count(&Counted {
            hour: Hour(0),
            platform: Platform::Web,
            classification: &browser(n),
            country: None,
            referrer_host: None,
            visitor: None,
            is_bot: false,
        });
    }
    let days = [(start(), stats)].into_iter();
    let summary = summarize_days(days, range(), Interval::Day, false, false);
    let last = summary.browsers.last().unwrap();
    assert_eq!((&*last.name, last.clicks), ("Other", 26));
    assert_eq!(summary.browsers.iter().map(|line| line.clicks).sum::<u64>(), 90);
    assert_eq!(summary.unique_visitors, None);
}

#[test]
fn numbers_that_do_not_add_up_are_refused() {
    let one_click = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(DayStats::decode(&one_click).unwrap().clicks(), 1);
    for (at, value, expected) in [
        (0, 9, WireError::Version(9)),
        (1, 0x11, WireError::Impossible("part")),
        (5, 0, WireError::Impossible("count")),
        (6, 2, WireError::Impossible("platform")),
        (8, 0x40, WireError::Impossible("mask")),
        (9, 65, WireError::Impossible("browser")),
        (10, 2, WireError::Impossible("browser")),
        (16, 2, WireError::Impossible("referrer")),
    ] {
        let mut bytes = one_click;
        bytes[at] = value;
        assert_eq!(DayStats::decode(&bytes), Err(expected), "{at}");
    }
    for bytes in [&[1, 4, 0][..], &[1, 8, 0, 0]] {
        assert_eq!(DayStats::decode(bytes), Err(WireError::Impossible("part")), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn a_day_comes_back_from_its_bytes(samples in samples(100, 300)) {
        let stats = day(&samples);
        let bytes = stats.encode();
        prop_assert_eq!(DayStats::decode(&bytes), Ok(stats));
        for end in 0..bytes.len().min(60) {
            prop_assert_eq!(DayStats::decode(&bytes[..end]), Err(WireError::Truncated));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(parts in 0_u8..32, bytes: Vec<u8>) {
        let bytes = [&[1, parts][..], &bytes].concat();
        if let Ok(stats) = DayStats::decode(&bytes) {
            prop_assert_eq!(stats.encode(), bytes);
        }
    }

    #[test]
    fn a_damaged_day_is_read_or_refused(
        samples in samples(9, 30),
        at: prop::sample::Index,
        value: u8,
    ) {
        let mut bytes = day(&samples).encode();
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(stats) = DayStats::decode(&bytes) {
            prop_assert_eq!(stats.encode(), bytes);
        }
    }

    #[test]
    fn counting_one_by_one_equals_merging_parts_in_any_order(
        parts in prop::array::uniform3(samples(20, 40)),
    ) {
        let [a, b, c] = parts.each_ref().map(|part| day(part));
        let all = day(&parts.concat());
        prop_assert_eq!(&merged([&a, &b, &c]), &all);
        prop_assert_eq!(&merged([&c, &a, &b]), &all);
        prop_assert_eq!(&merged([&a, &merged([&c, &b])]), &all);
    }

    #[test]
    fn beyond_64_values_the_sums_stay_the_same(parts in prop::array::uniform3(samples(200, 150))) {
        let [a, b, c] = parts.each_ref().map(|part| day(part));
        let all = without_names(&day(&parts.concat()));
        prop_assert_eq!(&without_names(&merged([&a, &b, &c])), &all);
        prop_assert_eq!(&without_names(&merged([&c, &merged([&b, &a])])), &all);
    }

    #[test]
    fn days_add_up_to_what_their_clicks_add_up_to(
        samples in samples(40, 200),
        include_bots: bool,
        hourly: bool,
    ) {
        let interval = if hourly { Interval::Hour } else { Interval::Day };
        let tallies: Vec<Tally> = samples.iter().map(Sample::tally).collect();
        let people = samples.iter().filter(|sample| sample.classification.bot.is_none());
        let visits: BTreeSet<_> = people.map(|s| (s.at().date_naive(), s.visitor)).collect();
        let visitors = Some(visits.len() as u64);
        let expected = summarize(&tallies, range(), interval, include_bots, visitors);
        let mut days: BTreeMap<NaiveDate, DayStats> = BTreeMap::new();
        for sample in &samples {
            sample.count(days.entry(sample.at().date_naive()).or_default());
        }
        // A day outside the range changes nothing.
        let outside = (start() - TimeDelta::days(1), day(&samples));
        let days = days.into_iter().chain([outside]);
        let summary = summarize_days(days, range(), interval, include_bots, true);
        prop_assert_eq!(summary, expected);
    }
}
