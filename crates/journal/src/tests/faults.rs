//! A disk that fails: the n-th call of each kind, for every n until nothing fails any more.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::support::*;
use crate::disk::{Disk, RealDisk};
use crate::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Create,
    Write,
    Sync,
    SyncDir,
    Rename,
    Remove,
    SetLen,
}

const CALLS: [Call; 7] = [
    Call::Create,
    Call::Write,
    Call::Sync,
    Call::SyncDir,
    Call::Rename,
    Call::Remove,
    Call::SetLen,
];

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Refuses calls of one kind from the n-th on, so many of them.
#[derive(Debug)]
struct Plan {
    call: Call,
    nth: u64,
    times: u64,
    errno: i32,
}

#[derive(Debug, Default)]
struct FaultyDisk {
    plan: Mutex<Option<Plan>>,
    calls: AtomicU64,
    failed: AtomicU64,
    is_full: AtomicBool,
}

impl FaultyDisk {
    fn plan(plan: Plan) -> Arc<Self> {
        Arc::new(Self { plan: Mutex::new(Some(plan)), ..Self::default() })
    }

    fn ask(&self, call: Call) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) && matches!(call, Call::Create | Call::Write) {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        match &*self.plan.lock().unwrap() {
            Some(plan) if plan.call == call => {
                let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
                if (plan.nth..plan.nth.saturating_add(plan.times)).contains(&n) {
                    self.failed.fetch_add(1, Ordering::SeqCst);
                    return Err(io::Error::from_raw_os_error(plan.errno));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.ask(Call::Create)?;
        RealDisk.create(path)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.ask(Call::Write).inspect_err(|_| {
            // What arrives of a failed write is anybody's guess.
            file.write_all_at(&bytes[..bytes.len() * 3 / 4], offset).unwrap();
        })?;
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        self.ask(Call::Sync)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.ask(Call::SyncDir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Call::Rename)?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.ask(Call::Remove)?;
        RealDisk.remove(path)
    }

    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.ask(Call::SetLen)?;
        RealDisk.set_len(file, bytes)
    }
}

/// Appends in batches while the disk fails, restarts on a good one, and compares what was promised
/// with what is there.
fn run(plan: Plan, durability: Durability) -> u64 {
    let what = format!("{plan:?} {durability:?}");
    let dir = tempfile::tempdir().unwrap();
    let options = Options { durability, ..options() };
    let good = || Arc::<FaultyDisk>::default();
    append(&Journal::open_on(dir.path(), super::support::options(), good()).unwrap(), 1..=3);
    let disk = FaultyDisk::plan(plan);
    let mut promised: Vec<(u64, Vec<u8>)> = (1..=3).map(|n| (n, payload(n))).collect();
    let mut refused = 0;
    if let Ok(journal) = Journal::open_on(dir.path(), options, disk.clone()) {
        for round in 0..12_u64 {
            let tickets: Vec<_> = (0..10)
                .map(|i| format!("round {round} record {i}").into_bytes())
                .map(|record| (journal.append(&record), record))
                .collect();
            for (ticket, record) in tickets {
                match ticket.wait() {
                    Outcome::Durable(n) | Outcome::Written(n) => promised.push((n, record)),
                    Outcome::Refused(_) => refused += 1,
                }
            }
            if round % 4 == 3 {
                let _ = journal.release(3);
            }
        }
        let read = records(&journal);
        let durable = journal.durable();
        let until_now: Vec<_> =
            promised.iter().filter(|(n, _)| (4..=durable).contains(n)).cloned().collect();
        assert_eq!(read, until_now, "read while it runs: {what}");
        assert_eq!(journal.status().refused, refused, "{what}");
        assert!(journal.close(LONG), "{what}");
    }
    let journal = Journal::open_on(dir.path(), super::support::options(), good()).unwrap();
    promised.retain(|(n, _)| *n > 3);
    assert_eq!(records(&journal), promised, "read after a restart: {what}");
    assert_eq!(journal.status().damaged_places, 0, "{what}");
    disk.failed.load(Ordering::SeqCst)
}

fn records(journal: &Journal) -> Vec<(u64, Vec<u8>)> {
    items(&mut journal.reader(3))
        .into_iter()
        .map(|item| match item {
            Item::Record(record) => (record.sequence, record.payload),
            Item::Damage(damage) => panic!("{damage:?}"),
        })
        .collect()
}

#[test]
fn whichever_call_fails_nothing_promised_is_lost() {
    for call in CALLS {
        for durability in [Durability::Disk, Durability::Process] {
            for (times, errno) in [(1, EIO), (1, ENOSPC), (2, EIO), (3, EIO)] {
                let mut quiet = 0;
                for nth in 1.. {
                    // Threads share the calls, so that one quiet run is not the end.
                    quiet = if run(Plan { call, nth, times, errno }, durability) == 0 {
                        quiet + 1
                    } else {
                        0
                    };
                    if quiet == 3 {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn a_failed_sync_abandons_the_segment_and_refuses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    append(&open(dir.path()), 1..=3);
    let disk = Arc::<FaultyDisk>::default();
    let journal = Journal::open_on(dir.path(), options(), disk.clone()).unwrap();
    append(&journal, 4..=5);
    *disk.plan.lock().unwrap() = Some(Plan { call: Call::Sync, nth: 1, times: 1, errno: EIO });
    append(&journal, 6..=8);
    assert_eq!(read(&journal), ((1..=8).collect(), vec![]));
    let status = journal.status();
    assert_eq!((status.sync_failures, status.refused), (1, 0));
    let names: Vec<_> = segments(dir.path());
    assert_eq!(names, [1, 6].map(|first| crate::segments::path(dir.path(), first)));
}

#[test]
fn a_full_disk_refuses_and_heals_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::<FaultyDisk>::default();
    let journal = Journal::open_on(dir.path(), options(), disk.clone()).unwrap();
    append(&journal, 1..=10);
    disk.is_full.store(true, Ordering::SeqCst);
    for _ in 0..20 {
        assert_eq!(journal.append(b"too much").wait(), Outcome::Refused(Refusal::Full));
    }
    assert_eq!(journal.status().refused, 20);
    disk.is_full.store(false, Ordering::SeqCst);
    let mut refused = 0;
    wait_until(|| {
        let outcome = journal.append(&payload(11)).wait();
        refused += u64::from(outcome != Outcome::Durable(11));
        outcome == Outcome::Durable(11)
    });
    append(&journal, 12..=100);
    assert_eq!(read(&journal), ((1..=100).collect(), vec![]));
    drop(journal);
    let journal = open(dir.path());
    assert_eq!(read(&journal), ((1..=100).collect(), vec![]));
}

#[test]
fn a_spent_budget_refuses_until_records_are_released() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { max_bytes: 5 * 2048, ..options() };
    let journal = Journal::open(dir.path(), options).unwrap();
    let mut last = 0;
    let refusal = loop {
        match journal.append(&payload(last + 1)).wait() {
            Outcome::Refused(refusal) => break refusal,
            _ => last += 1,
        }
    };
    assert_eq!(refusal, Refusal::Full);
    let status = journal.status();
    assert!(status.bytes <= 5 * 2048 && status.bytes > 3 * 2048, "{}", status.bytes);
    journal.release(last).unwrap();
    wait_until(|| journal.append(&payload(last + 1)).wait() == Outcome::Durable(last + 1));
    let mut reader = journal.reader(last);
    assert_eq!(sequences(&items(&mut reader)), (vec![last + 1], vec![]));
}

#[test]
fn a_budget_below_two_segments_is_two_segments() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), Options { max_bytes: 1, ..options() }).unwrap();
    for n in 1..=300 {
        wait_until(|| {
            journal.release(n - 1).unwrap();
            journal.append(&payload(n)).wait() == Outcome::Durable(n)
        });
    }
    assert!(journal.status().bytes <= 2 * 2048);
}
