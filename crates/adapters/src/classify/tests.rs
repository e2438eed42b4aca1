use signpost_domain::click::DeviceClass::{self, Console, Desktop, Phone, Tablet, Tv, Wearable};

use super::*;

fn classify(text: &str) -> Classification {
    UserAgents::new().classify(Some(text))
}

type Expected = (Option<&'static str>, Option<&'static str>, Option<&'static str>, DeviceClass);

fn is_person(text: &str, (browser, system, version, device): Expected) {
    let read = classify(text);
    assert_eq!(read.browser.as_deref(), browser, "browser of {text}");
    assert_eq!(read.operating_system.as_deref(), system, "system of {text}");
    assert_eq!(read.os_version.as_deref(), version, "version of {text}");
    assert_eq!(read.device, Some(device), "device of {text}");
    assert_eq!(read.bot, None, "{text}");
}

#[test]
fn phones_are_read() {
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
        (Some("Safari"), Some("iOS"), Some("17.5"), Phone),
    );
    is_person(
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.81 Mobile Safari/537.36",
        (Some("Chrome"), Some("Android"), Some("15"), Phone),
    );
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1",
        (Some("Chrome"), Some("iOS"), Some("17.5"), Phone),
    );
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/127.0 Mobile/15E148 Safari/605.1.15",
        (Some("Firefox"), Some("iOS"), Some("17.5"), Phone),
    );
    is_person(
        "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0",
        (Some("Firefox"), Some("Android"), Some("14"), Phone),
    );
    is_person(
        "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36",
        (Some("Samsung Internet"), Some("Android"), Some("14"), Phone),
    );
    is_person(
        "Mozilla/5.0 (Linux; Android 10; HD1913) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.81 Mobile Safari/537.36 EdgA/131.0.2903.48",
        (Some("Edge"), Some("Android"), Some("10"), Phone),
    );
}

#[test]
fn frozen_versions_are_not_believed() {
    is_person(
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
        (Some("Chrome"), Some("Android"), None, Phone),
    );
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
        (Some("Safari"), Some("iOS"), Some("26.1"), Phone),
    );
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
        (Some("Safari"), Some("iOS"), Some("18.6"), Phone),
    );
    is_person(
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
        (Some("Safari"), Some("macOS"), None, Desktop),
    );
}

#[test]
fn desktops_are_read() {
    is_person(
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        (Some("Chrome"), Some("Windows"), Some("10"), Desktop),
    );
    is_person(
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
        (Some("Edge"), Some("Windows"), Some("10"), Desktop),
    );
    is_person(
        "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
        (Some("Firefox"), Some("Ubuntu"), None, Desktop),
    );
    is_person(
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0",
        (Some("Firefox"), Some("macOS"), None, Desktop),
    );
}

#[test]
fn tablets_are_told_from_phones() {
    is_person(
        "Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1",
        (Some("Safari"), Some("iOS"), Some("12.5"), Tablet),
    );
    is_person(
        "Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        (Some("Chrome"), Some("Android"), Some("13"), Tablet),
    );
}

#[test]
fn televisions_consoles_and_wearables_are_told_apart() {
    for (text, device) in [
        (
            "Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36",
            Tv,
        ),
        (
            "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 WebAppManager",
            Tv,
        ),
        (
            "Mozilla/5.0 (Linux; Android 9; AFTKA Build/PS7482) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0.4758.101 Mobile Safari/537.36",
            Tv,
        ),
        (
            "Mozilla/5.0 (PlayStation; PlayStation 5/6.50) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 Safari/605.1.15",
            Console,
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edge/44.18363.8131",
            Console,
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/33.0 Chrome/126.0.6478.122 VR Safari/537.36",
            Wearable,
        ),
    ] {
        let read = classify(text);
        assert_eq!((read.device, read.bot), (Some(device), None), "{text}");
    }
}

#[test]
fn a_browser_inside_an_app_is_a_person() {
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 337.0.3.23.54 (iPhone14,5; iOS 17_5_1; en_US; en; scale=3.00; 1170x2532; 614064327)",
        (Some("Instagram"), Some("iOS"), Some("17.5"), Phone),
    );
    is_person(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F90 [FBAN/FBIOS;FBAV/469.0.0.40.107;FBBV/609553379;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.5.1;FBSS/3;FBID/phone;FBLC/en_US;FBOP/5;FBRV/611467463]",
        (Some("Facebook"), Some("iOS"), Some("17.5"), Phone),
    );
    for text in [
        "Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/469.0.0.45.104;]",
        "Mozilla/5.0 (Linux; Android 14; SM-S911B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 Instagram 337.0.0.35.102 Android (34/14; 480dpi; 1080x2109; samsung; SM-S911B; dm1q; qcom; en_US; 614064341)",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29.8962",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Twitter for iPhone/10.47",
        "Mozilla/5.0 (Linux; Android 13; SM-A536B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 trill_350003 BytedanceWebview/d8a21c6",
    ] {
        let read = classify(text);
        assert_eq!((read.device, read.bot), (Some(Phone), None), "{text}");
    }
    let webview = classify(
        "Mozilla/5.0 (Linux; Android 14; Pixel 7 Build/AP2A.240705.005; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.134 Mobile Safari/537.36",
    );
    assert_eq!((webview.browser.as_deref(), webview.bot), (Some("Chrome WebView"), None));
}

#[test]
fn robots_and_programs_are_bots() {
    for text in [
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.69 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
        "curl/8.5.0",
        "Wget/1.21.4",
        "python-requests/2.32.3",
        "Go-http-client/2.0",
        "WhatsApp/2.24.13.77 A",
        "TelegramBot (like TwitterBot)",
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
    ] {
        assert_eq!(classify(text).bot, Some(BotReason::UserAgent), "{text}");
    }
}

#[test]
fn who_says_nothing_is_a_bot() {
    for text in [None, Some(""), Some("  ")] {
        let read = UserAgents::new().classify(text);
        assert_eq!(read.bot, Some(BotReason::NoUserAgent));
        assert_eq!((read.browser, read.device), (None, None));
    }
}

#[test]
fn a_text_is_read_once() {
    let agents = UserAgents::new();
    let first = agents.classify(Some("curl/8.5.0"));
    assert_eq!(agents.classify(Some("curl/8.5.0")), first);
    assert_eq!(agents.remembered.len(), 1);
}
