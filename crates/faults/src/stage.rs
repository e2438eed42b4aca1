//! Where a scenario plays: its settings, its random numbers and its report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Result;
use crate::node::last_words;
use crate::random::Random;
use crate::report::Report;
use crate::world::World;

/// What the command line says.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) binary: PathBuf,
    /// A build that can be told to break its promises.
    pub(crate) sabotaged: Option<PathBuf>,
    /// As long as a release deserves, instead of as short as it makes sense.
    pub(crate) is_full: bool,
    pub(crate) seed: u64,
    /// Visits a second.
    pub(crate) rate: u64,
    /// Whether to tell what happens while it happens.
    pub(crate) is_loud: bool,
}

impl Settings {
    /// One of two values, by how long the suite may take.
    pub(crate) fn either<T>(&self, quick: T, full: T) -> T {
        if self.is_full { full } else { quick }
    }
}

/// Where a scenario plays.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) random: Random,
    pub(crate) report: Report,
    /// The promise that the service is to break.
    pub(crate) sabotage: Option<&'static str>,
    /// How long the backlog may take to be loaded.
    pub(crate) drain_limit: Duration,
    begun: Instant,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(settings: &'a Settings, name: &str) -> Self {
        // A scenario has the same schedule whether it runs alone or among others.
        let own = name
            .bytes()
            .fold(settings.seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let report = Report { name: name.to_owned(), seed: settings.seed, ..Report::default() };
        Self {
            settings,
            random: Random::new(own),
            report,
            sabotage: None,
            drain_limit: Duration::from_mins(1),
            begun: Instant::now(),
        }
    }

    /// The build that is put to the test.
    pub(crate) fn binary(&self) -> &Path {
        match (&self.sabotage, &self.settings.sabotaged) {
            (Some(_), Some(sabotaged)) => sabotaged,
            _ => &self.settings.binary,
        }
    }

    /// Writes down what is done.
    pub(crate) fn act(&mut self, what: impl Into<String>) {
        let line = format!("{:>8.3} s  {}", self.begun.elapsed().as_secs_f64(), what.into());
        self.tell(&line);
        self.report.schedule.push(line);
    }

    /// Writes down what was seen.
    pub(crate) fn note(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.tell(&what);
        self.report.notes.push(what);
    }

    /// Writes down what is wrong, unless it is right.
    pub(crate) fn check(&mut self, is_right: bool, otherwise: impl Into<String>) {
        if !is_right {
            let otherwise = otherwise.into();
            self.tell(&format!("! {otherwise}"));
            // The same thing a hundred times helps nobody.
            if self.report.failures.len() < 10 {
                self.report.failures.push(otherwise);
            }
        }
    }

    /// Waits until everything is loaded and lets the oracle judge; nothing may be wrong but the
    /// `expected` losses.
    pub(crate) fn settle(&mut self, world: &World, expected: usize) -> Result<()> {
        let acked = world.ledger.redirects();
        let took = world.drain(acked.saturating_sub(expected), self.drain_limit)?;
        let verdict = world.judge()?;
        self.report.expected_lost = expected;
        self.report.latency = world.latency();
        self.note(format!(
            "the rest was stored within {:.1} s; not answered {}, answered otherwise {}",
            took.as_secs_f64(),
            verdict.unanswered,
            verdict.refused
        ));
        self.check(verdict.acked > 0, "no redirect was answered, so nothing was proven");
        let lost = verdict.lost.len();
        self.check(
            lost == expected,
            format!(
                "{lost} clicks are lost, {expected} may be; the first: {:?}",
                verdict.lost.iter().take(5).collect::<Vec<_>>()
            ),
        );
        self.check(
            verdict.duplicated == 0,
            format!("{} clicks are stored twice", verdict.duplicated),
        );
        self.check(verdict.phantom == 0, format!("{} clicks were never sent", verdict.phantom));
        let difference = verdict.difference;
        self.check(difference == 0, format!("the counters differ from the clicks by {difference}"));
        if !self.report.failures.is_empty() {
            for setup in &world.setups {
                let words = last_words(&setup.log);
                if !words.is_empty() {
                    self.note(format!(
                        "the service said last:\n      {}",
                        words.replace('\n', "\n      ")
                    ));
                }
            }
        }
        self.report.verdict = Some(verdict);
        Ok(())
    }

    fn tell(&self, line: &str) {
        if self.settings.is_loud {
            eprintln!("  {}: {line}", self.report.name);
        }
    }
}
