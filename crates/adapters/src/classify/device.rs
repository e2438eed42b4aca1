//! Kinds of devices, told by what user agents say about themselves.

use signpost_domain::click::DeviceClass;

/// Words of televisions and the boxes beneath them. Fire TV names its models `AFT…`.
const TVS: &[&str] = &[
    "smart-tv",
    "smarttv",
    "smart tv",
    "hbbtv",
    "appletv",
    "apple tv",
    "googletv",
    "google tv",
    "android tv",
    "androidtv",
    "web0s",
    "webos.tv",
    "netcast",
    "bravia",
    "roku",
    "crkey",
    "viera",
    "vidaa",
    "aquosbrowser",
    "; aft",
    "dtv",
    "tv safari",
    "nettv",
    "opera tv",
    "mitv",
    "mibox",
    "shield android",
    "tvos",
    "ce-html",
    "large screen",
    "inettvbrowser",
];
const CONSOLES: &[&str] = &["playstation", "xbox", "nintendo", "psp (", "steam deck"];
const WEARABLES: &[&str] =
    &["watch", "wear os", "wearos", "; quest", "oculusbrowser", "xrealair", "google glass"];
const TABLETS: &[&str] = &["ipad", "tablet", "kindle", "silk/", "playbook", "touchpad"];
const PHONES: &[&str] = &[
    "iphone",
    "ipod",
    "windows phone",
    "iemobile",
    "blackberry",
    "bb10",
    "kaios",
    "symbian",
    "series60",
    "opera mini",
    "opera mobi",
    "midp",
    "nokia",
    "j2me",
    "ucweb",
];
const DESKTOPS: &[&str] =
    &["windows nt", "macintosh", "mac os x", "x11", "linux x86_64", "linux i686"];

/// The kind of device behind a user agent, with the system's name where it is known; nothing for
/// a text that doesn't tell.
pub(super) fn class_of(text: &str, system: Option<&str>) -> Option<DeviceClass> {
    let text = text.to_ascii_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_android = text.contains("android") || text.contains("linux; u; adr ");
    // Samsung's phones and watches ran Tizen too, and say `Mobile` where its televisions don't.
    let is_tizen_tv = text.contains("tizen") && text.contains("tv");
    if names(CONSOLES) {
        return Some(DeviceClass::Console);
    }
    if names(TVS) || is_tizen_tv {
        return Some(DeviceClass::Tv);
    }
    if names(WEARABLES) || system == Some("watchOS") {
        return Some(DeviceClass::Wearable);
    }
    if names(PHONES) {
        return Some(DeviceClass::Phone);
    }
    // An Amazon tablet says `Mobile` too, and Windows says `Tablet PC` on desktops.
    let is_tablet = names(TABLETS) && !text.contains("tablet pc");
    if is_android || text.contains("harmonyos") {
        let is_phone = text.contains("mobile") && !is_tablet;
        return Some(if is_phone { DeviceClass::Phone } else { DeviceClass::Tablet });
    }
    if is_tablet {
        return Some(DeviceClass::Tablet);
    }
    if names(DESKTOPS) {
        return Some(DeviceClass::Desktop);
    }
    // A native app on Apple's phones names neither device nor system.
    match system {
        Some("iOS") => Some(DeviceClass::Phone),
        _ if text.contains("mobile") => Some(DeviceClass::Phone),
        _ => None,
    }
}
