//! The names and versions that statistics show.

use ua_parser::os;

/// Families that uap-core tells apart and people don't.
const BROWSERS: &[(&str, &str)] = &[
    ("Chrome Mobile", "Chrome"),
    ("Chrome Mobile iOS", "Chrome"),
    ("Chrome Mobile WebView", "Chrome WebView"),
    ("Chromium", "Chrome"),
    ("Mobile Safari", "Safari"),
    ("Mobile Safari UI/WKWebView", "Safari WebView"),
    ("Firefox Mobile", "Firefox"),
    ("Firefox iOS", "Firefox"),
    ("Firefox Focus", "Firefox"),
    ("Edge Mobile", "Edge"),
    ("Edge iOS", "Edge"),
    ("Opera Mobile", "Opera"),
    ("Opera Touch", "Opera"),
    ("IE Mobile", "IE"),
    ("Brave Mobile", "Brave"),
    ("DuckDuckGo Mobile", "DuckDuckGo"),
    ("Yandex Browser Mobile", "Yandex Browser"),
    ("Vivaldi Mobile", "Vivaldi"),
    ("QQ Browser Mobile", "QQ Browser"),
    ("Amazon Silk", "Silk"),
    ("Samsung Internet", "Samsung Internet"),
];

/// The name under which a browser is counted.
pub(super) fn browser(family: &str) -> Option<String> {
    let known = BROWSERS.iter().find(|(theirs, _)| *theirs == family);
    let name = known.map_or(family, |(_, ours)| ours);
    (!name.is_empty() && name != "Other").then(|| name.to_owned())
}

/// The name under which a system is counted.
pub(super) fn system(family: &str) -> Option<String> {
    let name = match family {
        "Mac OS X" => "macOS",
        "ATV OS X" => "tvOS",
        "WatchOS" => "watchOS",
        other => other,
    };
    (!name.is_empty() && name != "Other").then(|| name.to_owned())
}

/// A system's version, as far as the text can be believed.
///
/// Chrome says `Android 10; K` on every Android since its user agent was frozen; Safari says
/// `18_6` or `18_7` on every iOS from 26 on and tells the truth under `Version/`; all browsers call
/// every macOS since 2019 10.15. Windows 11 can't be told from 10 and stays that.
pub(super) fn version(text: &str, system: &os::ValueRef<'_>) -> Option<String> {
    let major = system.major.as_deref()?;
    match &*system.os {
        "Android" if text.contains("Android 10; K)") => return None,
        "Mac OS X" if text.contains("Mac OS X 10_15_7") || text.contains("Mac OS X 10.15;") => {
            return None;
        }
        "iOS" if major == "18" && matches!(system.minor.as_deref(), Some("6" | "7")) => {
            if let Some(true_version) = safari_version(text) {
                return Some(true_version);
            }
        }
        _ => {}
    }
    Some(match system.minor.as_deref() {
        Some(minor) => format!("{major}.{minor}"),
        None => major.to_owned(),
    })
}

/// What stands after `Version/`, from 26 on, where Apple gave browser and system one number.
fn safari_version(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("Version/")?;
    let mut parts = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.split('.');
    let major: u32 = parts.next()?.parse().ok()?;
    let minor = parts.next().and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    (major >= 26).then(|| format!("{major}.{minor}"))
}
