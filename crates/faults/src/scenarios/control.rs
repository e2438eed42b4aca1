//! Nothing goes wrong. Without this nothing else would prove anything.

use std::time::Duration;

use crate::Result;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

pub(super) fn run(stage: &mut Stage<'_>, backend: Backend) -> Result<()> {
    let mut world = World::build(stage, backend, &[])?;
    let load = world.load(stage, Extra::Nothing);
    let time = stage.settings.either(Duration::from_secs(5), Duration::from_secs(30));
    stage.act(format!("visitors come for {time:?}"));
    std::thread::sleep(time);
    load.stop();
    stage.settle(&world, 0)?;
    stage.act("SIGTERM");
    world.stop(0)
}
