//! The payload: the JSON object a link carries into the app.

mod scan;

use crate::{Invalid, InvalidCode};

/// A JSON object, kept as its writer wrote it less the white space between tokens.
///
/// Key order, number spelling (`1E5`, thirty digits) and escapes such as `\u0000` come back as they
/// went in: an app may compare, sign or hash them. A parsed tree of values would change all three,
/// so the text itself is the value.
///
/// Refused: anything but an object, a key twice in one object (parsers disagree which one counts,
/// RFC 8259 section 4), a lone surrogate escape (RFC 7493 section 2.1), more than
/// [`MAX_BYTES`](Self::MAX_BYTES), nesting beyond [`MAX_DEPTH`](Self::MAX_DEPTH).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload(Box<str>);

impl Payload {
    /// Longest payload, in bytes, white space between tokens not counted.
    pub const MAX_BYTES: usize = 16_384;
    /// Deepest nesting of objects and arrays; the payload itself is level 1.
    pub const MAX_DEPTH: usize = 32;

    /// Reads a JSON text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let compact = scan::compact_object(text, Self::MAX_DEPTH).map_err(|problem| {
            use scan::Problem;
            match problem {
                Problem::NotAnObject => {
                    Invalid::new(InvalidCode::WrongType, "must be a JSON object")
                }
                Problem::Syntax => Invalid::new(InvalidCode::InvalidFormat, "is not valid JSON"),
                Problem::DuplicateKey => {
                    Invalid::new(InvalidCode::DuplicateKey, "names a key twice in one object")
                }
                Problem::LoneSurrogate => Invalid::new(
                    InvalidCode::InvalidCharacter,
                    "holds half of a surrogate pair, which is no character",
                ),
                Problem::TooDeep => Invalid::new(
                    InvalidCode::TooDeep,
                    format!("is nested deeper than {} levels", Self::MAX_DEPTH),
                ),
            }
        })?;
        if compact.len() > Self::MAX_BYTES {
            return Err(Invalid::new(
                InvalidCode::TooLong,
                format!("is longer than {} bytes", Self::MAX_BYTES),
            ));
        }
        Ok(Self(compact.into()))
    }

    /// The JSON text, without white space between tokens.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> InvalidCode {
        Payload::parse(text).unwrap_err().code
    }

    #[test]
    fn the_text_is_kept_less_the_white_space_between_tokens() {
        let written = "\n{ \"b\" : 1E5 , \"a\" : [ 123456789012345678901234567890 , -0.0 ] ,\t\
                       \"\" : \"two  spaces \\u0000\" , \"$serde_json::private::Number\" : \"1\" }\r\n";
        assert_eq!(
            Payload::parse(written).unwrap().as_str(),
            "{\"b\":1E5,\"a\":[123456789012345678901234567890,-0.0],\
             \"\":\"two  spaces \\u0000\",\"$serde_json::private::Number\":\"1\"}"
        );
    }

    #[test]
    fn only_an_object_is_a_payload() {
        for text in ["[]", "1", "null", "\"x\"", "true", " [ { } ] "] {
            assert_eq!(refusal(text), InvalidCode::WrongType, "{text}");
        }
        for text in ["", "{", "{}}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":01}"] {
            assert_eq!(refusal(text), InvalidCode::InvalidFormat, "{text}");
        }
    }

    #[test]
    fn a_key_may_stand_once_in_an_object_however_it_is_spelt() {
        assert_eq!(refusal(r#"{"a":1,"a":1}"#), InvalidCode::DuplicateKey);
        assert_eq!(refusal(r#"{"x":{"a":1,"\u0061":2}}"#), InvalidCode::DuplicateKey);
        assert!(Payload::parse(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }

    #[test]
    fn depth_and_length_have_limits() {
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(Payload::parse(&nested(31)).is_ok());
        assert_eq!(refusal(&nested(32)), InvalidCode::TooDeep);
        assert_eq!(refusal(&nested(100_000)), InvalidCode::TooDeep);
        let long = |n: usize| format!("{{ \"a\" : \"{}\" }}", "x".repeat(n - 8));
        assert_eq!(Payload::parse(&long(16_384)).unwrap().as_str().len(), 16_384);
        assert_eq!(refusal(&long(16_385)), InvalidCode::TooLong);
    }

    #[test]
    fn half_a_surrogate_pair_is_no_character() {
        assert_eq!(refusal(r#"{"a":"\ud83d"}"#), InvalidCode::InvalidCharacter);
        assert_eq!(refusal(r#"{"\udc00":1}"#), InvalidCode::InvalidCharacter);
        assert!(Payload::parse(r#"{"a":"\ud83d\ude00"}"#).is_ok());
    }
}
