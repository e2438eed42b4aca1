//! What the service and its database say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use signpost_adapters::testing;

use super::World;
use crate::ledger::Fate;
use crate::oracle::{Counters, Row, Verdict, judge};
use crate::report::Latency;
use crate::{Result, fail};

impl World {
    /// Asks the Public API of a node.
    pub(crate) fn api(
        &self,
        node: usize,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<crate::http::Answer> {
        let bearer = format!("Bearer {}", self.secrets.key);
        Ok(self.node(node).ask(method, path, &[("Authorization", &bearer)], body)?)
    }

    /// Creates a link.
    pub(crate) fn create(&self, code: &str) -> Result<()> {
        let body = format!(
            r#"{{"shortCode":"{code}","payload":{{}},"webRedirectUrl":"https://web.example/{code}"}}"#
        );
        let answer = self.api(0, "POST", "/api/v1/public/links", &body)?;
        match answer.status {
            201 => Ok(()),
            status => fail(format!("creating {code} was answered {status}: {}", answer.body)),
        }
    }

    /// Asks the database a query that answers lines.
    pub(crate) fn lines(&self, query: &str) -> Result<Vec<String>> {
        testing::lines(&self.setups[0].database_url, query)
    }

    /// Runs SQL in the database.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        testing::execute(&self.setups[0].database_url, sql)
    }

    /// How many clicks of the load are stored.
    pub(crate) fn stored(&self) -> Result<usize> {
        let query = "SELECT CAST(COUNT(*) AS TEXT) AS line FROM clicks";
        let lines = self.lines(query)?;
        Ok(lines.first().and_then(|line| line.parse().ok()).unwrap_or(0))
    }

    /// Waits until `expected` clicks are stored, and no more come; answers how long the first took.
    /// Goes on without an error when time is up: the oracle will find what is missing.
    pub(crate) fn drain(&self, expected: usize, limit: Duration) -> Result<Duration> {
        let begun = Instant::now();
        let (mut seen, mut since, mut enough) = (0, Instant::now(), None);
        loop {
            let stored = self.stored()?;
            if stored != seen {
                (seen, since) = (stored, Instant::now());
            }
            if stored >= expected {
                enough.get_or_insert(begun.elapsed());
            }
            let is_calm = since.elapsed() > Duration::from_millis(1500);
            if let Some(took) = enough.filter(|_| is_calm) {
                return Ok(took);
            }
            if begun.elapsed() > limit {
                return Ok(begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// What the Admin API counts for some links.
    pub(crate) fn counted(
        &self,
        node: usize,
        codes: &[String],
    ) -> Result<BTreeMap<String, Counters>> {
        let body = serde_json::json!({
            "email": self.secrets.admin, "password": self.secrets.password,
        });
        let session =
            self.node(node).ask("POST", "/api/v1/admin/sessions", &[], &body.to_string())?;
        let token = session.json()["accessToken"].as_str().map(|token| format!("Bearer {token}"));
        let token = token.ok_or_else(|| format!("signing in was answered {}", session.status))?;
        let mut counted = BTreeMap::new();
        for code in codes {
            let path = format!("/api/v1/admin/links/{code}/stats");
            let answer = self.node(node).ask("GET", &path, &[("Authorization", &token)], "")?;
            if answer.status != 200 {
                return fail(format!("{path} was answered {}: {}", answer.status, answer.body));
            }
            let stats = answer.json();
            let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
            let series = stats["series"].as_array().into_iter().flatten();
            let mut counters = Counters::from([(
                "days".to_owned(),
                series.map(|day| number(&day["clicks"])).sum(),
            )]);
            for platform in ["ios", "android", "web"] {
                counters.insert(platform.to_owned(), number(&stats["platforms"][platform]));
            }
            counted.insert(code.clone(), counters);
        }
        Ok(counted)
    }

    /// Holds the ledger against the database and the statistics of a node.
    pub(crate) fn judge(&self) -> Result<Verdict> {
        self.ledger.sync()?;
        let mut query = Row::QUERY.to_owned();
        // Clicks that a scenario has put there itself are its own to judge.
        let _ = write!(query, " WHERE COALESCE(l.short_code, '-') NOT LIKE 'backlog-%'");
        let rows: Vec<Row> =
            self.lines(&query)?.iter().filter_map(|line| Row::parse(line)).collect();
        let counted = self.counted(0, &self.codes)?;
        Ok(judge(self.ledger.run(), &self.codes, &self.ledger.entries(), &rows, &counted))
    }

    /// How long the redirects took.
    pub(crate) fn latency(&self) -> Option<Latency> {
        let entries = self.ledger.entries().into_values();
        let redirects = entries.filter(|entry| entry.fate == Fate::Answered(302));
        Latency::of(redirects.map(|entry| entry.took).collect())
    }
}
