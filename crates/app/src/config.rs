//! Configuration: environment variables, or flags of the same name.

mod parse;
mod settings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use signpost_adapters::click_journal::Durability;
use signpost_adapters::db::DatabaseUrl;
use signpost_domain::click::AddressMode;

use crate::proxies::TrustedProxies;
use parse::{
    list, parse_address, parse_base_url, parse_bytes, parse_days, parse_duration, parse_network,
    parse_origin, parse_rate_limits, parse_secrets,
};
pub(crate) use settings::{SETTINGS, Setting};

/// Everything an operator can set, checked.
#[derive(Clone)]
pub struct Config {
    /// Where the database is.
    pub database: DatabaseUrl,
    /// Where files are kept.
    pub data_dir: PathBuf,
    /// Where requests are answered.
    pub listen: SocketAddr,
    /// Where Prometheus reads; nothing when turned off.
    pub metrics_listen: Option<SocketAddr>,
    /// What the URLs of links start with, without a slash at its end.
    pub base_url: String,
    /// The signing secrets, the first of which signs; empty means that one is made and kept in
    /// the data directory.
    pub jwt_secrets: Vec<Vec<u8>>,
    /// Whose word on the client's address is taken.
    pub trusted_proxies: TrustedProxies,
    /// Origins from which a dashboard may call the Admin API.
    pub cors_origins: Vec<String>,
    /// How much of an address is stored.
    pub address_mode: AddressMode,
    /// How long clicks are kept.
    pub retention: Retention,
    /// How often anybody may ask.
    pub rate_limits: RateLimits,
    /// What a redirect waits for.
    pub durability: Durability,
    /// How long a redirect waits for the disk; nothing means for ever.
    pub click_max_wait: Option<Duration>,
    /// How many bytes the click journal may take.
    pub journal_max_bytes: u64,
    /// What is logged.
    pub log: String,
}

/// Longest time that clicks may be kept, in days: a hundred years.
const MAX_DAYS: u32 = 36_525;

/// How long clicks are kept, in days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// With their full addresses.
    pub address_days: u32,
    /// At all.
    pub click_days: u32,
}

/// Requests a minute; nothing means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Reading links, per key.
    pub read: Option<u32>,
    /// Writing links, per key.
    pub write: Option<u32>,
    /// Resolving links inside apps, per key.
    pub resolve: Option<u32>,
    /// Signing in, per account and network; ten times that per network.
    pub login: Option<u32>,
}

impl RateLimits {
    /// No limit on anything.
    pub const OFF: Self = Self { read: None, write: None, resolve: None, login: None };
}

impl Config {
    /// Reads the settings; `lookup` answers the text of a setting by its variable's name.
    ///
    /// All mistakes are reported at once, one line each, and no line shows a secret.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, Vec<String>> {
        let mut reader = Reader { lookup, mistakes: Vec::new() };
        let data_dir = PathBuf::from(reader.text("SIGNPOST_DATA_DIR"));
        let database = reader.parse("DATABASE_URL", |text| {
            if text.is_empty() {
                return Ok(DatabaseUrl::Sqlite(data_dir.join("signpost.db")));
            }
            DatabaseUrl::parse(text).map_err(|e| e.to_string())
        });
        let listen = reader.parse("SIGNPOST_LISTEN", parse_address);
        let metrics_listen = reader.parse("SIGNPOST_METRICS_LISTEN", |text| {
            if text == "off" { Ok(None) } else { parse_address(text).map(Some) }
        });
        let base_url = reader.parse("SIGNPOST_BASE_URL", parse_base_url);
        let jwt_secrets = reader.parse("SIGNPOST_JWT_SECRET", parse_secrets);
        let trusted_proxies = reader.parse("SIGNPOST_TRUSTED_PROXIES", |text| {
            list(text).map(parse_network).collect::<Result<Vec<_>, _>>().map(TrustedProxies::new)
        });
        let cors_origins = reader.parse("SIGNPOST_CORS_ORIGINS", |text| {
            list(text).map(parse_origin).collect::<Result<Vec<_>, _>>()
        });
        let address_mode = reader.parse("SIGNPOST_IP_MODE", |text| match text {
            "full" => Ok(AddressMode::Full),
            "truncated" => Ok(AddressMode::Truncated),
            "none" => Ok(AddressMode::None),
            _ => Err("must be full, truncated or none".to_owned()),
        });
        let address_days = reader.parse("SIGNPOST_IP_RETENTION_DAYS", parse_days);
        let click_days = reader.parse("SIGNPOST_CLICK_RETENTION_DAYS", parse_days);
        let rate_limits = reader.parse("SIGNPOST_RATE_LIMIT", parse_rate_limits);
        let durability = reader.parse("SIGNPOST_CLICK_DURABILITY", |text| match text {
            "disk" => Ok(Durability::Disk),
            "process" => Ok(Durability::Process),
            _ => Err("must be disk or process".to_owned()),
        });
        let click_max_wait = reader.parse("SIGNPOST_CLICK_MAX_WAIT", |text| {
            parse_duration(text).map(|wait| Some(wait).filter(|wait| !wait.is_zero()))
        });
        let journal_max_bytes = reader.parse("SIGNPOST_JOURNAL_MAX_BYTES", parse_bytes);
        let log = reader.parse("SIGNPOST_LOG", |text| {
            text.parse::<tracing_subscriber::EnvFilter>()
                .map(|_| text.to_owned())
                .map_err(|_| "is not a filter such as info or signpost=debug,warn".to_owned())
        });
        let whole = (|| {
            Some(Self {
                database: database?,
                data_dir,
                listen: listen?,
                metrics_listen: metrics_listen?,
                base_url: base_url?,
                jwt_secrets: jwt_secrets?,
                trusted_proxies: trusted_proxies?,
                cors_origins: cors_origins?,
                address_mode: address_mode?,
                retention: Retention { address_days: address_days?, click_days: click_days? },
                rate_limits: rate_limits?,
                durability: durability?,
                click_max_wait: click_max_wait?,
                journal_max_bytes: journal_max_bytes?,
                log: log?,
            })
        })();
        whole.ok_or(reader.mistakes)
    }
}

