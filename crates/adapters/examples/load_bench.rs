//! How fast batches of clicks are loaded, beside a plain insert of the same rows.
//!
//! `cargo run --release -p signpost-adapters --example load_bench`; with `TEST_DATABASE_URL` (or
//! under `.ci/with-postgres`) on Postgres as well. Each line is one batch of 50,000 clicks over
//! 10,000 links; all are of one day, so from the second on the rows of the day are there.
#![expect(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers"
)]

use std::time::Instant;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use signpost_adapters::classify::UserAgents;
use signpost_adapters::clicks::SqlClicks;
use signpost_adapters::db::{DatabaseUrl, Databases, PoolSizes};
use signpost_domain::app::AppId;
use signpost_domain::click::{Classification, ClickId, NewClick, Platform, Referrer};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{Batch, ClickRepository, JournalId};

const LINKS: usize = 10_000;
const CLICKS: usize = 50_000;
const BATCHES: u64 = 4;
const ROUNDS: usize = 3;

diesel::table! {
    clicks (link_id, occurred_at, id) {
        link_id -> BigInt,
        occurred_at -> BigInt,
        id -> Binary,
        ip -> Nullable<Binary>,
        ua_hash -> Nullable<Binary>,
        referrer -> Nullable<Text>,
        platform -> Text,
        browser -> Nullable<Text>,
        os -> Nullable<Text>,
        os_version -> Nullable<Text>,
        device -> Nullable<Text>,
        country -> Nullable<Text>,
        source -> Text,
        is_bot -> Bool,
        bot_reason -> Nullable<Text>,
    }
}

#[derive(Insertable)]
#[diesel(table_name = clicks, treat_none_as_default_value = false)]
struct Row {
    link_id: i64,
    occurred_at: i64,
    id: Vec<u8>,
    ip: Option<Vec<u8>>,
    ua_hash: Option<Vec<u8>>,
    referrer: Option<String>,
    platform: &'static str,
    browser: Option<String>,
    os: Option<String>,
    os_version: Option<String>,
    device: Option<String>,
    country: Option<String>,
    source: &'static str,
    is_bot: bool,
    bot_reason: Option<String>,
}

fn row((click, class): &(NewClick, Classification)) -> Row {
    Row {
        link_id: click.link_id.0,
        occurred_at: click.at.timestamp_micros(),
        id: click.id.0.as_bytes().to_vec(),
        ip: Some(match click.address.unwrap() {
            std::net::IpAddr::V4(v4) => v4.octets().to_vec(),
            std::net::IpAddr::V6(v6) => v6.octets().to_vec(),
        }),
        ua_hash: Some(vec![7; 16]),
        referrer: click.referrer.as_ref().map(|referrer| referrer.as_str().to_owned()),
        platform: click.platform.as_str(),
        browser: class.browser.clone(),
        os: class.operating_system.clone(),
        os_version: class.os_version.clone(),
        device: class.device.map(|device| device.as_str().to_owned()),
        country: None,
        source: "visit",
        is_bot: class.bot.is_some(),
        bot_reason: class.bot.map(|reason| reason.as_str().to_owned()),
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 16).unwrap() % n
    }
}

/// Which link is followed: every one as often, or the first ones most (Zipf, exponent 1).
#[derive(Debug, Clone, Copy)]
enum Links {
    Uniform,
    Zipf,
}

impl Links {
    fn pick(self, random: &mut Random) -> usize {
        match self {
            Self::Uniform => 1 + random.below(LINKS),
            // The inverse of the distribution: LINKS^u for u between 0 and 1.
            Self::Zipf => {
                let u =
                    f64::from(u32::try_from(random.below(1 << 30)).unwrap()) / f64::from(1 << 30);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "1 to LINKS"
                )]
                let link = 10_000_f64.powf(u) as usize;
                link
            }
        }
    }
}

fn batches(links: Links) -> Vec<Batch> {
    let agents = UserAgents::new();
    let mut random = Random(1);
    let start = chrono::DateTime::from_timestamp(1_767_603_600, 0).unwrap();
    (0..BATCHES)
        .map(|after| {
            let clicks = (0..CLICKS)
                .map(|n| {
                    let at = start
                        + chrono::TimeDelta::microseconds(
                            i64::try_from(n).unwrap() * 20
                                + i64::try_from(after).unwrap() * 1_000_000,
                        );
                    let version = 90 + random.below(60);
                    let agent = format!(
                        "Mozilla/5.0 (Linux; Android {}; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                         Chrome/{version}.0.0.0 Mobile Safari/537.36",
                        10 + random.below(5),
                    );
                    let [a, b] =
                        [random.below(256), random.below(80)].map(|n| u8::try_from(n).unwrap());
                    let millis = u64::try_from(at.timestamp_millis()).unwrap();
                    let bytes: [u8; 10] =
                        std::array::from_fn(|_| u8::try_from(random.below(256)).unwrap());
                    let id = uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid();
                    let referrer =
                        format!("https://www.host{}.example/some/page", random.below(50));
                    let class = agents.classify(Some(&agent));
                    let click = NewClick {
                        id: ClickId(id),
                        link_id: LinkId(i64::try_from(links.pick(&mut random)).unwrap()),
                        app_id: AppId(1),
                        at,
                        address: Some([198, 51, b, a].into()),
                        user_agent: Some(agent),
                        referrer: Referrer::parse(&referrer).filter(|_| random.below(2) == 0),
                        platform: Platform::Android,
                    };
                    (click, class)
                })
                .collect();
            Batch { journal: JournalId([1; 16]), after, upto: after + 1, clicks }
        })
        .collect()
}

