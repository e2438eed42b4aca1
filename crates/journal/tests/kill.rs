//! The process is killed at random moments; nothing it promised may be missing.
//!
//! The child is this test's own program, run with the one ignored test.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use signpost_journal::{Item, Journal, Options, Outcome};

const DIR: &str = "JOURNAL_TEST_DIR";
const ROUND: &str = "JOURNAL_TEST_ROUND";
const THREADS: u64 = 4;

fn options() -> Options {
    Options { segment_bytes: 64 << 10, ..Options::default() }
}

/// Appends until it is killed, and prints what it was promised.
#[test]
#[ignore = "the child of the other tests"]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let round = std::env::var(ROUND).unwrap();
    let journal = Journal::open(Path::new(&dir), options()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (journal, round) = (&journal, &round);
            scope.spawn(move || {
                for n in 0_u64.. {
                    let record = format!("{round} {thread} {n}");
                    let Outcome::Durable(sequence) = journal.append(record.as_bytes()).wait()
                    else {
                        panic!("refused")
                    };
                    // One write a line, so that no line is torn.
                    let line = format!("\nack {sequence} {record}\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                    std::io::stdout().lock().flush().unwrap();
                }
            });
        }
    });
}

/// Runs the child for a while, kills it, and answers what it was promised.
fn run_and_kill(dir: &Path, round: u64, sabotage: &str) -> Vec<(u64, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(DIR, dir)
        .env(ROUND, round.to_string())
        .env("SIGNPOST_SABOTAGE", sabotage)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reading = std::thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        let promised = lines.filter_map(|line| {
            let (sequence, record) = line.strip_prefix("ack ")?.split_once(' ')?;
            Some((sequence.parse().ok()?, record.to_owned()))
        });
        promised.collect::<Vec<(u64, String)>>()
    });
    std::thread::sleep(Duration::from_millis(20 + rand::random_range(0..150)));
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap()
}

/// How many of the promised records are not where they were promised to be. Panics when something
/// else is wrong: damage, a gap, a record twice or out of order.
fn lost(dir: &Path, promised: &[(u64, String)]) -> usize {
    let journal = Journal::open(dir, options()).unwrap();
    let mut records = Vec::new();
    for item in journal.reader(0) {
        match item.unwrap() {
            Item::Record(record) => {
                assert_eq!(record.sequence, records.len() as u64 + 1);
                records.push(String::from_utf8(record.payload).unwrap());
            }
            Item::Damage(damage) => panic!("{damage:?}"),
        }
    }
    let mut last = std::collections::HashMap::new();
    for record in &records {
        let (thread, n) = record.rsplit_once(' ').unwrap();
        let n: u64 = n.parse().unwrap();
        assert_eq!(last.insert(thread.to_owned(), n), n.checked_sub(1), "{record}");
    }
    let is_there = |(sequence, record): &&(u64, String)| {
        usize::try_from(sequence - 1).ok().and_then(|at| records.get(at)) == Some(record)
    };
    promised.len() - promised.iter().filter(is_there).count()
}

#[test]
fn a_killed_process_loses_nothing_that_it_promised() {
    let dir = tempfile::tempdir().unwrap();
    let mut promised = Vec::new();
    for round in 0..30 {
        promised.extend(run_and_kill(dir.path(), round, ""));
        assert_eq!(lost(dir.path(), &promised), 0, "round {round}");
    }
    assert!(promised.len() > 1000, "only {} records", promised.len());
}

#[test]
fn a_journal_that_promises_too_early_is_caught() {
    let dir = tempfile::tempdir().unwrap();
    let mut promised = Vec::new();
    for round in 0..30 {
        promised.extend(run_and_kill(dir.path(), round, "release_before_write"));
        if lost(dir.path(), &promised) > 0 {
            return;
        }
    }
    panic!("the loss was not noticed");
}
