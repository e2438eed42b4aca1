//! The database refuses some clicks: they are set aside with the reason, and the rest goes on.

use std::time::{Duration, Instant};

use crate::Result;
use crate::ledger::Fate;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// One click in so many is refused.
const EVERY: u64 = 97;
/// How soon the rest of a batch is stored.
const REST: Duration = Duration::from_secs(10);

const SQLITE: &str = "CREATE TRIGGER poison BEFORE INSERT ON clicks \
    WHEN NEW.referrer LIKE 'https://poison.example/%' \
    BEGIN SELECT RAISE(ABORT, 'this click is poison'); END";
const POSTGRES: &str = "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF NEW.referrer LIKE 'https://poison.example/%' THEN RAISE EXCEPTION 'this click is poison'; END IF; \
    RETURN NEW; END $$; \
    CREATE TRIGGER poison BEFORE INSERT ON clicks FOR EACH ROW EXECUTE FUNCTION poison()";

const SQLITE_END: &str = "DROP TRIGGER poison";
const POSTGRES_END: &str = "DROP TRIGGER poison ON clicks; DROP FUNCTION poison";

pub(super) fn run(stage: &mut Stage<'_>, backend: Backend) -> Result<()> {
    let world = World::build(stage, backend, &[])?;
    world.execute(if backend == Backend::Sqlite { SQLITE } else { POSTGRES })?;
    stage.act(format!("the database refuses every {EVERY}th click"));
    let load = world.load(stage, Extra::Poison(EVERY));
    std::thread::sleep(stage.settings.either(Duration::from_secs(5), Duration::from_secs(20)));
    load.stop();
    let entries = world.ledger.entries();
    let redirects = entries.values().filter(|entry| entry.fate == Fate::Answered(302));
    let poison = redirects.filter(|entry| entry.seq.is_multiple_of(EVERY)).count();
    let begun = Instant::now();
    world.drain(world.ledger.redirects() - poison, stage.drain_limit)?;
    stage.check(
        begun.elapsed() <= REST,
        format!("the rest was stored after {:?} only", begun.elapsed()),
    );
    stage.settle(&world, poison)?;
    let lost = stage.report.verdict.iter().flat_map(|verdict| verdict.lost.iter());
    let others = lost.filter(|seq| !seq.is_multiple_of(EVERY)).count();
    stage.check(others == 0, format!("{others} clicks are lost that the database did not refuse"));
    let letters = std::fs::read_to_string(world.journal(0).join("dead-letters.jsonl"));
    let letters = letters.unwrap_or_default();
    let reasons = letters.lines().filter(|line| line.contains("this click is poison")).count();
    stage.note(format!("{reasons} clicks were set aside"));
    stage.check(
        reasons == poison,
        format!("{reasons} clicks were set aside with the reason, not {poison}"),
    );
    world.execute(if backend == Backend::Sqlite { SQLITE_END } else { POSTGRES_END })?;
    stage.act("the database refuses nothing any more");
    let replay = world.setups[0].command().args(["journal", "replay"]).output()?;
    let said = String::from_utf8_lossy(&replay.stdout);
    stage.note(format!("signpost journal replay: {}", said.trim()));
    stage.check(replay.status.success(), format!("the replay ended with {}", replay.status));
    stage.settle(&world, 0)
}
