//! `kill -9` at random moments under load.

use std::time::Duration;

use crate::Result;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How soon the service serves again without a backlog worth the name.
const READY: Duration = Duration::from_secs(2);

pub(super) fn run(stage: &mut Stage<'_>, backend: Backend) -> Result<()> {
    let times = stage.settings.either(5, 50);
    killed(stage, backend, times)
}

/// Kills the service so many times.
pub(super) fn killed(stage: &mut Stage<'_>, backend: Backend, times: usize) -> Result<()> {
    let mut world = World::build(stage, backend, &[])?;
    let load = world.load(stage, Extra::Nothing);
    let mut slowest = Duration::ZERO;
    for n in 1..=times {
        let pause = stage.random.millis(100..1500);
        std::thread::sleep(pause);
        stage.act(format!("kill -9, number {n}, after {pause:?}"));
        world.kill(0);
        let ready = world.start(0)?;
        stage.act(format!("ready again after {ready:?}"));
        slowest = slowest.max(ready);
    }
    std::thread::sleep(Duration::from_secs(1));
    load.stop();
    stage.note(format!("killed {times} times; ready again within {slowest:?}"));
    stage.check(slowest <= READY, format!("a restart took {slowest:?}, more than {READY:?}"));
    stage.settle(&world, 0)
}
