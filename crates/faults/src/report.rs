//! What a scenario has to tell, for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::oracle::Verdict;

/// How a scenario ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Passed,
    Failed,
    /// This machine lacks something that the scenario needs; nothing was proven.
    Unavailable,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "FAIL",
            Self::Unavailable => "UNAVAILABLE",
        }
    }
}

/// The middle, the 99th percentile and the longest of some times.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Latency {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

impl Latency {
    pub(crate) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        Some(Self { p50: times[last / 2], p99: times[last * 99 / 100], max: times[last] })
    }
}

/// What a scenario has to tell.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) took: Duration,
    /// What was done, and when.
    pub(crate) schedule: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) failures: Vec<String>,
    pub(crate) unavailable: Option<String>,
    pub(crate) verdict: Option<Verdict>,
    /// How many clicks were lost on purpose and are accounted for, so that only others count.
    pub(crate) expected_lost: usize,
    pub(crate) latency: Option<Latency>,
}

impl Report {
    pub(crate) fn state(&self) -> State {
        if !self.failures.is_empty() {
            State::Failed
        } else if self.unavailable.is_some() {
            State::Unavailable
        } else {
            State::Passed
        }
    }

    /// One line of the table, and what is worth knowing below it.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("{:<20} {:<12}", self.name, self.state().name());
        match &self.verdict {
            Some(v) => {
                let _ = write!(
                    line,
                    "{:>8} {:>8} {:>6} {:>6} {:>8} {:>6}",
                    v.acked,
                    v.rows,
                    v.lost.len(),
                    v.duplicated,
                    v.phantom,
                    v.difference
                );
            }
            None => line.push_str(&" ".repeat(47)),
        }
        let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
        let latency = self.latency.unwrap_or_default();
        let _ = write!(
            line,
            " {:>8} {:>8} {:>9} {:>7.0}",
            ms(latency.p50),
            ms(latency.p99),
            ms(latency.max),
            self.took.as_secs_f64()
        );
        for text in self.unavailable.iter().chain(&self.failures) {
            let _ = write!(line, "\n    ! {}", text.replace('\n', "\n      "));
        }
        for note in &self.notes {
            let _ = write!(line, "\n    {note}");
        }
        line
    }

    pub(crate) fn head() -> String {
        format!(
            "{:<20} {:<12}{:>8} {:>8} {:>6} {:>6} {:>8} {:>6} {:>8} {:>8} {:>9} {:>7}",
            "scenario",
            "result",
            "302s",
            "stored",
            "lost",
            "twice",
            "phantom",
            "diff",
            "p50 ms",
            "p99 ms",
            "max ms",
            "took s"
        )
    }

    pub(crate) fn json(&self) -> Value {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        json!({
            "name": self.name,
            "result": self.state().name().to_lowercase(),
            "seed": self.seed,
            "tookMs": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "schedule": self.schedule,
            "notes": self.notes,
            "failures": self.failures,
            "unavailable": self.unavailable,
            "expectedLost": self.expected_lost,
            "ledger": self.verdict.as_ref().map(|v| json!({
                "redirects": v.acked,
                "unanswered": v.unanswered,
                "refused": v.refused,
                "rows": v.rows,
                "lost": v.lost.len(),
                "duplicated": v.duplicated,
                "phantom": v.phantom,
                "counterDifference": v.difference,
            })),
            "latencyMicros": self.latency.map(|latency| json!({
                "p50": micros(latency.p50), "p99": micros(latency.p99), "max": micros(latency.max),
            })),
        })
    }
}
