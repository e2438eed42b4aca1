//! Which links of an app a list shows.

use chrono::{DateTime, Utc};

use super::{Link, Tag, text};
use crate::{Invalid, InvalidCode};

/// The conditions of a list; a link must meet all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkFilter {
    /// Part of the code, title, channel or campaign.
    pub search: Option<SearchTerm>,
    /// Tags the link must have, all of them.
    pub tags: Vec<Tag>,
    /// The exact channel.
    pub channel: Option<String>,
    /// The exact campaign.
    pub campaign: Option<String>,
    /// Expired links only, or active ones only.
    pub status: Option<LinkStatus>,
}

/// Whether a link still leads somewhere, at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// Not expired at that moment.
    Active(DateTime<Utc>),
    /// Expired at that moment.
    Expired(DateTime<Utc>),
}

/// A text to look for, folded for comparison without regard to case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm(String);

impl SearchTerm {
    /// Longest text to look for, in characters.
    pub const MAX_CHARS: usize = 255;

    /// Reads a text to look for; `%`, `_` and `*` are plain characters.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text::check(text, Self::MAX_CHARS, &[])?;
        if text.is_empty() {
            return Err(Invalid::new(InvalidCode::TooShort, "is empty"));
        }
        Ok(Self(fold(text)))
    }

    /// The folded text, to be found as it is in a [`search_key`].
    pub fn folded(&self) -> &str {
        &self.0
    }
}

/// What a search looks at: code, title, channel and campaign, folded, one a line.
///
/// None of the four can hold a line break, so a term never matches across two of them.
pub fn search_key(link: &Link) -> String {
    let content = &link.content;
    let parts = [
        Some(link.code.as_str()),
        content.og_title.as_ref().map(super::OgTitle::as_str),
        content.channel.as_ref().map(super::Channel::as_str),
        content.campaign.as_ref().map(super::Campaign::as_str),
    ];
    fold(&parts.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// Upper case first, then lower case, letter by letter: so `ß` meets `SS`, and both forms of the
/// Greek sigma meet each other, which lower case alone does not bring about.
fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_folded_beyond_ascii() {
        for (a, b) in
            [("STRASSE", "straße"), ("ΟΔΟΣ", "οδος"), ("ÉTÉ", "été"), ("Привет", "ПРИВЕТ")]
        {
            assert_eq!(SearchTerm::parse(a).unwrap(), SearchTerm::parse(b).unwrap());
        }
    }

    #[test]
    fn control_characters_and_emptiness_are_refused() {
        assert!(SearchTerm::parse("").is_err());
        assert!(SearchTerm::parse("a\nb").is_err());
        assert!(SearchTerm::parse(&"x".repeat(256)).is_err());
    }
}
