//! Why a value from outside was refused.

use std::fmt;

/// A refused value: a machine code for the client's program and a sentence for its programmer.
///
/// The sentence never repeats the value, so a secret sent to the wrong field stays out of answers
/// and logs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// The kind of mistake, stable over versions.
    pub code: InvalidCode,
    /// What is wrong and what is allowed, for a person.
    pub message: String,
}

impl Invalid {
    /// A refusal with a code and a sentence.
    pub fn new(code: InvalidCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn too_long(max: usize) -> Self {
        Self::new(InvalidCode::TooLong, format!("is longer than {max} characters"))
    }
}

/// The kinds of mistakes a field can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidCode {
    /// The field must be there.
    Required,
    /// The JSON type is another one.
    WrongType,
    /// More characters, bytes or items than allowed.
    TooLong,
    /// Fewer characters than needed.
    TooShort,
    /// A number or a date outside its range.
    OutOfRange,
    /// A character that may not stand here, U+0000 among them.
    InvalidCharacter,
    /// The text is not of the form the field needs.
    InvalidFormat,
    /// Not an absolute URL that a phone can open.
    InvalidUrl,
    /// A URL scheme that is not allowed.
    SchemeNotAllowed,
    /// A word kept for the service itself.
    Reserved,
    /// The moment has passed already.
    InThePast,
    /// A JSON object that names a key twice.
    DuplicateKey,
    /// A JSON text nested too deeply.
    TooDeep,
    /// Nobody knows this field.
    UnknownField,
    /// The field can't change.
    Immutable,
    /// Already used by something else.
    Taken,
    /// None of the values allowed here.
    UnknownValue,
}

impl InvalidCode {
    /// The code as it appears in an answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::WrongType => "wrong_type",
            Self::TooLong => "too_long",
            Self::TooShort => "too_short",
            Self::OutOfRange => "out_of_range",
            Self::InvalidCharacter => "invalid_character",
            Self::InvalidFormat => "invalid_format",
            Self::InvalidUrl => "invalid_url",
            Self::SchemeNotAllowed => "scheme_not_allowed",
            Self::Reserved => "reserved",
            Self::InThePast => "in_the_past",
            Self::DuplicateKey => "duplicate_key",
            Self::TooDeep => "too_deep",
            Self::UnknownField => "unknown_field",
            Self::Immutable => "immutable",
            Self::Taken => "taken",
            Self::UnknownValue => "unknown_value",
        }
    }
}

impl fmt::Display for InvalidCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
