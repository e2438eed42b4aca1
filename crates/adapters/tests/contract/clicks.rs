//! Clicks.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use signpost_adapters::clicks::SqlClicks;
use signpost_domain::app::AppId;
use signpost_domain::click::{
    BotReason, Classification, Click, ClickId, DateRange, DeviceClass, NewClick, Platform, Referrer,
};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{ClickCursor, ClickQuery, ClickRepository, StoreError};
use uuid::Uuid;

use crate::world::World;

/// 2026-01-05, 09:00.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_603_600_123_456).unwrap()
}

pub(crate) fn clicks(world: &World) -> SqlClicks {
    world.insert_links(3);
    SqlClicks::new(world.databases.loader.clone(), world.databases.statistics.clone())
}

pub(crate) type Classified = (NewClick, Classification);

pub(crate) fn click(link: i64, n: u128, minutes: i64) -> Classified {
    let click = NewClick {
        id: ClickId(Uuid::from_u128(n)),
        link_id: LinkId(link),
        app_id: AppId(1),
        at: now() + TimeDelta::minutes(minutes),
        address: Some([198, 51, 100, 7].into()),
        user_agent: Some("Firefox ☃".to_owned()),
        referrer: Referrer::parse("https://news.example/a"),
        platform: Platform::Android,
    };
    let class = Classification {
        browser: Some("Firefox".to_owned()),
        operating_system: Some("Android".to_owned()),
        os_version: Some("15".to_owned()),
        device: Some(DeviceClass::Phone),
        bot: None,
    };
    (click, class)
}

pub(crate) fn bot(link: i64, n: u128, minutes: i64) -> Classified {
    let (click, _) = click(link, n, minutes);
    let class = Classification { bot: Some(BotReason::UserAgent), ..Classification::default() };
    (NewClick { platform: Platform::Web, ..click }, class)
}

pub(crate) fn from(
    link: i64,
    n: u128,
    minutes: i64,
    address: Option<&str>,
    agent: &str,
) -> Classified {
    let (click, class) = click(link, n, minutes);
    let address = address.map(|text| text.parse::<IpAddr>().unwrap());
    (NewClick { address, user_agent: Some(agent.to_owned()), ..click }, class)
}

pub(crate) fn query(link: i64) -> ClickQuery {
    ClickQuery {
        link: LinkId(link),
        from: None,
        until: None,
        include_bots: false,
        after: None,
        offset: 0,
        limit: 100,
        count_to: 10_000,
    }
}

fn listed(clicks: &SqlClicks, query: &ClickQuery) -> Vec<u128> {
    clicks.page(query).unwrap().clicks.iter().map(|click| click.id.0.as_u128()).collect()
}

pub(crate) fn range(start: &str, end: &str) -> DateRange {
    DateRange::parse(Some(start), Some(end), now() + TimeDelta::days(30)).unwrap()
}

pub(crate) fn today() -> DateRange {
    range("2026-01-05", "2026-01-05")
}

pub(crate) const DAY: i64 = 24 * 60;

pub(crate) fn a_stored_click_reads_back(world: &World) {
    let clicks = clicks(world);
    let full = click(1, 1, 0);
    let (mut bare, _) = click(1, 2, -1);
    bare.address = Some("2001:db8::1".parse().unwrap());
    bare.user_agent = None;
    bare.referrer = None;
    let bare =
        (bare, Classification { bot: Some(BotReason::NoUserAgent), ..Classification::default() });
    assert_eq!(clicks.append(&[full.clone(), bare.clone()]).unwrap(), 2);
    let expected = [full, bare].map(|(click, classification)| Click {
        id: click.id,
        link_id: click.link_id,
        at: click.at,
        address: click.address,
        user_agent: click.user_agent,
        referrer: click.referrer.map(|referrer| referrer.as_str().to_owned()),
        platform: click.platform,
        classification,
        country: None,
        matched: None,
    });
    let all = clicks.page(&ClickQuery { include_bots: true, ..query(1) }).unwrap();
    assert_eq!(all.clicks, expected);
}

pub(crate) fn a_batch_is_stored_whole_and_counted(world: &World) {
    let clicks = clicks(world);
    assert_eq!(clicks.append(&[]).unwrap(), 0);
    // More rows than one statement can bind, and links in no order.
    let batch: Vec<_> = (0..5000).map(|n| click(1 + i64::from(n % 2 == 0), n, 0)).collect();
    assert_eq!(clicks.append(&batch).unwrap(), 5000);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 2500);
    assert_eq!(clicks.page(&query(2)).unwrap().total, 2500);
}

