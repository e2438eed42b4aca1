//! The database is away: crashed, or alive and silent.

use std::time::{Duration, Instant};

use crate::Result;
use crate::load::Extra;
use crate::stage::Stage;
use crate::world::{Backend, World};

/// How soon a visit that needs the database is given up.
const GIVE_UP: Duration = Duration::from_secs(1);
/// How soon the backlog of an outage is stored.
const CATCH_UP: Duration = Duration::from_secs(30);

/// Postgres crashes and comes back, ten times, the last time for long.
pub(super) fn stopped(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(2));
    let times = 10;
    for n in 1..=times {
        let pause = match n {
            10 => stage.settings.either(Duration::from_secs(20), Duration::from_mins(10)),
            _ => stage.random.millis(500..4000),
        };
        stage.act(format!("outage {n}, for {pause:?}"));
        let since = world.ledger.now();
        world.cluster().stop()?;
        without_database(stage, &mut world, pause)?;
        all_redirected(stage, &world, since);
        world.cluster().resume()?;
        stage.act("Postgres is back");
        std::thread::sleep(stage.random.millis(500..2500));
    }
    after(stage, &mut world, load)
}

/// Every process of Postgres is frozen: connections stay open, and nothing answers.
pub(super) fn frozen(stage: &mut Stage<'_>) -> Result<()> {
    let mut world = World::build(stage, Backend::Postgres, &[])?;
    let load = world.load(stage, Extra::Nothing);
    std::thread::sleep(Duration::from_secs(2));
    let threads = world.node(0).threads();
    for n in 1..=2 {
        let pause = stage.settings.either(Duration::from_secs(10), Duration::from_secs(30));
        let since = world.ledger.now();
        let frozen = world.cluster().freeze();
        stage.act(format!("hang {n}: {frozen} processes frozen for {pause:?}"));
        let seen = without_database(stage, &mut world, pause);
        all_redirected(stage, &world, since);
        world.cluster().thaw();
        seen?;
        stage.act("Postgres goes on");
        std::thread::sleep(Duration::from_secs(2));
    }
    after(stage, &mut world, load)?;
    // Threads that waited for the database end when they have had nothing to do for a while.
    let begun = Instant::now();
    while world.node(0).threads() > threads && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(200));
    }
    let now = world.node(0).threads();
    stage.note(format!("{threads} threads before, {now} after"));
    stage.check(now <= threads + 2, format!("threads leak: {threads} before, {now} after"));
    Ok(())
}

/// What has to be so while the database is away, at once and to the end.
fn without_database(stage: &mut Stage<'_>, world: &mut World, pause: Duration) -> Result<()> {
    let begun = Instant::now();
    loop {
        let cold = world.cold.pop().ok_or("all cold links were followed")?;
        let asked = Instant::now();
        let answer =
            world.node(0).ask("GET", &format!("/{cold}"), &[("Accept", "application/json")], "")?;
        let took = asked.elapsed();
        stage.check(
            answer.status == 503
                && answer
                    .header("content-type")
                    .is_some_and(|t| t.starts_with("application/problem+json")),
            format!(
                "a visit that needs the database was answered {}: {}",
                answer.status, answer.body
            ),
        );
        stage.check(took <= GIVE_UP, format!("a visit that needs the database took {took:?}"));
        let live = world.node(0).status("/livez");
        stage.check(live == Some(200), format!("/livez was answered {live:?}"));
        let ready = world.node(0).ask("GET", "/readyz", &[], "")?;
        stage.check(
            ready.json()["status"] == "degraded",
            format!("/readyz was answered {} {}", ready.status, ready.body),
        );
        if begun.elapsed() >= pause {
            return Ok(());
        }
        // At the beginning and at the end, and some times between.
        let left = pause.saturating_sub(begun.elapsed());
        std::thread::sleep(left.min((pause / 3).max(Duration::from_millis(200))));
    }
}

/// Redirects of links in memory go on as if nothing were.
fn all_redirected(stage: &mut Stage<'_>, world: &World, since: Duration) {
    let statuses = world.ledger.statuses(since, world.ledger.now());
    let others: Vec<_> = statuses.iter().filter(|(status, _)| *status != "302").collect();
    stage.check(others.is_empty(), format!("not redirected during the outage: {others:?}"));
    stage.check(statuses.contains_key("302"), "nobody was redirected during the outage");
}

fn after(stage: &mut Stage<'_>, world: &mut World, load: crate::load::Load) -> Result<()> {
    let node = world.nodes[0].as_mut().ok_or("the node runs")?;
    node.wait_ready(Duration::from_hours(1))?;
    load.stop();
    let begun = Instant::now();
    world.drain(world.ledger.redirects(), stage.drain_limit)?;
    let took = begun.elapsed();
    stage.check(took <= CATCH_UP, format!("the backlog took {took:?} to be stored"));
    // What could not be had during the outage can be had now.
    let cold = world.cold.pop().ok_or("all cold links were followed")?;
    let head = world.node(0).ask("HEAD", &format!("/{cold}"), &[], "")?.status;
    stage.check(
        head == 302,
        format!("a link that is in no memory is answered {head} after the outage"),
    );
    stage.settle(world, 0)
}
