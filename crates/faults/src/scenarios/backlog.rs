//! A restart with a large journal.

use std::path::Path;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use signpost_domain::app::AppId;
use signpost_domain::click::{ClickId, NewClick, Platform, wire};
use signpost_domain::link::LinkId;
use signpost_journal::{Durability, Journal, Options, Outcome};

use crate::Result;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How soon the service is ready, whatever waits in its journal.
const READY: Duration = Duration::from_secs(2);
/// The links that the backlog's clicks are of.
const LINKS: u64 = 5;
/// How many visitors the backlog has: with one each, the table of user agents would be the load.
const AGENTS: u64 = 500;

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    let codes: Vec<String> = (0..LINKS).map(|n| format!("backlog-{n}")).collect();
    let mut ids = Vec::new();
    for code in &codes {
        world.create(code)?;
        let query =
            format!("SELECT CAST(id AS TEXT) AS line FROM links WHERE short_code = '{code}'");
        ids.extend(world.lines(&query)?.iter().filter_map(|line| line.parse::<i64>().ok()));
    }
    world.stop(0)?;
    let bytes: u64 = stage.settings.either(128 << 20, 1 << 30);
    let made = Instant::now();
    let clicks = fill(&world.journal(0), &ids, bytes, stage.random.next())?;
    stage.act(format!(
        "{clicks} clicks in {} MB of journal, made in {:?}",
        bytes >> 20,
        made.elapsed()
    ));
    let begun = Instant::now();
    let ready = world.start(0)?;
    stage.note(format!("ready after {ready:?} with {} MB to load", bytes >> 20));
    stage.check(ready <= READY, format!("a start with a backlog took {ready:?}"));
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(3));
    let stored = world.stored()?;
    stage.check(stored > 0, "nothing is loaded while visitors are served");
    stage.check(
        stored < usize::try_from(clicks)?,
        "the backlog was gone before it could be watched",
    );
    let expected = usize::try_from(clicks)?;
    while world.stored()? < expected && begun.elapsed() < Duration::from_mins(30) {
        std::thread::sleep(Duration::from_millis(500));
    }
    let took = begun.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = clicks as f64 / took;
    stage.note(format!("loaded within {took:.1} s while serving: {rate:.0} clicks a second"));
    load.stop();
    stage.settle(&world, 0)?;
    own_clicks(stage, &world, &codes, clicks)
}

/// The backlog's own clicks, each there once and counted once.
fn own_clicks(stage: &mut Stage<'_>, world: &World, codes: &[String], clicks: u64) -> Result<()> {
    let query = "SELECT CAST(COUNT(*) AS TEXT) || ' ' || CAST(COUNT(DISTINCT c.id) AS TEXT) AS line \
                 FROM clicks c JOIN links l ON l.id = c.link_id WHERE l.short_code LIKE 'backlog-%'";
    let lines = world.lines(query)?;
    let expected = format!("{clicks} {clicks}");
    stage.check(
        lines == [expected],
        format!("stored and distinct are {lines:?}, and {clicks} were made"),
    );
    let counted = world.counted(0, codes)?;
    let sum: u64 = counted.values().filter_map(|counters| counters.get("days")).sum();
    stage.check(sum == clicks, format!("{sum} clicks are counted, and {clicks} were made"));
    Ok(())
}

/// Appends clicks to a journal that is not open, until it has grown by so many bytes; answers how
/// many.
fn fill(dir: &Path, links: &[i64], bytes: u64, seed: u64) -> Result<u64> {
    let options = Options { durability: Durability::Process, ..Options::default() };
    let journal = Journal::open(dir, options)?;
    let now = DateTime::from_timestamp_micros(now()).unwrap_or_default();
    let (mut buffer, mut written, mut n) = (Vec::new(), 0, 0_u64);
    let mut last = None;
    while written < bytes {
        buffer.clear();
        wire::encode(&click(links, now, seed, n), &mut buffer);
        // What frames a record on disk.
        written += buffer.len() as u64 + 16;
        let ticket = journal.append(&buffer);
        n += 1;
        // Only so much may wait in memory.
        if n.is_multiple_of(20_000) {
            settled(ticket.wait())?;
        } else {
            last = Some(ticket);
        }
    }
    if let Some(ticket) = last {
        settled(ticket.wait())?;
    }
    if !journal.close(Duration::from_mins(1)) {
        return crate::fail("the journal does not close");
    }
    Ok(n)
}

fn settled(outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Durable(_) | Outcome::Written(_) => Ok(()),
        Outcome::Refused(why) => crate::fail(format!("the journal refuses a record: {why:?}")),
    }
}

fn click(links: &[i64], now: DateTime<Utc>, seed: u64, n: u64) -> NewClick {
    // Over the last minutes, as if the database had been away.
    let at =
        now - TimeDelta::minutes(10) + TimeDelta::microseconds(i64::try_from(n).unwrap_or(0) * 100);
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
    let id = uuid::Builder::from_unix_timestamp_millis(millis, &tail(seed, n)).into_uuid();
    let link = usize::try_from(n % links.len() as u64).unwrap_or(0);
    NewClick {
        id: ClickId(id),
        link_id: LinkId(links[link]),
        app_id: AppId(1),
        at: at.min(now),
        address: Some([198, 51, 100, (n % 250) as u8].into()),
        user_agent: Some(format!(
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/140.0.0.0 Safari/537.36 backlog/{}",
            n % AGENTS
        )),
        referrer: None,
        platform: Platform::Web,
    }
}

/// Bytes that no other click of this backlog has.
fn tail(seed: u64, n: u64) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&seed.to_le_bytes()[..2]);
    bytes[2..].copy_from_slice(&n.to_be_bytes());
    bytes
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)
}
