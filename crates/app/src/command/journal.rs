//! `signpost journal`: looking inside the click journal.

use std::io::Write;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;
use signpost_adapters::journal_files::{adopt, dump, verify};
use signpost_domain::click::wire;

use super::Failure;
use super::key::json_arg;
use super::serve::chain;
use crate::config::Config;
use crate::public_api::view::to_json;
use crate::wiring::{Services, dead_letters, journal_dir};

pub(super) fn command() -> Command {
    Command::new("journal")
        .about("Looks inside the click journal of the data directory")
        .subcommand_required(true)
        .subcommand(
            Command::new("verify")
                .about("Reads all of it and says what is damaged; exit code 1 when something is")
                .arg(json_arg()),
        )
        .subcommand(
            Command::new("dump").about("Prints its clicks, a JSON line each").arg(
                Arg::new("after")
                    .long("after")
                    .default_value("0")
                    .value_parser(value_parser!(u64))
                    .help("Begin behind this sequence"),
            ),
        )
        .subcommand(
            Command::new("replay")
                .about("Loads the records that were set aside, and keeps those that fail again"),
        )
        .subcommand(
            Command::new("adopt")
                .about("Takes over a copied directory, when the original is gone for good"),
        )
}

/// Runs what needs no database; `replay` does, and answers false here.
pub(super) fn run_offline(config: &Config, matches: &ArgMatches) -> Result<bool, Failure> {
    let dir = journal_dir(config);
    let failed = |error: &dyn std::error::Error| Failure::because(chain(error));
    match matches.subcommand() {
        Some(("verify", matches)) => report(config, matches.get_flag("json"))?,
        Some(("dump", matches)) => {
            let after = matches.get_one::<u64>("after").copied().unwrap_or_default();
            let mut out = std::io::stdout().lock();
            for line in dump(&dir, after).map_err(|error| failed(&error))? {
                let line = line.map_err(|error| failed(&error))?;
                // A reader that has seen enough closes the pipe: no failure of ours.
                if writeln!(out, "{}", to_json(&line)).is_err() {
                    break;
                }
            }
        }
        Some(("adopt", _)) => {
            let id = adopt(&dir).map_err(|error| failed(&error))?;
            say(&format!("the journal {id} in {} is at home here now", dir.display()));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn report(config: &Config, as_json: bool) -> Result<(), Failure> {
    let dir = journal_dir(config);
    let report = verify(&dir).map_err(|error| Failure::because(chain(&error)))?;
    let letters = dead_letters(config)
        .read()
        .map_err(|error| Failure::because(format!("the dead letters: {error}")))?;
    let lost: u64 = report.damage.iter().map(|d| d.missing.end - d.missing.start).sum();
    if as_json {
        let places: Vec<_> = report
            .damage
            .iter()
            .map(|d| {
                json!({
                    "file": d.path.as_ref().map(|p| p.display().to_string()),
                    "bytes": [d.bytes.start, d.bytes.end],
                    "missing": [d.missing.start, d.missing.end],
                })
            })
            .collect();
        say(&json!({
            "id": report.id.to_string(), "segments": report.segments, "bytes": report.bytes,
            "records": report.records, "first": report.first_and_last.map(|f| f.0),
            "last": report.first_and_last.map(|f| f.1), "damage": places,
            "deadLetters": letters.len(),
        })
        .to_string());
    } else {
        let range = report
            .first_and_last
            .map_or_else(|| "none".to_owned(), |(first, last)| format!("{first} to {last}"));
        say(&format!(
            "journal {}: {} segments, {} bytes, {} records ({range}), {} dead letters",
            report.id,
            report.segments,
            report.bytes,
            report.records,
            letters.len()
        ));
        for damage in &report.damage {
            let file = damage.path.as_ref().map(|p| p.display().to_string()).unwrap_or_default();
            say(&format!(
                "damaged: {file} bytes {}–{}, {} records lost",
                damage.bytes.start,
                damage.bytes.end,
                damage.missing.end - damage.missing.start
            ));
        }
    }
    if lost > 0 { Err(Failure::found(format!("{lost} records are lost"))) } else { Ok(()) }
}

/// Loads the dead letters.
pub(super) fn replay(config: &Config, services: &Services) -> Result<(), Failure> {
    let file = dead_letters(config);
    let unusable = |error: std::io::Error| Failure::because(format!("the dead letters: {error}"));
    let letters = file.read().map_err(unusable)?;
    let total = letters.len();
    let mut left = Vec::new();
    for letter in letters {
        let click = letter.bytes().and_then(|bytes| wire::decode(&bytes).ok());
        let outcome = match click {
            Some(click) => services.load_one(click).map_err(|error| chain(&error)),
            None => Err("unreadable".to_owned()),
        };
        if let Err(reason) = outcome {
            say(&format!("{} stays: {reason}", letter.sequence));
            left.push(letter);
        }
    }
    file.rewrite(&left).map_err(unusable)?;
    say(&format!("{} of {total} dead letters are loaded", total - left.len()));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
fn say(line: &str) {
    println!("{line}");
}
