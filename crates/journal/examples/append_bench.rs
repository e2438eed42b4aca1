//! How many records a second become durable, and how long each waits.
//!
//! ```text
//! append_bench DIR [disk|process] [tasks|lanes|threads] [WAITERS] [SECONDS]
//! ```
//!
//! `threads` blocks a thread for each waiter; `tasks` and `lanes` run the waiters on two threads,
//! as a web server does, and differ in how they are woken.

use std::cell::RefCell;
use std::future::Future;
use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use signpost_journal::{Dispatcher, Durability, Journal, Options, Outcome, Ticket};

const THREADS: usize = 2;
const RECORD: [u8; 250] = [b'r'; 250];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("a directory, please")?);
    let mode = args.next().unwrap_or_else(|| "disk".to_owned());
    let waking = args.next().unwrap_or_else(|| "lanes".to_owned());
    let waiters: usize = args.next().map_or(Ok(64), |n| n.parse())?;
    let seconds: u64 = args.next().map_or(Ok(5), |n| n.parse())?;
    let durability = if mode == "process" { Durability::Process } else { Durability::Disk };
    let options = Options { durability, max_bytes: 4 << 30, ..Options::default() };
    let journal = Journal::open(&dir, options)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut waits: Vec<u64> = std::thread::scope(|scope| {
        let threads = if waking == "threads" { waiters } else { THREADS };
        let run = || match waking.as_str() {
            "threads" => blocking(&journal, end),
            "lanes" => {
                let (lane, dispatcher) = journal.lane();
                tasks(&|| lane.append(&RECORD), Some(dispatcher), waiters / THREADS, end)
            }
            _ => tasks(&|| journal.append(&RECORD), None, waiters / THREADS, end),
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    waits.sort_unstable();
    let at = |share: usize| waits.get(waits.len() * share / 1000).map_or(0, |nanos| nanos / 1000);
    let status = journal.status();
    writeln!(
        std::io::stdout(),
        "{mode} {waking} {waiters}: {} records/s, p50 {} us, p99 {} us, p99.9 {} us, {} records a sync, refused {}",
        waits.len() as u64 / seconds,
        at(500),
        at(990),
        at(999),
        status.durable / status.syncs.max(1),
        status.refused,
    )?;
    Ok(())
}

fn blocking(journal: &Journal, end: Instant) -> Vec<u64> {
    let mut waits = Vec::new();
    while Instant::now() < end {
        let started = Instant::now();
        note(journal.append(&RECORD).wait(), started, &mut waits);
    }
    waits
}

type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs so many waiters on this thread, and whoever wakes them.
fn tasks(
    append: &dyn Fn() -> Ticket,
    dispatcher: Option<Dispatcher>,
    n: usize,
    end: Instant,
) -> Vec<u64> {
    let waits = RefCell::new(Vec::new());
    let waiter = |_| -> Task<'_> {
        Box::pin(async {
            while Instant::now() < end {
                let started = Instant::now();
                let outcome = append().await;
                note(outcome, started, &mut waits.borrow_mut());
            }
        })
    };
    let mut waiters: Vec<Task<'_>> = (0..n).map(waiter).collect();
    execute(&mut waiters, dispatcher.map(|dispatcher| -> Task<'_> { Box::pin(dispatcher) }));
    drop(waiters);
    waits.into_inner()
}

fn note(outcome: Outcome, started: Instant, waits: &mut Vec<u64>) {
    if !matches!(outcome, Outcome::Refused(_)) {
        waits.push(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
}

/// The smallest executor that shows the price of waking: a list of tasks to run, and a thread that
/// sleeps while it is empty.
fn execute(waiters: &mut Vec<Task<'_>>, dispatcher: Option<Task<'_>>) {
    let mut left = waiters.len();
    let mut tasks: Vec<_> = waiters.drain(..).chain(dispatcher).map(Some).collect();
    let all = Mutex::new((0..tasks.len()).collect());
    let ready = Arc::new(Ready { tasks: all, pushed: Condvar::new() });
    let waker = |task| Waker::from(Arc::new(Wakes { task, ready: ready.clone() }));
    let wakers: Vec<Waker> = (0..tasks.len()).map(waker).collect();
    while left > 0 {
        let mut list = ready.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while list.is_empty() {
            list = ready.pushed.wait(list).unwrap_or_else(PoisonError::into_inner);
        }
        let woken = std::mem::take(&mut *list);
        drop(list);
        for n in woken {
            let mut context = Context::from_waker(&wakers[n]);
            let Some(task) = &mut tasks[n] else { continue };
            if task.as_mut().poll(&mut context).is_ready() {
                tasks[n] = None;
                left -= 1;
            }
        }
    }
}

struct Ready {
    tasks: Mutex<Vec<usize>>,
    pushed: Condvar,
}

struct Wakes {
    task: usize,
    ready: Arc<Ready>,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let mut tasks = self.ready.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.push(self.task);
        drop(tasks);
        self.ready.pushed.notify_one();
    }
}