pub(crate) fn a_batch_that_fails_leaves_nothing_behind(world: &World) {
    let clicks = clicks(world);
    world.execute("ALTER TABLE clicks RENAME COLUMN source TO elsewhere");
    assert!(clicks.append(&[click(1, 1, 0)]).is_err());
    world.execute("ALTER TABLE clicks RENAME COLUMN elsewhere TO source");
    assert_eq!(clicks.page(&query(1)).unwrap().total, 0);
    assert_eq!(clicks.append(&[click(1, 1, 0)]).unwrap(), 1);
}

pub(crate) fn a_click_that_is_stored_already_is_passed_over(world: &World) {
    let clicks = clicks(world);
    assert_eq!(clicks.append(&[click(1, 1, 0), click(1, 1, 0)]).unwrap(), 1);
    assert_eq!(clicks.append(&[click(1, 1, 0), click(1, 2, 0)]).unwrap(), 1);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 2);
}

pub(crate) fn a_click_of_a_deleted_link_is_passed_over(world: &World) {
    let clicks = clicks(world);
    world.delete_link(2);
    assert_eq!(clicks.append(&[click(1, 1, 0), click(2, 2, 0)]).unwrap(), 1);
    assert_eq!(clicks.append(&[click(2, 3, 0)]).unwrap(), 0);
    assert_eq!(clicks.page(&query(2)).unwrap().total, 0);
}

pub(crate) fn a_user_agent_is_kept_once_with_its_last_day(world: &World) {
    let clicks = clicks(world);
    for minutes in [DAY, 0, 2 * DAY] {
        clicks.append(&[click(1, 1, minutes), click(2, 2, minutes)]).unwrap();
    }
    // Fails unless there is exactly one row of exactly that day.
    world.execute(
        "INSERT INTO user_agents (hash, text, last_seen_day) \
         SELECT hash, text, 0 FROM user_agents WHERE last_seen_day <> 20460",
    );
    assert_eq!(clicks.page(&query(1)).unwrap().clicks.len(), 3);
}

pub(crate) fn a_page_is_newest_first_and_equal_times_by_falling_number(world: &World) {
    let clicks = clicks(world);
    let batch = [click(1, 2, 0), click(1, 9, -5), click(1, 3, 0), click(1, 1, 5), click(2, 7, 0)];
    clicks.append(&batch).unwrap();
    assert_eq!(listed(&clicks, &query(1)), [1, 3, 2, 9]);
    assert_eq!(listed(&clicks, &ClickQuery { offset: 1, limit: 2, ..query(1) }), [3, 2]);
    assert_eq!(listed(&clicks, &ClickQuery { offset: 9, ..query(1) }), []);
    assert_eq!(listed(&clicks, &query(3)), []);
}

pub(crate) fn a_page_keeps_to_its_range_and_leaves_bots_out(world: &World) {
    let clicks = clicks(world);
    clicks.append(&[click(1, 1, 0), click(1, 2, 1), click(1, 3, 2), bot(1, 4, 1)]).unwrap();
    let ranged =
        ClickQuery { from: Some(now()), until: Some(now() + TimeDelta::minutes(2)), ..query(1) };
    assert_eq!(listed(&clicks, &ranged), [2, 1]);
    assert_eq!(clicks.page(&ranged).unwrap().total, 2);
    let with_bots = ClickQuery { include_bots: true, ..ranged };
    assert_eq!(listed(&clicks, &with_bots), [4, 2, 1]);
    assert_eq!(clicks.page(&with_bots).unwrap().total, 3);
}

pub(crate) fn a_cursor_goes_on_after_the_last_click_seen(world: &World) {
    let clicks = clicks(world);
    let batch: Vec<_> = (1..=6).map(|n| click(1, n, i64::from(n > 3))).collect();
    clicks.append(&batch).unwrap();
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = clicks.page(&ClickQuery { after, limit: 2, ..query(1) }).unwrap();
        assert_eq!(page.total, 6, "the cursor is not regarded");
        let Some(last) = page.clicks.last() else { break };
        after = Some(ClickCursor { at: last.at, id: last.id });
        seen.extend(page.clicks.iter().map(|click| click.id.0.as_u128()));
    }
    assert_eq!(seen, [6, 5, 4, 3, 2, 1]);
}

