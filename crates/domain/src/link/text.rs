//! The short texts of a link: title and description of its preview, channel and campaign.

use crate::{Invalid, InvalidCode};

/// Refuses control characters, `allowed` ones excepted, and texts beyond `max` characters.
///
/// Characters are Unicode scalar values, not bytes, so that a title in Thai may be as long as one
/// in English.
pub(super) fn check(text: &str, max: usize, allowed: &[char]) -> Result<(), Invalid> {
    if text.chars().any(|c| c.is_control() && !allowed.contains(&c)) {
        return Err(Invalid::new(InvalidCode::InvalidCharacter, "holds a control character"));
    }
    if text.chars().nth(max).is_some() {
        return Err(Invalid::too_long(max));
    }
    Ok(())
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $max:expr, $allowed:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(Box<str>);

        impl $name {
            /// Longest text, in Unicode characters.
            pub const MAX_CHARS: usize = $max;

            /// Reads a text; an empty one is refused, because absence has its own value.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                if text.is_empty() {
                    return Err(Invalid::new(InvalidCode::TooShort, "is empty"));
                }
                check(text, Self::MAX_CHARS, $allowed)?;
                Ok(Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

text_type!(
    /// The title of a link's preview.
    OgTitle,
    255,
    &[]
);
text_type!(
    /// The description in a link's preview; it may have several lines.
    OgDescription,
    2000,
    &['\n', '\t']
);
text_type!(
    /// Where a link is published, such as `email` or `instagram`.
    Channel,
    255,
    &[]
);
text_type!(
    /// The campaign a link belongs to.
    Campaign,
    255,
    &[]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(OgTitle::parse(&"😀".repeat(255)).is_ok());
        assert_eq!(OgTitle::parse(&"😀".repeat(256)).unwrap_err().code, InvalidCode::TooLong);
        assert!(OgDescription::parse(&"ü".repeat(2000)).is_ok());
    }

    #[test]
    fn control_characters_are_refused_but_a_description_may_have_lines() {
        for text in ["a\nb", "a\0b", "a\u{7f}b", "a\u{85}b"] {
            assert_eq!(OgTitle::parse(text).unwrap_err().code, InvalidCode::InvalidCharacter);
        }
        assert!(OgDescription::parse("a\n\tb").is_ok());
        assert!(OgDescription::parse("a\rb").is_err());
    }
}
