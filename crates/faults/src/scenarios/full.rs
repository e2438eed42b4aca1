//! The disk is full: visitors are sent on, what is lost is counted, and room heals it.

use std::time::{Duration, Instant};

use crate::Result;
use crate::cluster::is_root;
use crate::disk::Mount;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// Room for one segment of the journal and not for the one that is prepared behind it.
const MEGABYTES: u32 = 40;
/// How long filling a segment may take.
const FILLING: Duration = Duration::from_mins(5);
/// Enough to fill a segment soon.
const RATE: u64 = 3000;

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    if !is_root() {
        stage.report.unavailable = Some("mounting a small file system needs root".to_owned());
        return Ok(());
    }
    let world = World::on(stage, Backend::Postgres, &[], &[], |data_dir| {
        Mount::in_memory(data_dir, MEGABYTES).map(Some)
    })?;
    let dropped = || world.node(0).metric("clicks_dropped_total").unwrap_or(0.0);
    let load = world.load_at(RATE, Extra::Much);
    std::thread::sleep(Duration::from_secs(1));
    // Or the journal would make room by itself, as soon as a segment is loaded.
    world.cluster().stop()?;
    stage.act("Postgres is away");
    let begun = Instant::now();
    while dropped() == 0.0 {
        if begun.elapsed() > FILLING {
            return crate::fail(format!("the disk is not full after {FILLING:?}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    stage.act(format!("the disk is full after {:?}", begun.elapsed()));
    std::thread::sleep(Duration::from_secs(3));
    let ready = world.node(0).ask("GET", "/readyz", &[], "")?;
    let state = ready.json();
    stage.check(
        state["status"] == "degraded" && state["journal"] == false,
        format!("while clicks are lost /readyz is answered {} {}", ready.status, ready.body),
    );
    let told = world.node(0).log().contains("clicks are being lost");
    stage.check(told, "the log says nothing of the loss");
    world.mount.as_ref().ok_or("the disk is mounted")?.grow(8 * MEGABYTES)?;
    stage.act("there is room again");
    heal(stage, dropped);
    world.cluster().resume()?;
    stage.act("Postgres is back");
    std::thread::sleep(Duration::from_secs(2));
    load.stop();
    let statuses = world.ledger.statuses(Duration::ZERO, Duration::MAX);
    let is_all = statuses.keys().all(|status| status == "302");
    stage.check(is_all, format!("not all were redirected: {statuses:?}"));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of clicks that has passed through a text"
    )]
    let counted = dropped() as usize;
    stage.note(format!("{counted} clicks were counted as lost"));
    stage.settle(&world, counted)
}

/// Waits until clicks are no longer lost.
fn heal(stage: &mut Stage<'_>, dropped: impl Fn() -> f64) {
    let begun = Instant::now();
    let mut last = dropped();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = dropped();
        if now <= last {
            break;
        }
        last = now;
        if begun.elapsed() > Duration::from_secs(30) {
            stage.check(false, "clicks are still being lost though there is room");
            return;
        }
    }
    stage.note(format!("clicks were recorded again within {:?}", begun.elapsed()));
}
