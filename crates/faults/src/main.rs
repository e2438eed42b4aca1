//! Breaks what Signpost stands on while visitors come, and counts the clicks afterwards.
//!
//! The scenarios and how to read what they print: `docs/faults.md`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line's way to speak")]

mod args;
mod cleanup;
mod cluster;
mod disk;
mod http;
mod ledger;
mod load;
mod node;
mod oracle;
mod random;
mod report;
mod scenarios;
mod stage;
mod trace;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use crate::args::{Command, USAGE};
use crate::report::{Report, State};
use crate::scenarios::{SCENARIOS, Scenario};
use crate::stage::{Settings, Stage};

/// What a scenario can't go on after.
pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error that says this.
pub(crate) fn fail<T>(why: impl Into<String>) -> Result<T> {
    Err(why.into().into())
}

fn main() -> ExitCode {
    match args::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Command::List) => {
            for scenario in SCENARIOS {
                println!("{:<20} {}", scenario.name, scenario.about);
            }
            ExitCode::SUCCESS
        }
        Ok(Command::Run { settings, scenarios, is_json }) => {
            cleanup::on_signals();
            let reports = run_all(&settings, &scenarios, is_json);
            cleanup::sweep();
            conclude(&reports, is_json)
        }
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            ExitCode::from(64)
        }
    }
}

fn run_all(settings: &Settings, scenarios: &[&Scenario], is_json: bool) -> Vec<Report> {
    if !is_json {
        let length = settings.either("quick", "full");
        println!("{}, seed {}, {length}", settings.binary.display(), settings.seed);
        println!("{}", Report::head());
    }
    let mut reports = Vec::new();
    for scenario in scenarios {
        let report = run(settings, scenario);
        if !is_json {
            println!("{}", report.line());
            if report.state() == State::Failed {
                report.schedule.iter().for_each(|line| println!("    {line}"));
            }
        }
        reports.push(report);
    }
    reports
}

fn run(settings: &Settings, scenario: &Scenario) -> Report {
    let begun = Instant::now();
    let mut stage = Stage::new(settings, scenario.name);
    let ended = catch_unwind(AssertUnwindSafe(|| (scenario.run)(&mut stage)));
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => stage.check(false, error.to_string()),
        Err(_) => stage.check(false, "the suite itself has panicked; its message is above"),
    }
    cleanup::sweep();
    stage.report.took = begun.elapsed();
    stage.report
}

fn conclude(reports: &[Report], is_json: bool) -> ExitCode {
    let count = |state| reports.iter().filter(|report| report.state() == state).count();
    let (passed, failed) = (count(State::Passed), count(State::Failed));
    let unavailable = count(State::Unavailable);
    if is_json {
        let scenarios: Vec<_> = reports.iter().map(Report::json).collect();
        println!("{:#}", serde_json::json!({ "scenarios": scenarios }));
    } else {
        println!("\n{passed} passed, {failed} failed, {unavailable} could not be run");
    }
    // What could not be run is not proven, and must not look as if it were.
    if failed > 0 {
        ExitCode::from(1)
    } else if unavailable > 0 {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    }
}
