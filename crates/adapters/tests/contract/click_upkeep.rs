//! What becomes of old clicks, and room for new ones.

use chrono::{DateTime, Months, TimeDelta, Utc};
use signpost_adapters::db::DatabaseUrl;
use signpost_domain::link::LinkId;
use signpost_domain::ports::ClickRepository;

use crate::clicks::{DAY, click, clicks, from, now, query, range, today};
use crate::world::World;

pub(crate) fn old_addresses_are_cut_to_their_networks_up_to_the_limit(world: &World) {
    let clicks = clicks(world);
    let batch = [
        from(1, 1, -DAY, Some("198.51.100.7"), "A"),
        from(1, 2, -DAY, Some("2001:db8:1:2:3:4:5:6"), "A"),
        from(2, 3, -DAY, None, "A"),
        from(2, 4, -DAY, Some("203.0.113.0"), "A"),
        from(2, 5, -DAY, Some("2001:db8::1"), "A"),
        from(2, 6, 0, Some("198.51.100.7"), "A"),
    ];
    clicks.append(&batch).unwrap();
    assert_eq!(clicks.truncate_addresses(now(), 2).unwrap(), 2);
    assert_eq!(clicks.truncate_addresses(now(), 2).unwrap(), 1);
    assert_eq!(clicks.truncate_addresses(now(), 2).unwrap(), 0);
    let addresses = |link| -> Vec<String> {
        let clicks = clicks.page(&query(link)).unwrap().clicks;
        clicks.iter().map(|c| c.address.map_or("-".to_owned(), |ip| ip.to_string())).collect()
    };
    assert_eq!(addresses(1), ["2001:db8:1::", "198.51.100.0"]);
    assert_eq!(addresses(2), ["198.51.100.7", "2001:db8::", "203.0.113.0", "-"]);
    let yesterday = range("2026-01-04", "2026-01-04");
    assert_eq!(clicks.days(LinkId(1), yesterday).unwrap()[0].1.visitors(), 2);
}

pub(crate) fn old_clicks_are_erased_and_their_statistics_stay(world: &World) {
    let clicks = clicks(world);
    let batch: Vec<_> = (0..30).map(|n| click(1, n, if n < 25 { -DAY } else { 0 })).collect();
    clicks.append(&batch).unwrap();
    assert!(clicks.erase_clicks_before(now(), 20).unwrap());
    assert_eq!(clicks.page(&query(1)).unwrap().total, 10);
    assert!(!clicks.erase_clicks_before(now(), 20).unwrap());
    assert_eq!(clicks.page(&query(1)).unwrap().total, 5);
    assert!(!clicks.erase_clicks_before(now(), 20).unwrap());
    let yesterday = range("2026-01-04", "2026-01-04");
    assert_eq!(clicks.days(LinkId(1), yesterday).unwrap()[0].1.clicks(), 25);
}

fn months(world: &World) -> Vec<String> {
    let has = |name: &str| {
        world.count("pg_class", &format!("oid = to_regclass('{name}') AND relispartition")) > 0
    };
    let names = (0..60).filter_map(|n| now().checked_add_months(Months::new(n)));
    names.map(|at| at.format("clicks_%Y_%m").to_string()).filter(|name| has(name)).collect()
}

fn is_postgres(world: &World) -> bool {
    matches!(world.databases.url(), DatabaseUrl::Postgres(_))
}

pub(crate) fn room_is_made_for_three_months_and_twice_does_no_harm(world: &World) {
    let clicks = clicks(world);
    for _ in 0..2 {
        clicks.prepare_partitions(now()).unwrap();
    }
    clicks.append(&[click(1, 1, 0), click(1, 2, 40 * DAY), click(1, 3, -40 * DAY)]).unwrap();
    assert_eq!(clicks.page(&query(1)).unwrap().total, 3);
    assert_eq!(clicks.days(LinkId(1), today()).unwrap().len(), 1);
    if is_postgres(world) {
        assert_eq!(months(world), ["clicks_2026_01", "clicks_2026_02", "clicks_2026_03"]);
        assert_eq!(world.count("clicks_2026_01", "true"), 1);
        assert_eq!(world.count("clicks_2026_02", "true"), 1);
        assert_eq!(world.count("clicks_default", "true"), 1);
    }
}

pub(crate) fn several_make_room_at_once(world: &World) {
    clicks(world);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let databases = world.another();
            scope.spawn(move || {
                let clicks = signpost_adapters::clicks::SqlClicks::new(
                    databases.loader.clone(),
                    databases.statistics,
                );
                clicks.prepare_partitions(now()).unwrap();
            });
        }
    });
    if is_postgres(world) {
        assert_eq!(months(world).len(), 3);
    }
}

pub(crate) fn a_month_that_has_clicks_without_room_stays_as_it_is(world: &World) {
    let clicks = clicks(world);
    clicks.append(&[click(1, 1, 0), click(1, 2, 40 * DAY)]).unwrap();
    clicks.prepare_partitions(now()).unwrap();
    clicks.append(&[click(1, 3, 0), click(1, 1, 0)]).unwrap();
    assert_eq!(clicks.page(&query(1)).unwrap().total, 3);
    if is_postgres(world) {
        assert_eq!(months(world), ["clicks_2026_03"]);
    }
}

/// The first moment of 2026 and `months` more.
fn month(months: u32) -> DateTime<Utc> {
    let start = now() - TimeDelta::days(4) - TimeDelta::hours(9) - TimeDelta::microseconds(123_456);
    start.checked_add_months(Months::new(months)).unwrap()
}

pub(crate) fn months_that_are_old_as_a_whole_are_dropped(world: &World) {
    let clicks = clicks(world);
    clicks.prepare_partitions(now()).unwrap();
    let batch = [click(1, 1, 0), click(1, 2, 30 * DAY), click(1, 3, 60 * DAY)];
    clicks.append(&batch).unwrap();
    let mut left = Vec::new();
    for before in [month(1) - TimeDelta::days(27), month(1), month(1) + TimeDelta::days(10)] {
        while clicks.erase_clicks_before(before, 10).unwrap() {}
        left.push(clicks.page(&query(1)).unwrap().total);
        if is_postgres(world) {
            left.push(months(world).len() as u64);
        }
    }
    assert_eq!(left, if is_postgres(world) { vec![3, 3, 2, 2, 1, 2] } else { vec![3, 2, 1] });
}
