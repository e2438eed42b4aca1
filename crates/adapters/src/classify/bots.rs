//! Robots, by the patterns of isbot.

use regex::bytes::{Regex, RegexBuilder};

/// A pattern of isbot that looks around itself, which this crate's expressions can't: the word to
/// find, and what must stand neither before nor after it.
struct LookAround {
    published: &'static str,
    word: &'static str,
    not_after: &'static [&'static str],
    not_before: &'static [&'static str],
}

const LOOK_AROUNDS: &[LookAround] = &[
    LookAround {
        published: "(?:^|[^g])news(?!sapphire)",
        word: "(?:^|[^g])news",
        not_after: &[],
        not_before: &["sapphire"],
    },
    LookAround {
        published: "(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))",
        word: "google",
        not_after: &[" channel/", "google/"],
        not_before: &["wv", "app", "/google", " pixel"],
    },
    LookAround {
        published: r"(?<! cu)bots?(?:\b|_)",
        word: r"bots?(?:\b|_)",
        not_after: &[" cu"],
        not_before: &[],
    },
    LookAround { published: "(?<!cam)scan", word: "scan", not_after: &["cam"], not_before: &[] },
    LookAround { published: "(?<!lib)http", word: "http", not_after: &["lib"], not_before: &[] },
    LookAround { published: "java(?!;)", word: "java", not_after: &[], not_before: &[";"] },
];

/// Patterns that JavaScript reads and this crate doesn't, with the spelling that it does.
const RESPELLED: &[(&str, &str)] = &[(
    r"^mozilla/\d\.\d\s\((?:compatible;)?(?:\s?[\w\d-.]+[\s/]\d+\.\d+)?\)$",
    r"^mozilla/\d\.\d\s\((?:compatible;)?(?:\s?[\w\d.\-]+[\s/]\d+\.\d+)?\)$",
)];

/// The patterns, compiled.
pub(super) struct Bots {
    plain: Regex,
    look_arounds: Vec<(Regex, &'static LookAround)>,
}

impl Bots {
    pub(super) fn load() -> Self {
        let published = published();
        let plain: Vec<&str> = published
            .iter()
            .map(String::as_str)
            .filter(|pattern| !LOOK_AROUNDS.iter().any(|known| known.published == *pattern))
            .map(|pattern| {
                let respelled = RESPELLED.iter().find(|(theirs, _)| *theirs == pattern);
                respelled.map_or(pattern, |(_, ours)| ours)
            })
            .collect();
        Self {
            plain: compile(&plain.join("|")),
            look_arounds: LOOK_AROUNDS.iter().map(|known| (compile(known.word), known)).collect(),
        }
    }

    /// True for the user agent of a robot or a program.
    pub(super) fn knows(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let text = lower.as_bytes();
        self.plain.is_match(text)
            || self.look_arounds.iter().any(|(word, known)| {
                word.find_iter(text)
                    .any(|found| known.stands_free(text, found.start(), found.end()))
            })
    }
}

impl LookAround {
    fn stands_free(&self, text: &[u8], start: usize, end: usize) -> bool {
        let (before, after) = (&text[..start], &text[end..]);
        !self.not_after.iter().any(|part| before.ends_with(part.as_bytes()))
            && !self.not_before.iter().any(|part| after.starts_with(part.as_bytes()))
    }
}

fn published() -> Vec<String> {
    serde_json::from_str(include_str!("../../data/isbot-patterns.json"))
        .expect("the tests read this file")
}

/// Without Unicode the whole list takes a microsecond, with it sixty.
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .case_insensitive(true)
        .build()
        .expect("the tests compile these patterns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_pattern_is_in_use() {
        let published = published();
        assert!(published.len() > 200);
        for pattern in &published {
            let is_known = LOOK_AROUNDS.iter().any(|known| known.published == pattern)
                || RESPELLED.iter().any(|(theirs, _)| theirs == pattern);
            assert!(is_known || Regex::new(pattern).is_ok(), "{pattern} needs a translation");
        }
        for theirs in LOOK_AROUNDS
            .iter()
            .map(|known| known.published)
            .chain(RESPELLED.iter().map(|(theirs, _)| *theirs))
        {
            assert!(published.iter().any(|p| p == theirs), "{theirs} is no longer published");
        }
    }

    #[test]
    fn look_arounds_spare_what_they_name() {
        let bots = Bots::load();
        for robot in
            ["xx google yy", "news reader x", "a bot b", "x scan y", "x http y", "x java y"]
        {
            assert!(bots.knows(&format!("Mozilla/5.0 ({robot}) Gecko")), "{robot}");
        }
        for person in [
            "Channel/googleapp x",
            "x GoogleWv y",
            "x Google Pixel y",
            "x gnews y",
            "newssapphire x",
            "x CUBOT y",
            "x camscan y",
            "x libhttp y",
            "x java; y",
        ] {
            let text = format!("Mozilla/5.0 ({person}) Gecko");
            assert!(!bots.knows(&text), "{person}");
        }
    }
}
