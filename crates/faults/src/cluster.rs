//! A Postgres server of our own, to be stopped, frozen and thrown away.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::cleanup::{self, Litter, signal};
use crate::{Result, fail};

/// A throw-away cluster that listens on a socket in a directory of its own.
#[derive(Debug)]
pub(crate) struct Cluster {
    bin: PathBuf,
    place: TempDir,
}

impl Cluster {
    /// Makes and starts a cluster.
    pub(crate) fn start() -> Result<Self> {
        let bin = find_bin().ok_or("no Postgres in /usr/lib/postgresql; install postgresql")?;
        let place = tempfile::Builder::new().prefix("signpost-faults-pg.").tempdir()?;
        cleanup::note(Litter::Directory(place.path().to_owned()));
        if is_root() {
            // Postgres refuses to run as root, so root lends it the directory.
            run(Command::new("chown").arg("postgres").arg(place.path()))?;
        }
        let cluster = Self { bin, place };
        let data = cluster.data();
        run(cluster.command("initdb").arg("-D").arg(&data).args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]))?;
        cleanup::note(Litter::Cluster(data));
        cluster.resume()?;
        Ok(cluster)
    }

    /// Where the service finds it.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@/postgres?host={}", self.place.path().display())
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// Starts the server, and waits until it takes connections.
    pub(crate) fn resume(&self) -> Result<()> {
        let options = format!(
            "-k {} -c listen_addresses= -c max_connections=200",
            self.place.path().display()
        );
        let log = self.data().join("log");
        let mut command = self.command("pg_ctl");
        command.arg("-D").arg(self.data()).args(["-w", "-t", "120", "-l"]).arg(log);
        run(command.args(["-o", &options, "start"]))
    }

    /// Stops the server as a crash would: without a word to its clients, to be recovered later.
    pub(crate) fn stop(&self) -> Result<()> {
        let mut command = self.command("pg_ctl");
        run(command.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]))
    }

    /// Freezes every process of the server; answers how many.
    pub(crate) fn freeze(&self) -> usize {
        let pids = processes(&self.data());
        // The postmaster first, so that it starts no further one.
        for pid in &pids {
            signal(*pid, Signal::STOP);
        }
        pids.len()
    }

    /// Lets every process of the server go on.
    pub(crate) fn thaw(&self) {
        for pid in processes(&self.data()) {
            signal(pid, Signal::CONT);
        }
    }

    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.place.path());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        end(&self.data());
        cleanup::forget(&Litter::Cluster(self.data()));
        cleanup::forget(&Litter::Directory(self.place.path().to_owned()));
    }
}

/// Ends the server that has this data directory.
pub(crate) fn end(data: &Path) {
    let pids = processes(data);
    let begun = Instant::now();
    for pid in &pids {
        signal(*pid, Signal::CONT);
        signal(*pid, Signal::QUIT);
    }
    while pids.iter().any(|pid| Path::new("/proc").join(pid.to_string()).exists()) {
        if begun.elapsed() > Duration::from_secs(5) {
            for pid in pids {
                signal(pid, Signal::KILL);
            }
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The postmaster and its children.
fn processes(data: &Path) -> Vec<u32> {
    let pid_file = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let Some(postmaster) = pid_file.lines().next().and_then(|line| line.trim().parse().ok()) else {
        return Vec::new();
    };
    let mut pids = vec![postmaster];
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The program's name may hold anything, so count from behind it.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        if parent.and_then(|parent| parent.parse().ok()) == Some(postmaster) {
            pids.push(pid);
        }
    }
    pids
}

fn find_bin() -> Option<PathBuf> {
    let version = |path: &PathBuf| -> Option<u32> { path.file_name()?.to_str()?.parse().ok() };
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let newest = versions.flatten().map(|entry| entry.path()).max_by_key(version)?;
    Some(newest.join("bin")).filter(|bin| bin.join("initdb").exists())
}

/// Whether mounts and other users' processes are ours to make.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a command to its end; what it said is the error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    // Into files, since a server that is started would hold a pipe open for ever.
    let mut said = tempfile::tempfile()?;
    let status = command
        .stdin(std::process::Stdio::null())
        .stdout(said.try_clone()?)
        .stderr(said.try_clone()?)
        .status()?;
    if status.success() {
        return Ok(());
    }
    let mut text = String::new();
    std::io::Seek::rewind(&mut said)?;
    std::io::Read::read_to_string(&mut said, &mut text)?;
    fail(format!("{command:?} failed: {}", text.trim()))
}
