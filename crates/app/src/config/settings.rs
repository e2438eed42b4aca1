//! The list of settings, from which flags, help and the documentation's test are made.

/// One thing an operator can set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// The environment variable.
    pub(crate) name: &'static str,
    /// The value without any; empty where the value is worked out.
    pub(crate) default: &'static str,
    /// Whether the value must not be printed.
    pub(crate) secret: bool,
    /// What it means, in a line.
    pub(crate) help: &'static str,
}

const fn setting(name: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { name, default, secret: false, help }
}

/// All settings.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "DATABASE_URL",
        default: "",
        secret: true,
        help: "sqlite://FILE, postgres://… or postgresql://…; by default a file in the data directory",
    },
    setting(
        "SIGNPOST_DATA_DIR",
        "data",
        "directory of the embedded database and generated secrets",
    ),
    setting("SIGNPOST_LISTEN", "127.0.0.1:8080", "address of API and redirects"),
    setting("SIGNPOST_METRICS_LISTEN", "127.0.0.1:9464", "address of Prometheus metrics, or off"),
    setting("SIGNPOST_BASE_URL", "http://localhost:8080", "what the URLs of links start with"),
    Setting {
        name: "SIGNPOST_JWT_SECRET",
        default: "",
        secret: true,
        help: "signing secrets of 32 bytes or more, separated by commas; generated without any",
    },
    setting("SIGNPOST_TRUSTED_PROXIES", "", "networks whose X-Forwarded headers are believed"),
    setting("SIGNPOST_CORS_ORIGINS", "", "origins of dashboards on other hosts"),
    setting(
        "SIGNPOST_CLICK_DURABILITY",
        "disk",
        "what a redirect waits for: disk, or process (the page cache)",
    ),
    setting(
        "SIGNPOST_CLICK_MAX_WAIT",
        "10ms",
        "the longest a redirect waits for the disk; 0: for ever",
    ),
    setting("SIGNPOST_JOURNAL_MAX_BYTES", "10GiB", "how much disk the click journal may take"),
    setting(
        "SIGNPOST_IP_MODE",
        "full",
        "how much of an address is stored: full, truncated or none",
    ),
    setting("SIGNPOST_IP_RETENTION_DAYS", "30", "days after which full addresses are truncated"),
    setting("SIGNPOST_CLICK_RETENTION_DAYS", "395", "days after which clicks are erased"),
    setting(
        "SIGNPOST_RATE_LIMIT",
        "read=3000/min,write=600/min,resolve=6000/min,login=10/min",
        "requests a minute per key, or off",
    ),
    setting("SIGNPOST_LOG", "info", "what is logged, as a tracing filter"),
];

impl Setting {
    /// The setting of a variable; the name is a constant of this program.
    pub(crate) fn named(name: &str) -> &'static Self {
        SETTINGS.iter().find(|setting| setting.name == name).expect("the setting is on the list")
    }

    /// The flag of the same name: `SIGNPOST_DATA_DIR` is `--data-dir`.
    pub(crate) fn flag(&self) -> String {
        self.name.trim_start_matches("SIGNPOST_").to_lowercase().replace('_', "-")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_documentation_lists_every_setting_with_its_default_and_no_other() {
        let page = include_str!("../../../../docs/configuration.md");
        let documented: BTreeMap<String, String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .filter_map(|line| {
                let mut cells = line.split(" | ");
                let name = cells.next()?.trim_end_matches('`').to_owned();
                let default = cells.nth(1)?.trim_matches('`').to_owned();
                Some((name, default))
            })
            .collect();
        let known: BTreeMap<String, String> = SETTINGS
            .iter()
            .map(|s| (s.name.to_owned(), s.default.to_owned()))
            .map(|(name, default)| {
                (name, if default.is_empty() { "none".to_owned() } else { default })
            })
            .collect();
        assert_eq!(documented, known);
    }
}
