//! A process of the service.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::cleanup::{self, Litter, signal};
use crate::http::{self, Answer};
use crate::random::Random;
use crate::{Result, fail};

/// What a node is made of; it may be started many times.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) binary: PathBuf,
    pub(crate) data_dir: PathBuf,
    pub(crate) database_url: String,
    pub(crate) listen: SocketAddr,
    pub(crate) metrics: SocketAddr,
    pub(crate) settings: Vec<(String, String)>,
    /// A program that runs the service, such as a tracer; empty for none.
    pub(crate) wrapper: Vec<String>,
    /// Where its output goes.
    pub(crate) log: PathBuf,
}

impl Setup {
    /// The service's program with its settings; the words of its command are to be added.
    pub(crate) fn command(&self) -> Command {
        let mut words = self.wrapper.iter().map(String::as_str);
        let mut command = match words.next() {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.args(words).arg(&self.binary);
                command
            }
            None => Command::new(&self.binary),
        };
        // Nothing of the person's own settings.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SIGNPOST_") {
                command.env_remove(name);
            }
        }
        command
            .env("DATABASE_URL", &self.database_url)
            .env("SIGNPOST_DATA_DIR", &self.data_dir)
            .env("SIGNPOST_LISTEN", self.listen.to_string())
            .env("SIGNPOST_METRICS_LISTEN", self.metrics.to_string())
            .env("SIGNPOST_BASE_URL", format!("http://{}", self.listen))
            .env("SIGNPOST_RATE_LIMIT", "off")
            .env("SIGNPOST_JWT_SECRET", "the-secret-of-the-fault-suite-long-enough")
            .envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A running service. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) setup: Setup,
    child: Child,
    begun: Instant,
}

impl Node {
    /// Starts the service, and does not wait for it.
    pub(crate) fn start(setup: &Setup) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(&setup.log)?;
        let child = setup
            .command()
            .arg("serve")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{} can't be run: {error}", setup.binary.display()))?;
        cleanup::note(Litter::Process(child.id()));
        Ok(Self { setup: setup.clone(), child, begun: Instant::now() })
    }

    /// Asks the service something.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Answer> {
        http::ask(self.setup.listen, Duration::from_secs(10), method, path, headers, body)
    }

    /// The status of a GET; nothing without an answer.
    pub(crate) fn status(&self, path: &str) -> Option<u16> {
        self.ask("GET", path, &[], "").ok().map(|answer| answer.status)
    }

    /// Waits until `/readyz` says 200; answers how long that took since the start.
    pub(crate) fn wait_ready(&mut self, limit: Duration) -> Result<Duration> {
        loop {
            if self.status("/readyz") == Some(200) {
                return Ok(self.begun.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                return fail(format!("the service ended with {status}: {}", self.last_words()));
            }
            if self.begun.elapsed() > limit {
                return fail(format!("not ready after {limit:?}: {}", self.last_words()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the process to end by itself.
    pub(crate) fn wait_end(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                cleanup::forget(&Litter::Process(self.child.id()));
                return Ok(Some(status));
            }
            if begun.elapsed() > limit {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// SIGTERM, and an end in order.
    pub(crate) fn stop(mut self) -> Result<()> {
        signal(self.pid(), Signal::TERM);
        match self.wait_end(Duration::from_mins(1))? {
            Some(status) if status.success() => Ok(()),
            Some(status) => fail(format!("the service ended with {status}: {}", self.last_words())),
            None => fail("the service does not end on SIGTERM"),
        }
    }

    /// The service's process, and not its tracer's.
    pub(crate) fn pid(&self) -> u32 {
        let own = self.child.id();
        if self.setup.wrapper.is_empty() {
            return own;
        }
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let first = children.ok().and_then(|pids| pids.split_whitespace().next()?.parse().ok());
        first.unwrap_or(own)
    }

    /// How many threads the process has.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.pid())).map_or(0, Iterator::count)
    }

    /// A number of `/metrics`, summed over its labels.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        let answer =
            http::ask(self.setup.metrics, Duration::from_secs(5), "GET", "/metrics", &[], "");
        metric_in(&answer.ok()?.body, name)
    }

    /// Everything that the process has said since the first start.
    pub(crate) fn log(&self) -> String {
        read(&self.setup.log)
    }

    /// The end of that, for error messages.
    pub(crate) fn last_words(&self) -> String {
        last_words(&self.setup.log)
    }

    fn end(&mut self) {
        signal(self.pid(), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
        cleanup::forget(&Litter::Process(self.child.id()));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}

fn metric_in(text: &str, name: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let (key, value) = line.rsplit_once(' ')?;
        (key.split('{').next() == Some(name)).then(|| value.parse::<f64>().ok()).flatten()
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The last lines of a log that are worth reading.
pub(crate) fn last_words(log: &Path) -> String {
    let text = read(log);
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("\"INFO\"")).collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}

fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let _ = io::Read::read_to_end(&mut file, &mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An address that is free, outside the ports that the system gives to clients: a restarted service
/// must find its own again.
pub(crate) fn free_address(random: &mut Random) -> Result<SocketAddr> {
    for _ in 0..200 {
        let port = u16::try_from(random.within(20_000..32_000)).unwrap_or(20_000);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    fail("no free port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels() {
        let text = "# TYPE a counter\na_total{x=\"1\"} 2\na_total{x=\"2 3\"} 3\nb 7\n";
        assert_eq!(metric_in(text, "a_total"), Some(5.0));
        assert_eq!(metric_in(text, "b"), Some(7.0));
        assert_eq!(metric_in(text, "a"), None);
    }
}
