//! The statistics of days that come of stored clicks.

use chrono::{NaiveDate, TimeDelta};
use signpost_adapters::clicks::SqlClicks;
use signpost_domain::app::AppId;
use signpost_domain::click::{
    Count, DateRange, DayStats, Interval, LinkStats, Platform, summarize_days,
};
use signpost_domain::ports::ClickRepository;

use crate::click_loads::{batch, days, journal};
use crate::clicks::{DAY, bot, click, clicks, from, now, range, today};
use crate::world::World;

fn summary(clicks: &SqlClicks, link: i64, range: DateRange) -> LinkStats {
    let days = days(clicks, link, range).into_iter();
    summarize_days(days, range, Interval::Day, false, true)
}

fn visitors(clicks: &SqlClicks, link: i64, range: DateRange) -> u64 {
    summary(clicks, link, range).unique_visitors.unwrap()
}

pub(crate) fn a_late_click_counts_on_its_own_day(world: &World) {
    let clicks = journal(world);
    clicks.load(&batch(0, 1, vec![click(1, 1, 0)])).unwrap();
    clicks.load(&batch(1, 2, vec![click(1, 2, -400 * DAY), click(1, 3, -DAY)])).unwrap();
    clicks.load(&batch(2, 3, vec![click(1, 4, -DAY)])).unwrap();
    let week = range("2025-12-30", "2026-01-05");
    let days = days(&clicks, 1, week).into_iter().map(|(day, stats)| (day.to_string(), stats));
    let days: Vec<_> = days.map(|(day, stats)| (day, stats.clicks())).collect();
    assert_eq!(days, [("2026-01-04".to_owned(), 2), ("2026-01-05".to_owned(), 1)]);
    let then = range("2024-12-01", "2024-12-31");
    assert_eq!(summary(&clicks, 1, then).total_clicks, 1);
}

pub(crate) fn days_are_those_of_their_link_or_app_in_order(world: &World) {
    let clicks = clicks(world);
    let (mut other, class) = click(3, 6, -DAY);
    other.app_id = AppId(2);
    let batch = [click(1, 1, 0), click(2, 2, 0), click(1, 3, -2 * DAY), click(1, 4, -9 * DAY)];
    clicks.append(&batch).unwrap();
    clicks.append(&[(other, class)]).unwrap();
    let week = range("2025-12-30", "2026-01-05");
    let counts = |days: Vec<(NaiveDate, DayStats)>| -> Vec<_> {
        days.into_iter().map(|(day, stats)| (day.to_string(), stats.clicks())).collect()
    };
    let own = |day: &str, clicks| (day.to_owned(), clicks);
    assert_eq!(counts(days(&clicks, 1, week)), [own("2026-01-03", 1), own("2026-01-05", 1)]);
    let of_app = |app| counts(clicks.app_days(AppId(app), week).unwrap());
    assert_eq!(of_app(1), [own("2026-01-03", 1), own("2026-01-05", 2)]);
    assert_eq!(of_app(2), [own("2026-01-04", 1)]);
}

pub(crate) fn the_parts_of_the_statistics_add_up(world: &World) {
    let clicks = journal(world);
    let mut all = Vec::new();
    for n in 0..300 {
        let (mut one, mut class) = click(1, n, i64::try_from(n).unwrap());
        one.platform = Platform::ALL[usize::try_from(n % 3).unwrap()];
        class.browser = (n % 4 != 0).then(|| format!("Browser {}", n % 90));
        class.device = class.device.filter(|_| n % 5 != 0);
        one.referrer = one.referrer.filter(|_| n % 2 == 0);
        all.push((one, class));
    }
    all.push(bot(1, 1000, 0));
    for (part, upto) in all.chunks(40).zip(1..) {
        clicks.load(&batch(upto - 1, upto, part.to_vec())).unwrap();
    }
    let stats = summary(&clicks, 1, today());
    assert_eq!((stats.total_clicks, stats.bot_clicks), (300, 1));
    let platforms = stats.platforms;
    assert_eq!(platforms.ios + platforms.android + platforms.web, 300);
    for lines in [&stats.browsers, &stats.devices, &stats.operating_systems] {
        assert_eq!(lines.iter().map(|line| line.clicks).sum::<u64>(), 300);
    }
    assert_eq!(stats.referrers, [Count { name: "news.example".to_owned(), clicks: 150 }]);
    assert_eq!(stats.series.iter().map(|point| point.clicks).sum::<u64>(), 300);
}

