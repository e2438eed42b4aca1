//! Reads what strace has written: writes, syncs and answers in the order in which they happened.

use std::collections::{BTreeMap, BTreeSet};

/// What a trace shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Redirects that left.
    pub(crate) seen: usize,
    /// Those whose click was not on stable storage yet.
    pub(crate) early: Vec<u64>,
    /// How often something was brought to stable storage.
    pub(crate) syncs: usize,
}

#[derive(Debug)]
enum Call {
    Write {
        fd: String,
        clicks: Vec<u64>,
    },
    /// The clicks whose writes had returned when the call began: it covers no others.
    Sync {
        covers: Vec<u64>,
    },
}

#[derive(Debug, Default)]
struct Reading {
    findings: Findings,
    /// Calls that have begun and not returned, by thread.
    begun: BTreeMap<String, Call>,
    /// Clicks written and not synced, by file.
    written: BTreeMap<String, BTreeSet<u64>>,
    safe: BTreeSet<u64>,
}

/// Checks that each redirect of a run leaves after the sync that covers its click.
pub(crate) fn check(trace: &str, run: &str) -> Findings {
    let mut reading = Reading::default();
    for line in trace.lines() {
        reading.line(line, run);
    }
    reading.findings
}

impl Reading {
    /// A line is a whole call, the beginning of one (`<unfinished ...>`), or its end (`resumed`).
    fn line(&mut self, line: &str, run: &str) -> Option<()> {
        let (thread, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix("<... ") {
            let call = self.begun.remove(thread)?;
            self.end(call, rest);
            return Some(());
        }
        let (name, arguments) = rest.split_once('(')?;
        let fd = || arguments.split([',', ')', ' ']).next().unwrap_or_default().to_owned();
        let call = match name {
            "pwrite64" | "pwritev" => {
                Call::Write { fd: fd(), clicks: numbers(arguments, &format!("lg/{run}/")) }
            }
            "fdatasync" | "fsync" => {
                let written = self.written.get(&fd());
                Call::Sync { covers: written.into_iter().flatten().copied().collect() }
            }
            _ => {
                // An answer counts from the beginning of the call that sends it.
                if arguments.contains("HTTP/1.1 302") {
                    for click in numbers(arguments, &format!("lg-{run}-")) {
                        self.findings.seen += 1;
                        if !self.safe.contains(&click) {
                            self.findings.early.push(click);
                        }
                    }
                }
                return None;
            }
        };
        if rest.ends_with("<unfinished ...>") {
            self.begun.insert(thread.to_owned(), call);
        } else {
            self.end(call, rest);
        }
        Some(())
    }

    fn end(&mut self, call: Call, line: &str) {
        let returned = line.rsplit_once(" = ").map_or("", |(_, value)| value);
        if returned.starts_with('-') {
            return;
        }
        match call {
            Call::Write { fd, clicks } => self.written.entry(fd).or_default().extend(clicks),
            Call::Sync { covers } => {
                self.findings.syncs += 1;
                self.safe.extend(covers);
            }
        }
    }
}

/// The numbers behind every occurrence of a word.
fn numbers(text: &str, word: &str) -> Vec<u64> {
    let parts = text.split(word).skip(1);
    parts
        .filter_map(|part| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"7  sendto(12, "HTTP/1.1 302 Found\r\nx-request-id: lg-r-000000005\r\n", 9, 0, NULL, 0) = 9"#;

    #[test]
    fn an_answer_after_its_sync_is_in_order() {
        let trace = format!(
            "3  pwrite64(9, \"..Chrome lg/r/5..\", 99, 64) = 99\n3  fdatasync(9) = 0\n{ANSWER}\n"
        );
        assert_eq!(check(&trace, "r"), Findings { seen: 1, early: vec![], syncs: 1 });
    }

    #[test]
    fn an_answer_without_a_sync_that_covers_its_click_is_early() {
        let early = |lines: &str| check(&format!("{lines}\n{ANSWER}\n"), "r").early;
        assert_eq!(early(""), [5]);
        assert_eq!(early("3  pwrite64(9, \"lg/r/5\", 9, 0) = 9"), [5]);
        assert_eq!(
            early("3  pwrite64(9, \"lg/r/5\", 9, 0) = 9\n3  fdatasync(8) = 0"),
            [5],
            "another file"
        );
        assert_eq!(
            early("3  pwrite64(9, \"lg/r/5\", 9, 0) = 9\n3  fdatasync(9) = -1 EIO (…)"),
            [5]
        );
        // A sync that began before the write returned covers nothing of it.
        assert_eq!(
            early(
                "4  fdatasync(9 <unfinished ...>\n3  pwrite64(9, \"lg/r/5\", 9, 0) = 9\n4  <... fdatasync resumed>) = 0"
            ),
            [5]
        );
        // A sync that has not returned promises nothing.
        assert_eq!(
            early("3  pwrite64(9, \"lg/r/5\", 9, 0) = 9\n3  fdatasync(9 <unfinished ...>"),
            [5]
        );
    }

    #[test]
    fn calls_in_two_halves_are_put_together() {
        let trace = format!(
            "3  pwrite64(9, \"lg/r/5\", 9, 0 <unfinished ...>\n3  <... pwrite64 resumed>) = 9\n\
             3  fdatasync(9 <unfinished ...>\n3  <... fdatasync resumed>) = 0\n{ANSWER}\n"
        );
        assert_eq!(check(&trace, "r"), Findings { seen: 1, early: vec![], syncs: 1 });
    }
}
