//! The journal's files are damaged between two starts: exactly the damaged records are missing.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Result;
use crate::ledger::Fate;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How many records are damaged.
const DAMAGED: usize = 3;

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(1));
    // From here on nothing leaves the journal.
    world.cluster().stop()?;
    stage.act("Postgres is away");
    let since = world.ledger.now();
    std::thread::sleep(Duration::from_secs(3));
    load.stop();
    world.kill(0);
    stage.act("kill -9");
    let chosen = choose(stage, &world, since);
    for seq in &chosen {
        let at = flip(&world.journal(0), &format!("lg/{}/{seq}.", world.ledger.run()))?;
        stage.act(format!("flipped a bit of click {seq} in {}", at.display()));
    }
    let at = tear(&world.journal(0))?;
    stage.act(format!("wrote what is no record behind the last one in {}", at.display()));
    let found = signpost_journal::verify(&world.journal(0))?;
    stage.note(format!(
        "the journal says of itself: {} records, {} damaged places",
        found.records,
        found.damage.len()
    ));
    world.cluster().resume()?;
    world.start(0)?;
    stage.act("started again");
    stage.settle(&world, DAMAGED)?;
    let lost = stage.report.verdict.as_ref().map(|verdict| verdict.lost.clone());
    stage.check(
        lost.as_ref() == Some(&chosen),
        format!("lost are {lost:?}, and damaged were {chosen:?}"),
    );
    stage.check(
        world.node(0).log().contains("the journal is damaged"),
        "the log says nothing of the damage",
    );
    stage.check(world.node(0).log().contains("torn"), "the log says nothing of the torn tail");
    // The service goes on behind the damage.
    let before = world.stored()?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(1));
    load.stop();
    stage.settle(&world, DAMAGED)?;
    stage.check(world.stored()? > before, "nothing is recorded after the damage");
    Ok(())
}

/// Clicks that are in the journal only, and neither among the last nor next to each other.
fn choose(stage: &mut Stage<'_>, world: &World, since: Duration) -> BTreeSet<u64> {
    let entries = world.ledger.entries();
    let since = since + Duration::from_millis(500);
    let waiting: Vec<u64> = entries
        .values()
        .filter(|entry| entry.fate == Fate::Answered(302) && entry.at >= since)
        .map(|entry| entry.seq)
        .collect();
    let part = (waiting.len() / (DAMAGED + 1)).max(2);
    let chosen = (0..DAMAGED).filter_map(|n| {
        let within = stage.random.within(0..part as u64 - 1);
        waiting.get(n * part + usize::try_from(within).unwrap_or(0)).copied()
    });
    chosen.collect()
}

/// Flips a bit of a record.
fn flip(journal: &Path, text: &str) -> Result<PathBuf> {
    for path in segments(journal)? {
        let bytes = std::fs::read(&path)?;
        if let Some(at) = bytes.windows(text.len()).position(|window| window == text.as_bytes()) {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.write_all_at(&[bytes[at] ^ 0x10], at as u64)?;
            return Ok(path);
        }
    }
    crate::fail(format!("{text} is in no segment"))
}

/// Leaves behind the last record what a torn write would.
fn tear(journal: &Path) -> Result<PathBuf> {
    let mut newest = None;
    for path in segments(journal)? {
        let bytes = std::fs::read(&path)?;
        // A header ends before its 64th byte, so records make a file longer than that.
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if end > 64 {
            newest = Some((path, end));
        }
    }
    let (path, end) = newest.ok_or("the journal has no records")?;
    let torn: Vec<u8> = (1..=255).cycle().take(777).collect();
    OpenOptions::new().write(true).open(&path)?.write_all_at(&torn, end as u64)?;
    Ok(path)
}

/// The journal's segments, the oldest first.
fn segments(journal: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(journal)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "seg"));
    paths.sort();
    Ok(paths)
}
