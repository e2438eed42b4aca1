//! `signpost admin`.

use std::io::Read;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use signpost_domain::access::{AdminEmail, Role};
use signpost_domain::app::AppId;
use signpost_domain::ports::InsertAdminError;

use super::Failure;
use super::key::json_arg;
use crate::wiring::Services;

pub(super) fn command() -> Command {
    let email = Arg::new("email").long("email").required(true).help("The admin's address");
    let password = Arg::new("password-stdin")
        .long("password-stdin")
        .action(ArgAction::SetTrue)
        .required(true)
        .help("Reads the password from standard input, where no process list shows it");
    Command::new("admin")
        .about("Manages the admins of the dashboard")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Creates an admin")
                .arg(email.clone())
                .arg(password.clone())
                .arg(Arg::new("role").long("role").default_value("owner").help("owner or member"))
                .arg(
                    Arg::new("app")
                        .long("app")
                        .action(ArgAction::Append)
                        .value_parser(value_parser!(i64))
                        .help("An app that a member may see; may be repeated"),
                )
                .arg(json_arg()),
        )
        .subcommand(
            Command::new("reset-password")
                .about("Sets a new password and ends all sessions of the admin")
                .arg(email)
                .arg(password),
        )
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
pub(super) fn run(services: &Services, matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("create", matches)) => create(services, matches),
        Some(("reset-password", matches)) => {
            let email = email(matches)?;
            if services.sessions.reset_password(&email, &password()?)? {
                println!("{} has a new password; all sessions have ended", email.as_str());
                Ok(())
            } else {
                Err(Failure::usage(format!("there is no admin {}", email.as_str())))
            }
        }
        _ => Err(Failure::usage("create or reset-password?")),
    }
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
fn create(services: &Services, matches: &ArgMatches) -> Result<(), Failure> {
    let email = email(matches)?;
    let role = matches.get_one::<String>("role").map(String::as_str).unwrap_or_default();
    let role = Role::parse(role).map_err(|error| Failure::usage(format!("--role {error}")))?;
    let apps: Vec<AppId> =
        matches.get_many::<i64>("app").into_iter().flatten().copied().map(AppId).collect();
    for app in &apps {
        if services.apps.find(*app)?.is_none() {
            return Err(Failure::usage(format!("there is no app {}", app.0)));
        }
    }
    let admin =
        services.sessions.create_admin(&email, &password()?, role, &apps).map_err(|error| {
            match error {
                InsertAdminError::EmailTaken => {
                    Failure::usage(format!("{} is an admin already", email.as_str()))
                }
                InsertAdminError::Store(error) => error.into(),
            }
        })?;
    if matches.get_flag("json") {
        let apps: Vec<i64> = admin.apps.iter().map(|app| app.0).collect();
        let role = admin.role.as_str();
        println!(
            "{}",
            json!({ "id": admin.id.0, "email": admin.email.as_str(), "role": role, "apps": apps })
        );
    } else {
        println!("admin {}: {}", admin.id.0, admin.email.as_str());
    }
    Ok(())
}

fn email(matches: &ArgMatches) -> Result<AdminEmail, Failure> {
    let text = matches.get_one::<String>("email").map(String::as_str).unwrap_or_default();
    AdminEmail::parse(text).map_err(|error| Failure::usage(format!("--email {error}")))
}

/// At least twelve characters: what NIST SP 800-63B asks of a password that stands alone is eight;
/// an admin's opens every app.
fn password() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("the password can't be read: {error}")))?;
    let password = text.trim_end_matches(['\n', '\r']);
    if password.chars().count() < 12 || password.len() > 1024 {
        return Err(Failure::usage("the password needs 12 characters or more, 1024 bytes at most"));
    }
    Ok(password.to_owned())
}
