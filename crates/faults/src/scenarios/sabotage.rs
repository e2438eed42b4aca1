//! Builds that break their promises on purpose. The suite must notice each, or it proves nothing.

use std::time::Duration;

use super::{control, kill, order, power};
use crate::Result;
use crate::report::Report;
use crate::stage::Stage;
use crate::world::Backend;

/// The position is committed before the clicks up to it are stored: a kill between loses them.
pub(super) fn position_early(stage: &mut Stage<'_>) -> Result<()> {
    caught(stage, "position_early", |stage| kill::killed(stage, Backend::Sqlite, 12), loses)
}

/// Some clicks are not handed to the journal at all.
pub(super) fn journal_skipped(stage: &mut Stage<'_>) -> Result<()> {
    caught(stage, "journal_skipped", |stage| control::run(stage, Backend::Sqlite), loses)
}

/// Redirects leave before their clicks are written.
pub(super) fn released_early(stage: &mut Stage<'_>) -> Result<()> {
    caught(stage, "release_before_write", order::run, leaves_early)
}

/// Nothing is synced: only the trace can tell.
pub(super) fn no_fdatasync(stage: &mut Stage<'_>) -> Result<()> {
    caught(stage, "no_fdatasync", order::run, leaves_early)
}

/// Nothing is synced, and the power goes.
pub(super) fn no_fdatasync_and_no_power(stage: &mut Stage<'_>) -> Result<()> {
    caught(stage, "no_fdatasync", |stage| power::cut(stage, 3), loses)
}

fn loses(report: &Report) -> bool {
    report.verdict.as_ref().is_some_and(|verdict| !verdict.lost.is_empty())
}

fn leaves_early(report: &Report) -> bool {
    report.failures.iter().any(|failure| failure.contains(order::TOO_EARLY))
}

/// Runs a scenario with a promise broken; it has to fail, and for the right reason.
fn caught(
    stage: &mut Stage<'_>,
    promise: &'static str,
    scenario: impl FnOnce(&mut Stage<'_>) -> Result<()>,
    is_caught: fn(&Report) -> bool,
) -> Result<()> {
    if stage.settings.sabotaged.is_none() {
        stage.report.unavailable =
            Some("no build with the feature sabotage is named by --sabotaged".to_owned());
        return Ok(());
    }
    stage.sabotage = Some(promise);
    // What is lost will not come, however long one waits.
    stage.drain_limit = Duration::from_secs(10);
    stage.act(format!("the service is told to break a promise: {promise}"));
    let ended = scenario(stage);
    let is_noticed = is_caught(&stage.report);
    let seen = std::mem::take(&mut stage.report.failures);
    for failure in seen {
        let what = if is_noticed { "noticed" } else { "seen" };
        stage.note(format!("{what}: {failure}"));
    }
    if is_noticed {
        return Ok(());
    }
    ended?;
    if stage.report.unavailable.is_none() {
        stage.check(false, "the suite did not notice, so it proves nothing");
    }
    Ok(())
}
