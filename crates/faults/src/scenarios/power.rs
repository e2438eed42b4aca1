//! The power goes: the disk keeps what was synced, and nothing of what only memory had.
//!
//! The data directory is on a disk in a file. What the service's file system has not written yet is
//! not in that file, so a copy of it is what a power cut would leave.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::Result;
use crate::cleanup::signal;
use crate::cluster::{is_root, run as run_command};
use crate::disk::Mount;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

const SETTINGS: &[(&str, &str)] =
    &[("SIGNPOST_CLICK_DURABILITY", "disk"), ("SIGNPOST_CLICK_MAX_WAIT", "0")];
const MEGABYTES: u64 = 384;

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    let cuts = stage.settings.either(5, 50);
    cut(stage, cuts)
}

/// Cuts the power so many times.
pub(super) fn cut(stage: &mut Stage<'_>, cuts: usize) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let image = directory.path().join("disk");
    let mut why = None;
    let built = World::on(stage, Backend::Sqlite, SETTINGS, &[], |data_dir| {
        if !is_root() {
            why = Some("mounting a disk in a file needs root".to_owned());
            return Ok(None);
        }
        Mount::in_image(data_dir, &image, MEGABYTES).map(Some).or_else(|error| {
            why = Some(format!("no disk in a file can be mounted here: {error}"));
            Ok(None)
        })
    });
    if why.is_some() {
        stage.report.unavailable = why;
        return Ok(());
    }
    let mut world = built?;
    if stage.sabotage.is_some() {
        // A service that syncs nothing loses even its journal's name, and would not start again.
        // What it loses of its clicks is the point.
        run_command(Command::new("sync").arg("-f").arg(&world.setups[0].data_dir))?;
    }
    let load = world.load(stage, Extra::Nothing);
    for n in 1..=cuts {
        let pause = stage.random.millis(200..2000);
        std::thread::sleep(pause);
        // Stopped and not killed: a process that ends closes its files, which may write.
        signal(world.node(0).pid(), Signal::STOP);
        stage.act(format!("power cut {n}, after {pause:?}"));
        let snapshot = directory.path().join("snapshot");
        let mount = world.mount.take().ok_or("the disk is mounted")?;
        mount.snapshot(&snapshot)?;
        world.kill(0);
        world.mount = Some(mount.replace(&snapshot)?);
        let ready = world.start(0)?;
        stage.act(format!("ready again after {ready:?}"));
    }
    std::thread::sleep(Duration::from_secs(1));
    load.stop();
    stage.note(format!("the power was cut {cuts} times"));
    stage.settle(&world, 0)
}
