//! Loading journals.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use signpost_adapters::clicks::SqlClicks;
use signpost_domain::app::AppId;
use signpost_domain::click::{DateRange, DayStats};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{Batch, ClickRepository, JournalId, LoadError, Loaded, StoreError};

use crate::clicks::{Classified, DAY, bot, click, clicks, from, now, query, range, today};
use crate::world::World;

const JOURNAL: JournalId = JournalId([7; 16]);

pub(crate) fn journal(world: &World) -> SqlClicks {
    let clicks = clicks(world);
    assert_eq!(clicks.register(JOURNAL, "node", now()).unwrap(), 0);
    clicks
}

pub(crate) fn batch(after: u64, upto: u64, clicks: Vec<Classified>) -> Batch {
    Batch { journal: JOURNAL, after, upto, clicks }
}

fn stored(stored: usize) -> Loaded {
    Loaded { stored, ..Loaded::default() }
}

/// The position a refused batch is told.
fn refused(answer: Result<Loaded, LoadError>) -> u64 {
    match answer {
        Err(LoadError::Elsewhere { position }) => position,
        other => panic!("the batch was not refused but answered with {other:?}"),
    }
}

pub(crate) fn days(clicks: &SqlClicks, link: i64, range: DateRange) -> Vec<(NaiveDate, DayStats)> {
    clicks.days(LinkId(link), range).unwrap()
}

pub(crate) fn a_new_journal_is_at_0_and_a_known_one_where_it_was(world: &World) {
    let clicks = journal(world);
    assert_eq!(clicks.load(&batch(0, 170, vec![click(1, 1, 0)])).unwrap(), stored(1));
    assert_eq!(clicks.register(JOURNAL, "node", now()).unwrap(), 170);
    assert_eq!(clicks.register(JournalId([8; 16]), "other", now()).unwrap(), 0);
    assert_eq!(clicks.load(&batch(170, 171, Vec::new())).unwrap(), stored(0));
    assert_eq!(clicks.register(JOURNAL, "node", now()).unwrap(), 171);
    let unknown = Batch { journal: JournalId([9; 16]), ..batch(0, 1, Vec::new()) };
    assert!(matches!(clicks.load(&unknown), Err(LoadError::Store(StoreError::Failed(_)))));
}

pub(crate) fn a_batch_that_comes_twice_counts_once(world: &World) {
    let clicks = journal(world);
    let batch = batch(0, 9, (0..50).map(|n| click(1 + i64::from(n % 2 == 0), n, 0)).collect());
    assert_eq!(clicks.load(&batch).unwrap(), stored(50));
    assert_eq!(refused(clicks.load(&batch)), 9);
    assert_eq!(clicks.page(&query(1)).unwrap().total, 25);
    assert_eq!(days(&clicks, 1, today())[0].1.clicks(), 25);
}

pub(crate) fn a_batch_of_another_position_is_refused_and_nothing_of_it_stored(world: &World) {
    let clicks = journal(world);
    clicks.load(&batch(0, 9, vec![click(1, 1, 0)])).unwrap();
    for after in [0, 8, 10] {
        assert_eq!(refused(clicks.load(&batch(after, 20, vec![click(2, 2, 0)]))), 9);
    }
    assert_eq!(clicks.page(&query(2)).unwrap().total, 0);
    assert_eq!(days(&clicks, 2, today()), []);
    assert_eq!(clicks.load(&batch(9, 20, vec![click(2, 2, 0)])).unwrap(), stored(1));
}