const FILL: &str = "INSERT INTO apps (slug, name, settings, version, created_at, updated_at) \
     VALUES ('app', 'App', '{}', 1, 0, 0); \
     INSERT INTO links (app_id, short_code, payload, search_text, version, created_at, updated_at) \
     WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000) \
     SELECT 1, 'code' || n, '{}', '', 1, 0, 0 FROM n";

/// Clicks a second of each batch.
fn measure(mut store: impl FnMut(usize)) -> Vec<f64> {
    (0..usize::try_from(BATCHES).unwrap())
        .map(|n| {
            let begun = Instant::now();
            store(n);
            f64::from(u32::try_from(CLICKS).unwrap()) / begun.elapsed().as_secs_f64()
        })
        .collect()
}

fn load(url: &DatabaseUrl, batches: &[Batch]) -> Vec<f64> {
    let databases = Databases::open(url, PoolSizes::default());
    databases.check().unwrap();
    let clicks = SqlClicks::new(databases.loader.clone(), databases.statistics);
    clicks.register(JournalId([1; 16]), "node", batches[0].clicks[0].0.at).unwrap();
    measure(|n| assert_eq!(clicks.load(&batches[n]).unwrap().stored, CLICKS))
}

fn sqlite(batches: &[Batch], rows: &[Vec<Row>]) -> [Vec<f64>; 2] {
    let fresh = || {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bench.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        Databases::open(&url, PoolSizes::default()).migrate().unwrap();
        let mut conn = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        conn.batch_execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").unwrap();
        conn.batch_execute(FILL).unwrap();
        (directory, url, conn)
    };
    let (_directory, _, mut conn) = fresh();
    let plain = measure(|n| {
        conn.immediate_transaction(|conn| {
            // Faster than many rows in one statement, which is prepared anew each time.
            for row in &rows[n] {
                diesel::insert_into(clicks::table).values(row).execute(conn)?;
            }
            QueryResult::Ok(())
        })
        .unwrap();
    });
    let (_directory, url, _) = fresh();
    [plain, load(&url, batches)]
}

fn postgres(server: &str, batches: &[Batch], rows: &[Vec<Row>]) -> [Vec<f64>; 2] {
    let fresh = |name: &str| {
        let mut conn = PgConnection::establish(server).unwrap();
        conn.batch_execute("SET client_min_messages = warning").unwrap();
        conn.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}"))
            .unwrap();
        let separator = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{separator}options=-csearch_path%3D{name}");
        let databases = Databases::open(&DatabaseUrl::parse(&url).unwrap(), PoolSizes::default());
        databases.migrate().unwrap();
        let mut conn = PgConnection::establish(&url).unwrap();
        conn.batch_execute(FILL).unwrap();
        conn.batch_execute("ANALYZE links; CHECKPOINT").unwrap();
        (url, conn)
    };
    let (_, mut conn) = fresh("bench_plain");
    let plain = measure(|n| {
        diesel::copy_from(clicks::table).from_insertable(&rows[n]).execute(&mut conn).unwrap();
    });
    let (url, mut conn) = fresh("bench_load");
    let loaded = load(&DatabaseUrl::parse(&url).unwrap(), batches);
    conn.batch_execute("DROP SCHEMA bench_plain CASCADE; DROP SCHEMA bench_load CASCADE").unwrap();
    [plain, loaded]
}

/// A whole number of thousands, and the ratio of the medians.
fn print(database: &str, links: Links, [plain, loaded]: [Vec<f64>; 2]) {
    let median = |speeds: &[f64]| {
        let mut sorted = speeds.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let thousands = |speeds: &[f64]| {
        let texts: Vec<_> = speeds.iter().map(|s| format!("{:>3.0}k", s / 1000.0)).collect();
        texts.join(" ")
    };
    println!(
        "{database:8} {links:?}: plain {} | load {} | {:.2}",
        thousands(&plain),
        thousands(&loaded),
        median(&loaded) / median(&plain)
    );
}

fn main() {
    let server = std::env::var("TEST_DATABASE_URL").ok();
    for links in [Links::Uniform, Links::Zipf] {
        let batches = batches(links);
        let rows: Vec<Vec<Row>> = batches
            .iter()
            .map(|batch| {
                let mut sorted: Vec<_> = batch.clicks.iter().collect();
                sorted.sort_by_key(|(click, _)| (click.link_id.0, click.at, click.id));
                sorted.into_iter().map(row).collect()
            })
            .collect();
        for _ in 0..ROUNDS {
            print("SQLite", links, sqlite(&batches, &rows));
            if let Some(server) = &server {
                print("Postgres", links, postgres(server, &batches, &rows));
            }
        }
    }
}
