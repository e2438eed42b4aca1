//! `signpost classify`: how user agents are read.

use std::io::{BufRead, Write};

use clap::Command;
use serde::Serialize;
use signpost_adapters::classify::UserAgents;
use signpost_domain::click::{BotReason, DeviceClass, NewClick, Platform};

use super::Failure;
use crate::public_api::view::to_json;

pub(super) fn command() -> Command {
    Command::new("classify").about(
        "Reads user agents from standard input, one a line, and prints what each says, as JSON",
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    platform: &'static str,
    browser: Option<String>,
    operating_system: Option<String>,
    os_version: Option<String>,
    device: Option<&'static str>,
    is_bot: bool,
    bot_reason: Option<&'static str>,
}

pub(super) fn run() -> Result<(), Failure> {
    let agents = UserAgents::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line.map_err(|error| Failure::because(format!("standard input: {error}")))?;
        let agent = NewClick::clean_user_agent(line.trim_ascii_end());
        let read = agents.classify(agent.as_deref());
        let printed = to_json(&Line {
            platform: Platform::detect(None, agent.as_deref()).as_str(),
            browser: read.browser,
            operating_system: read.operating_system,
            os_version: read.os_version,
            device: read.device.map(DeviceClass::as_str),
            is_bot: read.bot.is_some(),
            bot_reason: read.bot.map(BotReason::as_str),
        });
        // A reader that has seen enough, such as head, closes the pipe: no failure of ours.
        if writeln!(out, "{printed}").is_err() {
            break;
        }
    }
    Ok(())
}
