//! Reading user agents: browser, system, kind of device, and whether it is a robot.

mod bots;
mod device;
mod names;

use std::sync::OnceLock;

use quick_cache::sync::Cache;
use serde::Deserialize;
use signpost_domain::click::{BotReason, Classification};
use ua_parser::{os, user_agent};

use self::bots::Bots;

/// Distinct user agents remembered. Most visitors share a few hundred.
const REMEMBERED: usize = 10_000;

/// Reads user agents by the patterns of uap-core and isbot.
pub struct UserAgents {
    remembered: Cache<String, Classification>,
}

impl Default for UserAgents {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for UserAgents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserAgents").field("remembered", &self.remembered.len()).finish()
    }
}

impl UserAgents {
    /// A reader that has seen nothing yet.
    pub fn new() -> Self {
        Self { remembered: Cache::new(REMEMBERED) }
    }

    /// Compiles the patterns, which takes a tenth of a second and some megabytes, and happens at
    /// the first use otherwise.
    pub fn warm_up(&self) {
        rules();
    }

    /// What a user agent says.
    pub fn classify(&self, user_agent: Option<&str>) -> Classification {
        let Some(text) = user_agent.filter(|text| !text.trim().is_empty()) else {
            return Classification {
                bot: Some(BotReason::NoUserAgent),
                ..Classification::default()
            };
        };
        if let Some(known) = self.remembered.get(text) {
            return known;
        }
        let read = rules().read(text);
        self.remembered.insert(text.to_owned(), read.clone());
        read
    }
}

/// The patterns, compiled once for the whole program.
fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(Rules::load)
}

struct Rules {
    browsers: user_agent::Extractor<'static>,
    systems: os::Extractor<'static>,
    bots: Bots,
}

/// The two lists of uap-core that are in use; its third, of devices, is the largest by far and
/// names models, not kinds.
#[derive(Deserialize)]
struct UapCore {
    user_agent_parsers: Vec<user_agent::Parser<'static>>,
    os_parsers: Vec<os::Parser<'static>>,
}

impl Rules {
    fn load() -> Self {
        let uap: UapCore = serde_json::from_str(include_str!("../data/uap-core.json"))
            .expect("the tests read this file");
        let browsers = user_agent::Builder::new()
            .push_all(uap.user_agent_parsers)
            .ok()
            .and_then(|builder| builder.build().ok());
        let systems = os::Builder::new()
            .push_all(uap.os_parsers)
            .ok()
            .and_then(|builder| builder.build().ok());
        Self {
            browsers: browsers.expect("the tests compile these patterns"),
            systems: systems.expect("the tests compile these patterns"),
            bots: Bots::load(),
        }
    }

    fn read(&self, text: &str) -> Classification {
        let browser = self.browsers.extract(text);
        let system = self.systems.extract(text);
        let system_name = system.as_ref().and_then(|system| names::system(&system.os));
        Classification {
            browser: browser.as_ref().and_then(|browser| names::browser(&browser.family)),
            os_version: system.as_ref().and_then(|system| names::version(text, system)),
            device: device::class_of(text, system_name.as_deref()),
            operating_system: system_name,
            bot: self.bots.knows(text).then_some(BotReason::UserAgent),
        }
    }
}

#[cfg(test)]
mod tests;
