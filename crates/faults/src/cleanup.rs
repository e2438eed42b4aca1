//! What has to go away whatever happens: processes, clusters, mounts.
//!
//! Values clean up after themselves when they are dropped. This list is for the ends that drop
//! nothing, such as Ctrl-C.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process};

use crate::cluster;

/// Something to end or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Litter {
    Process(u32),
    /// A cluster's data directory.
    Cluster(PathBuf),
    Mount(PathBuf),
    Directory(PathBuf),
}

static LITTER: Mutex<Vec<Litter>> = Mutex::new(Vec::new());

/// Notes what is to be cleaned up.
pub(crate) fn note(litter: Litter) {
    LITTER.lock().unwrap_or_else(PoisonError::into_inner).push(litter);
}

/// Forgets what was cleaned up already.
pub(crate) fn forget(litter: &Litter) {
    LITTER.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != litter);
}

/// Cleans everything up, the newest first.
pub(crate) fn sweep() {
    loop {
        let last = LITTER.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match last {
            None => return,
            Some(Litter::Process(pid)) => signal(pid, Signal::KILL),
            Some(Litter::Cluster(data)) => cluster::end(&data),
            Some(Litter::Mount(at)) => unmount(&at),
            Some(Litter::Directory(directory)) => {
                let _ = std::fs::remove_dir_all(directory);
            }
        }
    }
}

/// Cleans up and ends this process on Ctrl-C and SIGTERM.
pub(crate) fn on_signals() {
    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            sweep();
            std::process::exit(130);
        });
    });
}

/// Sends a signal to a process; one that is gone already is no error.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Unmounts, even when somebody still has a file open there.
pub(crate) fn unmount(at: &Path) {
    let quietly = |lazy: bool| {
        let mut command = Command::new("umount");
        if lazy {
            command.arg("-l");
        }
        command.arg(at).output().is_ok_and(|output| output.status.success())
    };
    if !quietly(false) {
        quietly(true);
    }
}