pub(crate) fn a_total_never_exceeds_its_bound_by_more_than_one(world: &World) {
    let clicks = clicks(world);
    clicks.append(&(0..10).map(|n| click(1, n, 0)).collect::<Vec<_>>()).unwrap();
    for (count_to, total) in [(0, 1), (5, 6), (9, 10), (10, 10), (11, 10), (u32::MAX, 10)] {
        let page = clicks.page(&ClickQuery { count_to, limit: 1, ..query(1) }).unwrap();
        assert_eq!(page.total, total, "{count_to}");
    }
}

pub(crate) fn clicks_of_deleted_links_are_erased_up_to_the_limit(world: &World) {
    let clicks = clicks(world);
    let batch: Vec<_> = (0..30).map(|n| click(1 + i64::from(n % 3 == 0), n, 0)).collect();
    clicks.append(&batch).unwrap();
    assert_eq!(clicks.erase_orphans(100).unwrap(), 0);
    world.delete_link(1);
    world.delete_link(3);
    assert_eq!(clicks.erase_orphans(0).unwrap(), 0);
    assert_eq!(clicks.erase_orphans(15).unwrap(), 15);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 5);
    assert_eq!(world.count("link_days", "link_id = 1"), 1);
    assert_eq!(clicks.erase_orphans(5).unwrap(), 5);
    assert_eq!(clicks.erase_orphans(15).unwrap(), 0);
    assert_eq!(world.count("link_days", "link_id = 1"), 0);
    assert_eq!(clicks.app_days(AppId(1), today()).unwrap()[0].1.clicks(), 30);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 0);
    assert_eq!(clicks.page(&query(2)).unwrap().total, 10);
    // Fails on a deleted link that is not marked, and on a living one that is.
    world.execute("CREATE TABLE proof (deleted BIGINT NOT NULL, CHECK (deleted = 1))");
    world.execute(
        "INSERT INTO proof SELECT 0 FROM links WHERE (deleted_at IS NULL) <> (erased_at IS NULL)",
    );
}

pub(crate) fn no_click_stays_behind_when_its_link_is_erased_meanwhile(world: &World) {
    let clicks = clicks(world);
    std::thread::scope(|scope| {
        let appending = scope
            .spawn(|| (0..300).map(|n| clicks.append(&[click(1, n, 0)]).unwrap()).sum::<usize>());
        while clicks.page(&query(1)).unwrap().total < 20 {
            std::thread::yield_now();
        }
        world.delete_link(1);
        let mut erased = 0;
        while !appending.is_finished() {
            erased += clicks.erase_orphans(7).unwrap();
        }
        erased += clicks.erase_orphans(1000).unwrap();
        assert_eq!(erased, appending.join().unwrap());
    });
    assert_eq!(world.count("link_days", "link_id = 1"), 0);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 0);
}

pub(crate) fn many_deleted_links_are_erased_in_one_call(world: &World) {
    let clicks = clicks(world);
    for n in 0..250 {
        world.execute(&format!(
            "INSERT INTO links (app_id, short_code, search_text, version, created_at, updated_at, \
             deleted_at) VALUES (1, 'gone{n}', '', 1, 0, 0, 1)"
        ));
    }
    clicks.append(&[click(3, 1, 0)]).unwrap();
    world.execute("UPDATE links SET payload = NULL, deleted_at = 1 WHERE id = 3");
    world.execute("UPDATE links SET payload = '{}', deleted_at = NULL WHERE id = 2");
    assert_eq!(clicks.erase_orphans(10).unwrap(), 1);
    assert_eq!(clicks.erase_orphans(10).unwrap(), 0);
}

pub(crate) fn an_impossible_row_is_an_error(world: &World) {
    let clicks = clicks(world);
    clicks.append(&[click(1, 1, 0)]).unwrap();
    for (damage, repair) in [
        ("platform = 'beos'", "platform = 'ios'"),
        ("device = 'toaster'", "device = NULL"),
        ("bot_reason = 'ua'", "bot_reason = NULL"),
    ] {
        world.execute(&format!("UPDATE clicks SET {damage}"));
        assert!(matches!(clicks.page(&query(1)), Err(StoreError::Failed(_))), "{damage}");
        world.execute(&format!("UPDATE clicks SET {repair}"));
        assert!(clicks.page(&query(1)).is_ok(), "{repair}");
    }
    world.execute("DELETE FROM app_days");
    world.execute("INSERT INTO app_days SELECT 1, day, salt FROM visitor_salts");
    assert!(matches!(clicks.app_days(AppId(1), today()), Err(StoreError::Failed(_))));
    assert!(matches!(clicks.append(&[click(1, 2, 0)]), Err(StoreError::Failed(_))));
    assert_eq!(clicks.page(&query(1)).unwrap().total, 1);
}
