//! Visitors: connections that follow links at a steady pace.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::http::Connection;
use crate::ledger::{Entry, Fate, Ledger};

/// Longer than any answer may take, so that a service that hangs shows as one.
const LIMIT: Duration = Duration::from_secs(15);

/// Browsers of the three platforms; what tells the visitors apart follows behind.
const BROWSERS: [(&str, &str); 3] = [
    (
        "ios",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 \
         (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    ),
    (
        "android",
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) \
         Chrome/140.0.0.0 Mobile Safari/537.36",
    ),
    (
        "web",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
         Chrome/140.0.0.0 Safari/537.36",
    ),
];

/// What the visitors say beside their browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Nothing,
    /// As much as is kept, to fill a disk sooner.
    Much,
    /// Every so many of them comes from [`POISON`].
    Poison(u64),
}

/// A referrer that a trigger in the database refuses.
pub(crate) const POISON: &str = "https://poison.example/";

/// How the load is.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The connections are dealt out to these in turn.
    pub(crate) targets: Vec<SocketAddr>,
    pub(crate) codes: Vec<String>,
    pub(crate) connections: usize,
    /// Of all connections together.
    pub(crate) per_second: u64,
    pub(crate) extra: Extra,
}

/// The platform of a request.
pub(crate) fn platform(seq: u64) -> &'static str {
    browser(seq).0
}

fn browser(seq: u64) -> (&'static str, &'static str) {
    usize::try_from(seq % 3).map_or(BROWSERS[0], |n| BROWSERS[n])
}

/// The bytes of a request.
pub(crate) fn request(run: &str, seq: u64, code: &str, extra: Extra) -> String {
    let (_, browser) = browser(seq);
    let (padding, referrer) = match extra {
        Extra::Much => {
            (format!(" {}", "x".repeat(300)), Some("https://much.example/much/".repeat(16)))
        }
        Extra::Poison(every) if seq.is_multiple_of(every) => {
            (String::new(), Some(POISON.to_owned()))
        }
        Extra::Nothing | Extra::Poison(_) => (String::new(), None),
    };
    let referrer = referrer.map_or(String::new(), |value| format!("Referer: {value}\r\n"));
    format!(
        "GET /{code} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {browser} lg/{run}/{seq}.{padding}\r\n\
         X-Request-Id: lg-{run}-{seq:09}\r\n{referrer}\r\n"
    )
}

/// The number in a user agent of this run.
pub(crate) fn seq_in(run: &str, user_agent: &str) -> Option<u64> {
    let (_, rest) = user_agent.split_once(&format!("lg/{run}/"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Visitors on their way, until they are told to stop.
#[derive(Debug)]
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(ledger: &Arc<Ledger>, plan: &Plan) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..plan.connections)
            .map(|n| {
                let visitor = Visitor {
                    ledger: ledger.clone(),
                    plan: plan.clone(),
                    target: plan.targets[n % plan.targets.len()],
                    every: Duration::from_secs(plan.connections as u64)
                        / u32::try_from(plan.per_second).unwrap_or(u32::MAX),
                    stop: stop.clone(),
                };
                std::thread::spawn(move || visitor.run())
            })
            .collect();
        Self { stop, threads }
    }

    /// Lets the visitors get the answers they wait for, and sends no further ones.
    pub(crate) fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.end();
    }
}

struct Visitor {
    ledger: Arc<Ledger>,
    plan: Plan,
    target: SocketAddr,
    every: Duration,
    stop: Arc<AtomicBool>,
}

impl Visitor {
    fn run(self) {
        let mut connection = None;
        let mut due = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let Some(open) = connection.take().or_else(|| self.connect()) else {
                // Nobody is there; nothing was sent, so nobody is waiting either.
                std::thread::sleep(Duration::from_millis(5));
                due = Instant::now();
                continue;
            };
            connection = self.visit(open, due);
            due += self.every;
        }
    }

    fn connect(&self) -> Option<Connection> {
        Connection::open(self.target, LIMIT).ok()
    }

    fn visit(&self, mut connection: Connection, due: Instant) -> Option<Connection> {
        let seq = self.ledger.draw();
        let link = usize::try_from(seq).unwrap_or(0) % self.plan.codes.len();
        let request = request(self.ledger.run(), seq, &self.plan.codes[link], self.plan.extra);
        let at = self.ledger.now();
        let answer = connection.ask(request.as_bytes());
        let fate = match &answer {
            Ok(answer) => Fate::Answered(answer.status),
            Err(_) => Fate::Unanswered,
        };
        self.ledger.note(Entry { seq, link, at, took: due.elapsed(), fate });
        let goes_on = answer.is_ok_and(|answer| answer.header("connection") != Some("close"));
        goes_on.then_some(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_carries_its_number() {
        for extra in [Extra::Nothing, Extra::Much, Extra::Poison(7)] {
            let request = request("r", 21, "code", extra);
            assert_eq!(seq_in("r", &request), Some(21));
            assert_eq!(seq_in("other", &request), None);
            assert!(request.contains("lg-r-000000021\r\n") && request.ends_with("\r\n\r\n"));
        }
        assert!(request("r", 21, "code", Extra::Poison(7)).contains(POISON));
        assert!(!request("r", 22, "code", Extra::Poison(7)).contains(POISON));
    }
}