struct Reader<L> {
    lookup: L,
    mistakes: Vec<String>,
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    /// The text of a setting, its default when absent or empty: an empty variable is how many
    /// tools say "not set".
    fn text(&self, name: &str) -> String {
        let given = (self.lookup)(name).filter(|text| !text.is_empty());
        given.unwrap_or_else(|| Setting::named(name).default.to_owned())
    }

    fn parse<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(name);
        match parse(&text) {
            Ok(value) => Some(value),
            Err(why) => {
                let shown = if Setting::named(name).secret { "(hidden)" } else { &text };
                self.mistakes.push(format!("{name}={shown}: {why}"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let find =
            |name: &str| settings.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Config::read(find)
    }

    #[test]
    fn nothing_needs_to_be_set() {
        let config = read(&[]).ok().unwrap();
        assert_eq!(config.database.to_string(), "sqlite://data/signpost.db");
        assert_eq!(config.base_url, "http://localhost:8080");
        assert_eq!(config.rate_limits.read, Some(3000));
        assert_eq!(config.retention, Retention { address_days: 30, click_days: 395 });
        assert_eq!(config.metrics_listen.map(|a| a.port()), Some(9464));
    }

    #[test]
    fn all_mistakes_are_reported_at_once_and_secrets_stay_hidden() {
        let mistakes = read(&[
            ("DATABASE_URL", "mysql://root:s3cret@db"),
            ("SIGNPOST_LISTEN", "8080"),
            ("SIGNPOST_BASE_URL", "go.example.com"),
            ("SIGNPOST_JWT_SECRET", "tooshort"),
            ("SIGNPOST_TRUSTED_PROXIES", "10.0.0.0/8,nonsense"),
            ("SIGNPOST_IP_MODE", "some"),
            ("SIGNPOST_IP_RETENTION_DAYS", "0"),
            ("SIGNPOST_CLICK_RETENTION_DAYS", "for ever"),
            ("SIGNPOST_RATE_LIMIT", "read=0/min"),
        ])
        .err()
        .unwrap();
        assert_eq!(mistakes.len(), 9, "{mistakes:?}");
        assert!(mistakes.iter().all(|line| !line.contains("s3cret") && !line.contains("tooshort")));
    }

    #[test]
    fn a_limit_that_is_not_named_keeps_its_default() {
        let limits = parse_rate_limits("write=1/min,login=off").unwrap();
        assert_eq!((limits.read, limits.write, limits.login), (Some(3000), Some(1), None));
        assert_eq!(parse_rate_limits("off").unwrap(), RateLimits::OFF);
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(parse_duration("10ms"), Ok(Duration::from_millis(10)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
        assert_eq!(parse_bytes("10GiB"), Ok(10 << 30));
        assert_eq!(parse_bytes("4096"), Ok(4096));
        for text in ["", "10", "ms", "-1s", "1h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["", "GiB", "1GB", "0", "99999999TiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_form_a_list_for_rotation() {
        let two = format!("{},{}", "a".repeat(32), "b".repeat(40));
        assert_eq!(parse_secrets(&two).unwrap().len(), 2);
    }
}
