//! Tags: free labels of a link.

use super::text;
use crate::{Invalid, InvalidCode};

/// One label: 1–64 characters without white space at its ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tag(Box<str>);

impl Tag {
    /// Longest tag, in Unicode characters.
    pub const MAX_CHARS: usize = 64;

    /// Reads a tag and trims it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        // Checked before trimming: a line break at the end is a mistake, not an ornament.
        text::check(text, usize::MAX, &[])?;
        let text = text.trim();
        if text.is_empty() {
            return Err(Invalid::new(InvalidCode::TooShort, "is empty"));
        }
        text::check(text, Self::MAX_CHARS, &[])?;
        Ok(Self(text.into()))
    }

    /// The tag's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The tags of a link: at most 20, in the order given, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tags(Vec<Tag>);

impl Tags {
    /// Most tags of one link.
    pub const MAX: usize = 20;

    /// Collects tags; the second of two equal ones is dropped before they are counted.
    pub fn new(tags: impl IntoIterator<Item = Tag>) -> Result<Self, Invalid> {
        let mut unique: Vec<Tag> = Vec::new();
        for tag in tags {
            if !unique.contains(&tag) {
                unique.push(tag);
            }
            if unique.len() > Self::MAX {
                return Err(Invalid::new(
                    InvalidCode::TooLong,
                    format!("has more than {} different tags", Self::MAX),
                ));
            }
        }
        Ok(Self(unique))
    }

    /// The tags in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tag> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(texts: &[&str]) -> Result<Vec<String>, Invalid> {
        let tags = texts.iter().map(|t| Tag::parse(t)).collect::<Result<Vec<_>, _>>()?;
        Ok(Tags::new(tags)?.iter().map(|t| t.as_str().to_owned()).collect())
    }

    #[test]
    fn tags_are_trimmed_and_unique_and_keep_order_and_case() {
        assert_eq!(tags(&[" b ", "a", "b", "A"]).unwrap(), ["b", "a", "A"]);
    }

    #[test]
    fn empty_long_and_control_tags_are_refused() {
        assert_eq!(tags(&["  "]).unwrap_err().code, InvalidCode::TooShort);
        assert_eq!(tags(&[&"x".repeat(65)]).unwrap_err().code, InvalidCode::TooLong);
        assert_eq!(tags(&["a\n"]).unwrap_err().code, InvalidCode::InvalidCharacter);
    }

    #[test]
    fn twenty_different_tags_are_the_most() {
        let names: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(tags(&names[..20]).is_ok());
        assert_eq!(tags(&names).unwrap_err().code, InvalidCode::TooLong);
    }
}
