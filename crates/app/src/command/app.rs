//! `signpost app`.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use signpost_domain::app::{App, AppId};
use signpost_domain::ports::SaveAppError;
use signpost_domain::service::CreateAppError;

use super::Failure;
use super::key::json_arg;
use crate::admin_api::app_body::{read_new, read_patch};
use crate::admin_api::app_view::AppView;
use crate::fields::Fields;
use crate::problem::FieldError;
use crate::public_api::view::to_json;
use crate::wiring::Services;

/// How a setting is written on the command line.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// Repeated for each entry; one empty text empties the list.
    List,
    Number,
    Flag,
}

/// Flag, place in the body, kind, help: every setting of an app.
const SETTINGS: &[(&str, &str, Kind, &str)] = &[
    ("name", "/name", Kind::Text, "Display name"),
    ("slug", "/slug", Kind::Text, "Word in URLs"),
    ("host", "/hosts", Kind::List, "Host of the links; may be repeated, the first counts"),
    ("ios-app-id", "/ios/appIds", Kind::List, "TEAMID1234.com.example.shop; may be repeated"),
    ("ios-store-url", "/ios/storeUrl", Kind::Text, "App Store page"),
    ("ios-fallback-url", "/ios/fallbackUrl", Kind::Text, "Taken before the App Store page"),
    ("android-package", "/android/packageName", Kind::Text, "com.example.shop"),
    (
        "android-fingerprint",
        "/android/certificateFingerprints",
        Kind::List,
        "SHA-256 of a signing certificate; may be repeated",
    ),
    ("android-store-url", "/android/storeUrl", Kind::Text, "Play Store page"),
    (
        "android-fallback-url",
        "/android/fallbackUrl",
        Kind::Text,
        "Taken before the Play Store page",
    ),
    ("web-fallback-url", "/webFallbackUrl", Kind::Text, "Where everybody else goes"),
    ("custom-scheme", "/customSchemes", Kind::List, "URL scheme of the app; may be repeated"),
    ("install-referrer-hours", "/matching/installReferrerHours", Kind::Number, "1–2160"),
    ("clipboard-hours", "/matching/clipboardHours", Kind::Number, "1–168"),
    ("probabilistic-android", "/matching/probabilisticAndroid", Kind::Flag, "true or false"),
    ("probabilistic-ios", "/matching/probabilisticIos", Kind::Flag, "true or false"),
    ("probabilistic-minutes", "/matching/probabilisticMinutes", Kind::Number, "1–1440"),
    ("threshold", "/matching/threshold", Kind::Number, "0.5–0.99"),
    ("interstitial", "/interstitial/enabled", Kind::Flag, "true or false"),
];

pub(super) fn command() -> Command {
    let with_settings = |mut command: Command| {
        for (flag, _, kind, help) in SETTINGS {
            let action =
                if matches!(kind, Kind::List) { ArgAction::Append } else { ArgAction::Set };
            command = command.arg(Arg::new(*flag).long(*flag).action(action).help(*help));
        }
        command.arg(json_arg())
    };
    Command::new("app")
        .about("Manages apps, which own links and keys")
        .subcommand_required(true)
        .subcommand(with_settings(Command::new("create").about("Creates an app")))
        .subcommand(Command::new("list").about("Lists apps").arg(json_arg()))
        .subcommand(
            with_settings(Command::new("set").about("Changes an app; an empty value clears")).arg(
                Arg::new("app")
                    .long("app")
                    .required(true)
                    .value_parser(value_parser!(i64))
                    .help("The app's number"),
            ),
        )
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
pub(super) fn run(services: &Services, matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("create", matches)) => {
            let body = body_of(matches)?;
            let fields = Fields::of_body(body.as_bytes()).map_err(|e| Failure::usage(e.detail))?;
            let (name, patch) = read_new(fields).map_err(|errors| refused(&errors))?;
            let app = services.apps.create(name, patch).map_err(|error| match error {
                CreateAppError::SlugNeeded => Failure::usage("--slug is needed for this name"),
                CreateAppError::SlugTaken => Failure::usage("--slug is taken"),
                CreateAppError::Store(error) => error.into(),
            })?;
            print(&app, matches.get_flag("json"));
        }
        Some(("set", matches)) => {
            let id = AppId(matches.get_one::<i64>("app").copied().unwrap_or_default());
            let missing = || Failure::usage(format!("there is no app {}", id.0));
            let app = services.apps.find(id)?.ok_or_else(missing)?;
            let body = body_of(matches)?;
            let fields = Fields::of_body(body.as_bytes()).map_err(|e| Failure::usage(e.detail))?;
            let patch = read_patch(fields, &app.settings.custom_schemes)
                .map_err(|errors| refused(&errors))?;
            let app = services.apps.update(id, patch).map_err(|error| match error {
                SaveAppError::SlugTaken => Failure::usage("--slug is taken"),
                SaveAppError::Store(error) => error.into(),
            })?;
            print(&app.ok_or_else(missing)?, matches.get_flag("json"));
        }
        Some(("list", matches)) => {
            let apps = services.apps.list()?;
            if matches.get_flag("json") {
                println!("{}", to_json(&apps.iter().map(AppView::from).collect::<Vec<_>>()));
            } else {
                for app in &apps {
                    print(app, false);
                }
            }
        }
        _ => return Err(Failure::usage("create, list or set?")),
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the answer to the command")]
fn print(app: &App, as_json: bool) {
    if as_json {
        println!("{}", to_json(&AppView::from(app)));
    } else {
        let hosts: Vec<_> = app.hosts.iter().map(ToString::to_string).collect();
        println!("{:>5}  {:<20} {}  {}", app.id.0, app.slug, app.name.as_str(), hosts.join(" "));
    }
}

/// The body that a client of the Admin API would send for these flags, so that one reader judges
/// both.
fn body_of(matches: &ArgMatches) -> Result<String, Failure> {
    let mut body = json!({});
    for (flag, place, kind, _) in SETTINGS {
        let Some(texts) = matches.get_many::<String>(flag) else { continue };
        let texts: Vec<&String> = texts.collect();
        let text = texts.last().map_or("", |t| t.as_str());
        let value = match kind {
            _ if text.is_empty() => Value::Null,
            Kind::Text => json!(text),
            Kind::List => json!(texts),
            Kind::Number | Kind::Flag => serde_json::from_str(text)
                .map_err(|_| Failure::usage(format!("--{flag} {text} is not valid")))?,
        };
        let mut at = &mut body;
        for name in place.split('/').skip(1) {
            at = &mut at[name];
        }
        *at = value;
    }
    Ok(body.to_string())
}

fn refused(errors: &[FieldError]) -> Failure {
    let line = |error: &FieldError| {
        let flag = SETTINGS.iter().find(|(_, place, ..)| error.field.starts_with(place));
        let name = flag.map_or_else(|| error.field.clone(), |(flag, ..)| format!("--{flag}"));
        format!("{name} {}", error.message)
    };
    Failure { code: super::USAGE, lines: errors.iter().map(line).collect() }
}
