//! `signpost key`.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use signpost_domain::access::{ApiKey, ApiKeyId, KeyName, Scope, Scopes};
use signpost_domain::app::AppId;
use signpost_domain::time::parse_moment;

use super::Failure;
use crate::public_api::view::time;
use crate::wiring::Services;

pub(super) fn command() -> Command {
    Command::new("key")
        .about("Manages API keys")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Creates a key and shows it once")
                .arg(app_arg().required(true))
                .arg(
                    Arg::new("scope")
                        .long("scope")
                        .action(ArgAction::Append)
                        .required(true)
                        .help("links:read, links:write or sdk:resolve; may be repeated"),
                )
                .arg(
                    Arg::new("name")
                        .long("name")
                        .default_value("command line")
                        .help("What it is for"),
                )
                .arg(
                    Arg::new("expires-at")
                        .long("expires-at")
                        .help("When it stops working, ISO 8601"),
                )
                .arg(json_arg()),
        )
        .subcommand(Command::new("list").about("Lists keys").arg(app_arg()).arg(json_arg()))
        .subcommand(Command::new("revoke").about("Makes a key useless at once").arg(
            Arg::new("id").required(true).value_parser(value_parser!(i64)).help("The key's number"),
        ))
}

fn app_arg() -> Arg {
    Arg::new("app").long("app").value_parser(value_parser!(i64)).help("The app's number")
}

pub(super) fn json_arg() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Prints JSON")
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
pub(super) fn run(services: &Services, matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("create", matches)) => create(services, matches),
        Some(("list", matches)) => {
            let app = matches.get_one::<i64>("app").copied().map(AppId);
            let keys = services.keys.list(app)?;
            if matches.get_flag("json") {
                println!("{}", json!(keys.iter().map(describe).collect::<Vec<_>>()));
                return Ok(());
            }
            for key in keys {
                let state = if key.is_active(services.clock.now()) { "active" } else { "ended" };
                let scopes: Vec<_> = key.scopes.iter().map(Scope::as_str).collect();
                println!(
                    "{:>5}  app {:<4} {}…  {:<6}  {}  {}",
                    key.id.0,
                    key.app_id.0,
                    key.prefix,
                    state,
                    scopes.join(" "),
                    key.name.as_str()
                );
            }
            Ok(())
        }
        Some(("revoke", matches)) => {
            let id = matches.get_one::<i64>("id").copied().unwrap_or_default();
            if services.keys.revoke(ApiKeyId(id))? {
                println!("key {id} is revoked");
                Ok(())
            } else {
                Err(Failure::usage(format!("there is no key {id}")))
            }
        }
        _ => Err(Failure::usage("create, list or revoke?")),
    }
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
fn create(services: &Services, matches: &ArgMatches) -> Result<(), Failure> {
    let wrong =
        |what: &str, error: signpost_domain::Invalid| Failure::usage(format!("{what} {error}"));
    let app = AppId(matches.get_one::<i64>("app").copied().unwrap_or_default());
    let scopes = matches
        .get_many::<String>("scope")
        .into_iter()
        .flatten()
        .map(|text| Scope::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .and_then(Scopes::new)
        .map_err(|error| wrong("--scope", error))?;
    let name = matches.get_one::<String>("name").map(String::as_str).unwrap_or_default();
    let name = KeyName::parse(name).map_err(|error| wrong("--name", error))?;
    let expires_at = matches
        .get_one::<String>("expires-at")
        .map(|text| parse_moment(text))
        .transpose()
        .map_err(|error| wrong("--expires-at", error))?;
    if services.apps.find(app)?.is_none() {
        return Err(Failure::usage(format!("there is no app {}", app.0)));
    }
    let (key, plain) = services.keys.create(app, name, scopes, expires_at)?;
    if matches.get_flag("json") {
        let mut answer = describe(&key);
        answer["key"] = json!(plain.expose());
        println!("{answer}");
    } else {
        println!("key {} of app {}, shown once:\n{}", key.id.0, app.0, plain.expose());
    }
    Ok(())
}

fn describe(key: &ApiKey) -> serde_json::Value {
    json!({
        "id": key.id.0,
        "appId": key.app_id.0,
        "prefix": key.prefix,
        "name": key.name.as_str(),
        "kind": key.scopes.kind().as_str(),
        "scopes": key.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
        "createdAt": time(key.created_at),
        "expiresAt": key.expires_at.map(time),
        "revokedAt": key.revoked_at.map(time),
        "lastUsedAt": key.last_used_at.map(time),
    })
}
