//! The command line.

mod admin;
mod app;
mod chores;
mod classify;
mod journal;
mod key;
mod serve;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use signpost_adapters::db::SchemaState;
use tracing_subscriber::EnvFilter;

use crate::config::{Config, SETTINGS};
use crate::wiring::{self, Services};

/// Exit codes as sysexits.h has them.
const USAGE: u8 = 64;
const SOFTWARE: u8 = 70;
const CONFIG: u8 = 78;

/// Why a command ended early: an exit code and what to tell the operator.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    lines: Vec<String>,
}

impl Failure {
    /// Wrong arguments.
    pub(crate) fn usage(line: impl Into<String>) -> Self {
        Self { code: USAGE, lines: vec![line.into()] }
    }

    /// What was looked for was found, and is bad.
    pub(crate) fn found(line: impl Into<String>) -> Self {
        Self { code: 1, lines: vec![line.into()] }
    }

    /// Anything that went wrong on the way.
    pub(crate) fn because(line: impl Into<String>) -> Self {
        Self { code: SOFTWARE, lines: vec![line.into()] }
    }
}

impl From<signpost_domain::ports::StoreError> for Failure {
    fn from(error: signpost_domain::ports::StoreError) -> Self {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        Self::because(format!("{error}: {cause}"))
    }
}

/// Runs the program with its arguments.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match command_line().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    match dispatch(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in &failure.lines {
                eprintln!("signpost: {line}");
            }
            ExitCode::from(failure.code)
        }
    }
}

fn command_line() -> Command {
    let mut command = Command::new("signpost")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Links of mobile apps that work: API, redirects and click statistics in one binary")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("serve").about("Runs the whole service"))
        .subcommand(Command::new("migrate").about("Brings the database's schema up to date"))
        .subcommand(app::command())
        .subcommand(key::command())
        .subcommand(admin::command())
        .subcommand(classify::command())
        .subcommand(journal::command());
    for setting in SETTINGS {
        let default = match setting.default {
            "" => String::new(),
            default => format!(" [default: {default}]"),
        };
        command = command.arg(
            Arg::new(setting.name)
                .long(setting.flag())
                .env(setting.name)
                .hide_env_values(setting.secret)
                .global(true)
                .value_name("VALUE")
                .help(format!("{}{default}", setting.help))
                .help_heading("Settings"),
        );
    }
    command
}

fn dispatch(matches: &ArgMatches) -> Result<(), Failure> {
    let (name, matches) = matches.subcommand().ok_or_else(|| Failure::usage("name a command"))?;
    if name == "classify" {
        return classify::run();
    }
    let config = Config::read(|name| matches.get_one::<String>(name).cloned())
        .map_err(|lines| Failure { code: CONFIG, lines })?;
    start_logging(&config.log);
    warn_of_unknown_variables();
    match (name, matches) {
        ("serve", _) => serve::run(&config),
        ("migrate", _) => migrate(&config),
        ("app", matches) => app::run(&ready(&config)?, matches),
        ("key", matches) => key::run(&ready(&config)?, matches),
        ("admin", matches) => admin::run(&ready(&config)?, matches),
        ("journal", matches) => {
            if journal::run_offline(&config, matches)? {
                return Ok(());
            }
            journal::replay(&config, &ready(&config)?)
        }
        _ => Err(Failure::usage("unknown command")),
    }
}

/// The services over a database whose schema is up to date; anything else is refused.
fn ready(config: &Config) -> Result<Services, Failure> {
    let services = build(config)?;
    match services.databases.check() {
        Ok(SchemaState::Current) => Ok(services),
        Ok(SchemaState::Behind { .. }) => Err(Failure::because(format!(
            "the database {} is missing or not up to date; run signpost migrate or signpost serve",
            config.database
        ))),
        Err(error) => Err(Failure::because(format!("{}: {error}", config.database))),
    }
}

fn build(config: &Config) -> Result<Services, Failure> {
    wiring::build(config).map_err(|error| {
        Failure::because(format!("the data directory {}: {error}", config.data_dir.display()))
    })
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
fn migrate(config: &Config) -> Result<(), Failure> {
    let services = build(config)?;
    let ran = services.databases.migrate().map_err(|error| {
        let cause = std::error::Error::source(&error).map(|c| format!(": {c}")).unwrap_or_default();
        Failure::because(format!("{}: {error}{cause}", config.database))
    })?;
    match ran {
        0 => println!("{} is up to date", config.database),
        n => println!("{} is up to date now, after {n} migrations", config.database),
    }
    Ok(())
}

/// A line a person likes on a terminal, JSON lines for a collector otherwise; to standard error,
/// because answers of commands go to standard output.
fn start_logging(filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _ = if std::io::stderr().is_terminal() {
        builder.with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}

/// A mistyped variable is silent otherwise. Not an error: orchestrators put variables of their own
/// beside ours (`SIGNPOST_SERVICE_HOST` for a service of that name).
fn warn_of_unknown_variables() {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("SIGNPOST_")) else {
            continue;
        };
        if SETTINGS.iter().all(|setting| setting.name != name) {
            tracing::warn!(variable = name, "there is no setting of this name");
        }
    }
}