pub(crate) fn visitors_are_distinct_pairs_of_address_and_agent_per_day(world: &World) {
    let clicks = journal(world);
    let first = vec![
        from(1, 1, 0, Some("198.51.100.7"), "A"),
        from(1, 2, 5, Some("198.51.100.7"), "A"),
        from(1, 3, 0, Some("198.51.100.7"), "B"),
        from(1, 5, 0, None, "A"),
        from(1, 6, -DAY, Some("198.51.100.7"), "A"),
        bot(1, 8, 0),
    ];
    clicks.load(&batch(0, 1, first)).unwrap();
    let second = vec![
        from(1, 9, 7, Some("198.51.100.7"), "A"),
        from(1, 4, 0, Some("2001:db8::1"), "A"),
        from(2, 7, 0, Some("198.51.100.7"), "A"),
    ];
    clicks.load(&batch(1, 2, second)).unwrap();
    assert_eq!(visitors(&clicks, 1, today()), 3);
    assert_eq!(visitors(&clicks, 1, range("2026-01-04", "2026-01-05")), 4);
    assert_eq!(visitors(&clicks, 2, today()), 1);
    assert_eq!(visitors(&clicks, 3, today()), 0);
    // Who follows two links of an app is one visitor of the app.
    let app = clicks.app_days(AppId(1), today()).unwrap();
    assert_eq!(app[0].1.visitors(), 3);
}

pub(crate) fn all_who_load_count_visitors_under_the_same_salt(world: &World) {
    let databases = &world.databases;
    let here = clicks(world);
    let there = SqlClicks::new(databases.loader.clone(), databases.statistics.clone());
    here.append(&[click(1, 1, 0)]).unwrap();
    there.append(&[click(1, 2, 0)]).unwrap();
    assert_eq!(visitors(&here, 1, today()), 1);
    assert_eq!(world.count("visitor_salts", "length(salt) = 16"), 1);
}

pub(crate) fn a_day_whose_salt_is_forgotten_takes_no_further_visitors(world: &World) {
    let clicks = clicks(world);
    let visit = |n: u128, minutes, agent| {
        clicks.append(&[from(1, n, minutes, Some("198.51.100.7"), agent)]).unwrap();
    };
    visit(1, 0, "A");
    visit(2, -DAY, "A");
    // 2026-01-04 began 48 hours before 2026-01-06.
    let sixth = now() - TimeDelta::hours(9) - TimeDelta::microseconds(123_456) + TimeDelta::days(1);
    assert_eq!(clicks.forget_salts(sixth - TimeDelta::microseconds(1)).unwrap(), 0);
    assert_eq!(clicks.forget_salts(sixth).unwrap(), 1);
    assert_eq!(clicks.forget_salts(sixth).unwrap(), 0);
    visit(3, 0, "B");
    visit(4, -DAY, "B");
    let [yesterday, today] = [range("2026-01-04", "2026-01-04"), today()];
    assert_eq!((visitors(&clicks, 1, today), summary(&clicks, 1, today).total_clicks), (2, 2));
    assert_eq!(
        (visitors(&clicks, 1, yesterday), summary(&clicks, 1, yesterday).total_clicks),
        (1, 2)
    );
    assert_eq!(world.count("visitor_salts", "length(salt) > 0"), 1);
}