pub(crate) fn of_two_who_load_one_journal_one_is_told(world: &World) {
    let clicks = journal(world);
    let batch = batch(0, 9, (0..500).map(|n| click(1, n, 0)).collect());
    let answers = std::thread::scope(|scope| {
        let loaders = [(); 2].map(|()| scope.spawn(|| SqlClicks::clone(&clicks).load(&batch)));
        loaders.map(|loader| loader.join().unwrap())
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(won.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [stored(500)]);
    assert_eq!(lost.into_iter().map(refused).collect::<Vec<_>>(), [9]);
    assert_eq!(days(&clicks, 1, today())[0].1.clicks(), 500);
}

pub(crate) fn a_load_that_fails_moves_no_position(world: &World) {
    let clicks = journal(world);
    let batch = batch(0, 9, vec![click(1, 1, 0)]);
    for table in ["app_days", "link_days", "clicks", "user_agents"] {
        world.execute(&format!("ALTER TABLE {table} RENAME TO elsewhere"));
        assert!(matches!(clicks.load(&batch), Err(LoadError::Store(_))), "{table}");
        world.execute(&format!("ALTER TABLE elsewhere RENAME TO {table}"));
        assert_eq!(clicks.register(JOURNAL, "node", now()).unwrap(), 0);
        assert_eq!(clicks.page(&query(1)).unwrap().total, 0);
    }
    assert_eq!(clicks.load(&batch).unwrap(), stored(1));
    let user_agent = &clicks.page(&query(1)).unwrap().clicks[0].user_agent;
    assert!(user_agent.is_some(), "a dictionary that was rolled back is not remembered");
}

pub(crate) fn what_becomes_of_each_click_of_a_batch_is_told(world: &World) {
    let clicks = journal(world);
    world.delete_link(2);
    let some = |numbers: &[u128]| numbers.iter().map(|n| click(1, *n, 0)).collect::<Vec<_>>();
    assert_eq!(clicks.append(&some(&[3, 5, 6, 7])).unwrap(), 4);
    let mut second = some(&[1, 2, 3, 4, 5, 5, 8, 8]);
    second.extend([click(2, 9, 0), click(99, 10, 0), bot(1, 11, 0)]);
    let expected = Loaded { stored: 5, known_already: 4, discarded: 2 };
    assert_eq!(clicks.load(&batch(0, 9, second)).unwrap(), expected);
    let (_, day) = &days(&clicks, 1, today())[0];
    assert_eq!((day.clicks(), day.bot_clicks()), (8, 1));
    assert_eq!(days(&clicks, 2, today()), []);
    let (_, day) = &clicks.app_days(AppId(1), today()).unwrap()[0];
    assert_eq!((day.clicks(), day.bot_clicks()), (8, 1));
}

pub(crate) fn only_what_is_new_of_a_large_batch_counts(world: &World) {
    let clicks = journal(world);
    let every = |step: u128| (0..4_000).filter(|n| n % step == 0).map(|n| click(1, n, 0)).collect();
    assert_eq!(clicks.load(&batch(0, 1, every(7))).unwrap(), stored(572));
    let expected = Loaded { stored: 3_428, known_already: 572, discarded: 0 };
    assert_eq!(clicks.load(&batch(1, 2, every(1))).unwrap(), expected);
    let expected = Loaded { known_already: 4_000, ..Loaded::default() };
    assert_eq!(clicks.load(&batch(2, 3, every(1))).unwrap(), expected);
    assert_eq!(days(&clicks, 1, today())[0].1.clicks(), 4_000);
}

pub(crate) fn several_who_load_the_same_links_at_once_add_up(world: &World) {
    const JOURNALS: u8 = 3;
    const BATCHES: u64 = 12;
    const CLICKS: u64 = 60;
    world.insert_links(40);
    let node = |n: u8| {
        let databases = world.another();
        move || {
            let clicks = SqlClicks::new(databases.loader.clone(), databases.statistics.clone());
            let journal = JournalId([n; 16]);
            let mut random = Random(u64::from(n));
            clicks.register(journal, "node", now()).unwrap();
            for after in 0..BATCHES {
                let some = (0..CLICKS)
                    .map(|_| {
                        // Each batch brings a new day, on all nodes, and a user agent of its own.
                        let days = random.below(3) + after;
                        let link = i64::try_from(1 + random.below(40)).unwrap();
                        let number = u128::from(random.next()) << 8 | u128::from(n);
                        let agent = format!("Agent {n} of {}", random.below(after + 1));
                        let minutes = i64::try_from(days).unwrap() * -DAY;
                        from(link, number, minutes, Some("198.51.100.7"), &agent)
                    })
                    .collect();
                let batch = Batch { journal, after, upto: after + 1, clicks: some };
                assert_eq!(clicks.load(&batch).unwrap(), stored(60));
            }
        }
    };
    std::thread::scope(|scope| {
        let nodes = (0..JOURNALS).map(|n| scope.spawn(node(n))).collect::<Vec<_>>();
        for node in nodes {
            node.join().unwrap();
        }
    });
    let all = u64::from(JOURNALS) * BATCHES * CLICKS;
    assert_eq!(world.count("clicks", "true"), i64::try_from(all).unwrap());
    let databases = &world.databases;
    let clicks = SqlClicks::new(databases.loader.clone(), databases.statistics.clone());
    let month = range("2025-12-07", "2026-01-05");
    let sum = |days: Vec<(NaiveDate, DayStats)>| days.iter().map(|(_, d)| d.clicks()).sum::<u64>();
    assert_eq!((1..=40).map(|link| sum(days(&clicks, link, month))).sum::<u64>(), all);
    assert_eq!(sum(clicks.app_days(AppId(1), month).unwrap()), all);
}

/// xorshift64* (Marsaglia 2003, Vigna 2016): the same batches in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

pub(crate) fn after_a_thousand_random_batches_the_days_count_what_is_stored(world: &World) {
    world.insert_links(8);
    let databases = &world.databases;
    let clicks = SqlClicks::new(databases.loader.clone(), databases.statistics.clone());
    clicks.register(JOURNAL, "node", now()).unwrap();
    let mut random = Random(1);
    let (mut position, mut told) = (0, 0);
    for _ in 0..1_000 {
        // Few numbers, so that clicks come again, within batches as well.
        let some: Vec<_> = (0..random.below(6))
            .map(|_| {
                let number = random.below(3_000);
                let link = 1 + i64::try_from(number % 8).unwrap();
                let minutes = i64::try_from(number % 7).unwrap() * -DAY;
                let make = if number.is_multiple_of(11) { bot } else { click };
                make(link, u128::from(number), minutes)
            })
            .collect();
        match random.below(10) {
            0 => {
                refused(clicks.load(&batch(position + 1, position + 2, some)));
            }
            1 => told += clicks.append(&some).unwrap(),
            _ => {
                told += clicks.load(&batch(position, position + 1, some)).unwrap().stored;
                position += 1;
            }
        }
    }
    let week = range("2025-12-30", "2026-01-05");
    let mut by_day: BTreeMap<NaiveDate, u64> = BTreeMap::new();
    for link in 1..=8 {
        for (day, stats) in days(&clicks, link, week) {
            let counted = stats.clicks() + stats.bot_clicks();
            let micros = i64::from(day.to_epoch_days()) * 86_400_000_000;
            let of_day = format!(
                "link_id = {link} AND occurred_at >= {micros} AND occurred_at < {micros} + 86400000000"
            );
            assert_eq!(u64::try_from(world.count("clicks", &of_day)).unwrap(), counted);
            *by_day.entry(day).or_default() += counted;
        }
    }
    assert_eq!(u64::try_from(told).unwrap(), by_day.values().sum::<u64>());
    assert_eq!(u64::try_from(world.count("clicks", "true")).unwrap(), u64::try_from(told).unwrap());
    let app = clicks.app_days(AppId(1), week).unwrap();
    let app: BTreeMap<_, _> =
        app.into_iter().map(|(day, stats)| (day, stats.clicks() + stats.bot_clicks())).collect();
    assert_eq!(app, by_day);
}
