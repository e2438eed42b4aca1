//! The command line.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::scenarios::{SCENARIOS, Scenario};
use crate::stage::Settings;

pub(crate) const USAGE: &str = "\
Breaks what Signpost stands on while visitors come, and counts the clicks afterwards.

  faults list                   the scenarios
  faults run [NAME…] [OPTION…]  runs these, or all

  --binary PATH      the service [default: target/release/signpost]
  --sabotaged PATH   a build with the feature sabotage, for the scenarios sabotage-…
  --quick | --full   minutes, or half an hour [default: --quick]
  --seed NUMBER      repeats a schedule [default: the time]
  --rate NUMBER      visits a second [default: 400]
  --json             prints the reports as JSON
  --quiet            does not tell on standard error what happens while it happens

Exit code: 0 all passed, 1 some failed, 3 none failed and some could not be run, 64 usage.";

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    List,
    Run { settings: Settings, scenarios: Vec<&'static Scenario>, is_json: bool },
}

pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    match args.next().as_deref() {
        Some("list") => return Ok(Command::List),
        Some("run") => {}
        Some("help" | "--help" | "-h") => return Ok(Command::Help),
        other => return Err(format!("not a command: {}", other.unwrap_or("(none)"))),
    }
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut settings = Settings {
        binary: PathBuf::from("target/release/signpost"),
        sabotaged: None,
        is_full: false,
        seed,
        rate: 400,
        is_loud: true,
    };
    let (mut scenarios, mut is_json) = (Vec::new(), false);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number =
            |text: String| text.parse::<u64>().map_err(|_| format!("not a number: {text}"));
        match arg.as_str() {
            "--binary" => settings.binary = value()?.into(),
            "--sabotaged" => settings.sabotaged = Some(value()?.into()),
            "--quick" => settings.is_full = false,
            "--full" => settings.is_full = true,
            "--seed" => settings.seed = number(value()?)?,
            "--rate" => settings.rate = number(value()?)?.max(1),
            "--json" => is_json = true,
            "--quiet" => settings.is_loud = false,
            "--help" | "-h" => return Ok(Command::Help),
            name => {
                let found = SCENARIOS
                    .iter()
                    .filter(|s| s.name == name || s.name.starts_with(&format!("{name}-")));
                let before = scenarios.len();
                scenarios.extend(found);
                if scenarios.len() == before {
                    return Err(format!("not a scenario or an option: {name}"));
                }
            }
        }
    }
    if scenarios.is_empty() {
        scenarios.extend(SCENARIOS);
    }
    for binary in [Some(&settings.binary), settings.sabotaged.as_ref()].into_iter().flatten() {
        if !binary.is_file() {
            return Err(format!("{} is not there", binary.display()));
        }
    }
    Ok(Command::Run { settings, scenarios, is_json })
}
