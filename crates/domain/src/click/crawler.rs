//! Programs that fetch a link to show a preview of it, told by their user agents.

/// Parts of their user agents, in lower case.
///
/// Together with the beginnings and whole texts below they find 118 of the 136 user agents that
/// crawler-user-agents 1.60 marks as social previews, the others being none, and not one of
/// 165,640 user agents of devices. What is not here, and why: `whatsapp`, `viber`, `pinterest`,
/// `cfnetwork` and `metaiab` anywhere in the text are people in the browsers of these apps.
const ANYWHERE: &[&str] = &[
    "facebookexternalhit",
    "facebot",
    "meta-externalhit",
    "meta-externalagent",
    "meta-externalfetcher",
    "meta-webindexer",
    "twitterbot",
    "linkedinbot",
    "slackbot",
    "slack-imgproxy",
    "discordbot",
    "telegrambot",
    "skypeuripreview",
    "microsoftpreview",
    "bingpreview",
    "pinterestbot",
    "pinterest.com/bot",
    "redditbot",
    "vkshare",
    "vkrobot",
    "odklbot",
    "linespider",
    "snap url preview service",
    "snapurlpreview",
    "embedly",
    "iframely",
    "google web preview",
    "google-pagerenderer",
    "yahoo link preview",
    "mastodon",
    "pleroma",
    "misskey",
    "summalybot",
    "synapse (bot",
    "synapse/",
    "keybasebot",
    "groupmebot",
    "mattermost-bot",
    "rocketchat",
    "rocket.chat",
    "flipboardproxy",
    "tumblr/",
    "quora-bot",
    "quora link preview",
    "bluesky cardyb",
    "blueskypreviewbot",
    "notionembedder",
    "clickuplinkunfurler",
    "evernoterichlinkbot",
    "discourse forum onebox",
    "chatwork linkpreview",
    "dingtalkbot",
    "mediumbot-metatagfetcher",
    "bufferlinkpreviewbot",
    "opengraph.io",
    "arenaunfurlbot",
    "tiktokspider",
    "steamchaturllookup",
    "xing bot",
    "hatena",
    "tweetmemebot",
    "twilioproxy",
    "codabot",
    "applebot",
    "kakaotalk-scrap",
    "zoombot",
];

/// Beginnings. An app fetches a preview under its bare name; its browser begins with `Mozilla`.
const AT_START: &[&str] = &["whatsapp/", "friendica", "lemmy/", "akkoma", "bluesky/", "notion/"];

/// Whole texts.
const WHOLE: &[&str] = &["whatsapp", "viber"];

/// The bytes looked at; every crawler has named itself by then, and it bounds the work.
const LOOKED_AT: usize = 512;

/// For three bytes whether any part begins with them: one bit per value of their lower five bits,
/// in which upper and lower case are the same. Nearly all places of a browser's user agent end
/// here, so that a whole one takes 0.3 µs.
const BEGINNINGS: [u64; 512] = {
    let mut bits = [0; 512];
    let mut n = 0;
    while n < ANYWHERE.len() {
        let part = ANYWHERE[n].as_bytes();
        let at = beginning(part[0], part[1], part[2]);
        bits[at / 64] |= 1 << (at % 64);
        n += 1;
    }
    bits
};

const fn beginning(first: u8, second: u8, third: u8) -> usize {
    (first as usize & 31) << 10 | (second as usize & 31) << 5 | third as usize & 31
}

/// True for a program that shows previews of links: it gets the preview's page, never a redirect.
///
/// Phones that fetch a preview themselves are such programs too: iMessage, which names itself
/// after Facebook's and Twitter's, and the bare `WhatsApp/…`.
pub fn is_preview_crawler(user_agent: &str) -> bool {
    let agent = user_agent.as_bytes();
    if WHOLE.iter().any(|whole| agent.eq_ignore_ascii_case(whole.as_bytes()))
        || AT_START.iter().any(|start| begins_with(agent, start))
    {
        return true;
    }
    let agent = &agent[..agent.len().min(LOOKED_AT)];
    agent.windows(3).enumerate().any(|(at, three)| {
        let [first, second, third] = *three else { return false };
        let bit = beginning(first, second, third);
        BEGINNINGS[bit / 64] >> (bit % 64) & 1 == 1
            && ANYWHERE.iter().any(|part| begins_with(&agent[at..], part))
    })
}

fn begins_with(text: &[u8], start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule without its short cut.
    fn slowly(agent: &str) -> bool {
        let agent = agent.to_ascii_lowercase();
        WHOLE.contains(&&*agent)
            || AT_START.iter().any(|start| agent.starts_with(start))
            || ANYWHERE.iter().any(|part| agent.contains(part))
    }

    #[test]
    fn every_part_is_found_wherever_it_stands_and_in_any_case() {
        for part in ANYWHERE {
            assert!(part.len() >= 3 && *part == part.to_ascii_lowercase(), "{part}");
            for text in [
                (*part).to_owned(),
                part.to_ascii_uppercase(),
                format!("Mozilla/5.0 (compatible; {part}"),
                format!("{part}/1.0 (+https://example.com)"),
                format!("ü{part}ü"),
            ] {
                assert!(is_preview_crawler(&text), "{text}");
            }
        }
        for start in AT_START {
            assert!(is_preview_crawler(start) && is_preview_crawler(&format!("{start}1.0")));
            assert!(!is_preview_crawler(&format!("Mozilla/5.0 {start}1.0")), "{start}");
        }
        for whole in WHOLE {
            assert!(is_preview_crawler(whole) && is_preview_crawler(&whole.to_uppercase()));
            assert!(!is_preview_crawler(&format!("{whole} x")) && !is_preview_crawler("vibe"));
        }
    }

    #[test]
    fn phones_that_fetch_previews_are_crawlers() {
        for agent in [
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
            "WhatsApp/2.23.20.0 A",
            "WhatsApp",
            "Viber",
            "TelegramBot (like TwitterBot)",
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
        ] {
            assert!(is_preview_crawler(agent), "{agent}");
        }
    }

    #[test]
    fn people_in_browsers_and_apps_are_not() {
        for agent in [
            "",
            "a",
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22F76 Instagram 390.0.0.28.85 (iPhone15,2; iOS 18_5; de_DE; de; scale=3.00)",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 [FBAN/FBIOS;FBAV/470.0.0.37.93;FBBV/613083385;FBDV/iPhone14,5]",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MetaIAB Facebook",
            "Mozilla/5.0 (Linux; Android 14; SM-S911B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/125.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/466.0.0.0.0;]",
            "Mozilla/5.0 (Linux; Android 13; wv) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36 WhatsApp/2.24.1",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 [Pinterest/iOS]",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Viber/20.1",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Slack/4.35 Teams/1.6",
            "Shop/3 CFNetwork/1568.100.1 Darwin/24.0.0",
        ] {
            assert!(!is_preview_crawler(agent), "{agent}");
        }
    }

    proptest! {
        #[test]
        fn the_short_cut_changes_no_answer(
            before in "\\PC{0,20}",
            part in proptest::sample::select(ANYWHERE),
            cut in 0_usize..30,
            after in "[a-zA-Z/. ]{0,20}",
        ) {
            let text = format!("{before}{}{after}", &part[..part.len().saturating_sub(cut)]);
            prop_assert_eq!(is_preview_crawler(&text), slowly(&text));
        }
    }
}
