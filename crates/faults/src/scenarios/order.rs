//! No redirect leaves before the `fdatasync` that covers its click. Only a trace can show this:
//! after a crash of the process alone, the page cache still has what was never synced.

use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::ledger::Fate;
use crate::load::Extra;
use crate::stage::Stage;
use crate::trace::{self, Findings};
use crate::world::{Backend, World};

const CALLS: &str = "trace=pwrite64,pwritev,fdatasync,fsync,sendto,writev,sendmsg";
/// The wait is not capped: a redirect may not leave earlier, however slow the disk is.
const SETTINGS: &[(&str, &str)] =
    &[("SIGNPOST_CLICK_DURABILITY", "disk"), ("SIGNPOST_CLICK_MAX_WAIT", "0")];

/// What a redirect that came too early is called in the report.
pub(super) const TOO_EARLY: &str = "redirects left before their clicks were synced";

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    if Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|s| s.success())
    {
        return traced(stage);
    }
    stage.report.unavailable = Some("strace is missing or may not trace; install it".to_owned());
    Ok(())
}

fn traced(stage: &mut Stage<'_>) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let output = directory.path().join("trace");
    let output = output.to_str().ok_or("the temporary directory has no plain name")?;
    // Whole batches have to be seen, as each click is looked for in them.
    let wrapper = ["strace", "-f", "-s", "1100000", "-e", CALLS, "-e", "signal=none", "-o", output];
    let mut world = World::on(stage, Backend::Sqlite, SETTINGS, &wrapper, |_| Ok(None))?;
    // A traced service is slow, and each visit is a proof of its own.
    let load = world.load_at(200, Extra::Nothing);
    let time = stage.settings.either(Duration::from_secs(3), Duration::from_secs(20));
    stage.act(format!("visitors come for {time:?}"));
    std::thread::sleep(time);
    load.stop();
    stage.settle(&world, 0)?;
    world.stop(0)?;
    let trace = String::from_utf8_lossy(&std::fs::read(output)?).into_owned();
    let Findings { seen, early, syncs } = trace::check(&trace, world.ledger.run());
    let entries = world.ledger.entries();
    let redirects = entries.values().filter(|entry| entry.fate == Fate::Answered(302)).count();
    stage.note(format!("{seen} redirects in the trace, {syncs} calls of fdatasync"));
    stage.check(seen == redirects, format!("the trace has {seen} redirects of {redirects}"));
    stage.check(
        early.is_empty(),
        format!("{} {TOO_EARLY}; the first: {:?}", early.len(), &early[..early.len().min(3)]),
    );
    Ok(())
}
