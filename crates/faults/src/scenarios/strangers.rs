//! Who has no business with a journal is refused: a second process, and a copy.

use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::cluster::run as run_command;
use crate::load::Extra;
use crate::node::{Node, Setup, free_address};
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How soon a refusal is told.
const TOLD: Duration = Duration::from_secs(10);

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(1));
    stage.act("a second process on the same data directory");
    let second = elsewhere(stage, &world, &world.setups[0].data_dir.clone(), "second")?;
    refused(stage, &second, "in use by another process")?;
    load.stop();
    stage.settle(&world, 0)?;
    world.stop(0)?;
    stage.act("a process on a copy of the data directory");
    let copy = world.path("copy");
    run_command(Command::new("cp").arg("-a").arg(&world.setups[0].data_dir).arg(&copy))?;
    let copied = elsewhere(stage, &world, &copy, "copied")?;
    refused(stage, &copied, "is a copy")?;
    stage.act("the original again");
    world.start(0)?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(1));
    load.stop();
    stage.settle(&world, 0)
}

/// The first node's setup with another data directory and addresses of its own.
fn elsewhere(
    stage: &mut Stage<'_>,
    world: &World,
    data_dir: &std::path::Path,
    log: &str,
) -> Result<Setup> {
    Ok(Setup {
        data_dir: data_dir.to_owned(),
        listen: free_address(&mut stage.random)?,
        metrics: free_address(&mut stage.random)?,
        log: world.path(log),
        ..world.setups[0].clone()
    })
}

fn refused(stage: &mut Stage<'_>, setup: &Setup, because: &str) -> Result<()> {
    let mut node = Node::start(setup)?;
    let ended = node.wait_end(TOLD)?;
    let log = node.log();
    match ended {
        None => stage.check(false, format!("it is still running after {TOLD:?}")),
        Some(status) => stage.check(!status.success(), "it ended as if nothing were wrong"),
    }
    stage.check(
        log.contains(because),
        format!("its message does not say \"{because}\": {}", log.trim()),
    );
    if let Some(line) = log.lines().find(|line| line.contains(because)) {
        stage.note(format!("refused: {}", line.trim()));
    }
    Ok(())
}
