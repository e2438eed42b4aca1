//! Two nodes on one Postgres.

use std::time::{Duration, Instant};

use crate::Result;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How soon a node sees what was changed on the other.
const SEEN: Duration = Duration::from_secs(1);

pub(super) fn run(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    world.add_node(stage, &[], &[])?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(1));
    for n in 0..stage.settings.either(4, 20) {
        let number = n % 2;
        stage.act(format!("kill -9 of node {number}"));
        world.kill(number);
        std::thread::sleep(stage.random.millis(100..1000));
        let ready = world.start(number)?;
        stage.act(format!("node {number} is ready again after {ready:?}"));
        std::thread::sleep(stage.random.millis(200..1000));
    }
    let mut slowest = Duration::ZERO;
    for n in 0..stage.settings.either(10, 50) {
        slowest = slowest.max(change(stage, &world, n % 2, n)?);
    }
    stage.note(format!("changes were seen by the other node within {slowest:?}"));
    load.stop();
    stage.settle(&world, 0)
}

/// Changes a link on one node, then deletes it; answers how long the other took to see it.
fn change(stage: &mut Stage<'_>, world: &World, here: usize, n: usize) -> Result<Duration> {
    let there = 1 - here;
    let code = format!("changing-{n}");
    world.create(&code)?;
    // HEAD is answered as GET and is no click.
    let visit = || world.node(there).ask("HEAD", &format!("/{code}"), &[], "");
    visit()?;
    let path = format!("/api/v1/public/links/{code}");
    let new = format!("https://new.example/{n}");
    let body = format!(r#"{{"webRedirectUrl":"{new}"}}"#);
    let put = world.api(here, "PUT", &path, &body)?.status;
    stage.check(put == 200, format!("an update was answered {put}"));
    let updated = seen(|| Ok(visit()?.header("location") == Some(new.as_str())))?;
    stage.check(updated <= SEEN, format!("the other node saw an update after {updated:?}"));
    let deleted = world.api(here, "DELETE", &path, "")?.status;
    stage.check(deleted == 204, format!("a deletion was answered {deleted}"));
    let gone = seen(|| Ok(visit()?.status == 404))?;
    stage.check(gone <= SEEN, format!("the other node saw a deletion after {gone:?}"));
    Ok(updated.max(gone))
}

fn seen(is_so: impl Fn() -> Result<bool>) -> Result<Duration> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > Duration::from_secs(30) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(begun.elapsed())
}
