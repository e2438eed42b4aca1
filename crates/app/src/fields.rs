//! Reading the fields of a JSON object one by one, so that all mistakes are found at once.
//!
//! A derived `Deserialize` stops at the first mistake and can't tell absent from `null` without
//! tricks; here every field is read on its own and what nobody asked for is refused by name.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use signpost_domain::{Change, Invalid, InvalidCode};

use crate::problem::{ApiError, FieldError};

/// An object whose values have not been looked at, apart from their syntax.
struct RawObject<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields: Vec<(String, &'de RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if fields.iter().any(|(known, _)| *known == name) {
                        return Err(de::Error::custom("a field is named twice"));
                    }
                    fields.push((name, value));
                }
                Ok(RawObject(fields))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// The fields of an object, taken one after the other, and the mistakes found so far.
pub(crate) struct Fields<'a> {
    prefix: String,
    open: Vec<(String, &'a RawValue)>,
    errors: Vec<FieldError>,
}

impl<'a> Fields<'a> {
    /// Reads a body.
    pub(crate) fn of_body(body: &'a [u8]) -> Result<Self, ApiError> {
        let object: RawObject<'a> = serde_json::from_slice(body).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let detail = if error.is_data() {
                format!("the body must be a JSON object that names each field once ({place})")
            } else {
                format!("the body is not valid JSON ({place})")
            };
            ApiError::new(actix_web::http::StatusCode::BAD_REQUEST, "invalid_json", detail)
        })?;
        Ok(Self { prefix: String::new(), open: object.0, errors: Vec::new() })
    }

    /// Reads an object inside a body, whose mistakes are named below `prefix`.
    pub(crate) fn of_value(prefix: &str, value: &'a RawValue) -> Result<Self, FieldError> {
        let object: RawObject<'a> = serde_json::from_str(value.get()).map_err(|_| {
            let invalid = Invalid::new(InvalidCode::WrongType, "must be a JSON object");
            FieldError::new(prefix, &invalid)
        })?;
        Ok(Self { prefix: prefix.to_owned(), open: object.0, errors: Vec::new() })
    }

    /// The field's value as it stands in the body; `None` when absent.
    pub(crate) fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.open.iter().position(|(known, _)| known == name)?;
        Some(self.open.swap_remove(at).1)
    }

    /// True when the body does not have the field.
    pub(crate) fn raw_is_absent(&self, name: &str) -> bool {
        self.open.iter().all(|(known, _)| known != name)
    }

    /// Notes a mistake in a field.
    pub(crate) fn refuse(&mut self, name: &str, invalid: &Invalid) {
        let field = format!("{}/{}", self.prefix, escape(name));
        self.errors.push(FieldError::new(field, invalid));
    }

    /// Reads a field with `read`; absent keeps and `null` clears.
    pub(crate) fn change<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a RawValue) -> Result<Option<T>, Invalid>,
    ) -> Change<T> {
        let Some(raw) = self.raw(name) else { return Change::Keep };
        if raw.get() == "null" {
            return Change::Clear;
        }
        match read(raw) {
            Ok(value) => value.into(),
            Err(invalid) => {
                self.refuse(name, &invalid);
                Change::Keep
            }
        }
    }

    /// An optional text; an empty one clears.
    pub(crate) fn text<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Change<T> {
        self.change(name, |raw| {
            let text = string(raw)?;
            if text.is_empty() { Ok(None) } else { parse(&text).map(Some) }
        })
    }

    /// A text that must have a value when it is there; `null` and empty ones are refused.
    pub(crate) fn required_text<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let raw = self.raw(name)?;
        match string(raw).and_then(|text| parse(&text)) {
            Ok(value) => Some(value),
            Err(invalid) => {
                self.refuse(name, &invalid);
                None
            }
        }
    }

    /// A list of texts; each bad entry is named by its place.
    pub(crate) fn texts<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, Invalid>,
    ) -> Change<Vec<T>> {
        let Some(raw) = self.raw(name) else { return Change::Keep };
        if raw.get() == "null" {
            return Change::Clear;
        }
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
            self.refuse(name, &Invalid::new(InvalidCode::WrongType, "must be an array of strings"));
            return Change::Keep;
        };
        // Ten times what any list may hold: enough to name mistakes, too few to drown in them.
        if entries.len() > 200 {
            self.refuse(name, &Invalid::new(InvalidCode::TooLong, "has too many entries"));
            return Change::Keep;
        }
        let mut values = Vec::new();
        for (at, entry) in entries.into_iter().enumerate() {
            match string(entry).and_then(|text| parse(&text)) {
                Ok(value) => values.push(value),
                Err(invalid) => {
                    let field = format!("{}/{}/{at}", self.prefix, escape(name));
                    self.errors.push(FieldError::new(field, &invalid));
                }
            }
        }
        Change::Set(values)
    }

    /// An object inside this one.
    pub(crate) fn object(&mut self, name: &str) -> Change<Fields<'a>> {
        let Some(raw) = self.raw(name) else { return Change::Keep };
        if raw.get() == "null" {
            return Change::Clear;
        }
        match Self::of_value(&format!("{}/{}", self.prefix, escape(name)), raw) {
            Ok(fields) => Change::Set(fields),
            Err(error) => {
                self.errors.push(error);
                Change::Keep
            }
        }
    }

    /// Takes over the mistakes of an inner object, once all its fields were taken.
    pub(crate) fn absorb(&mut self, inner: Fields<'a>) {
        self.errors.extend(inner.all_errors());
    }

    /// Ends the reading: fields that nobody took are unknown.
    pub(crate) fn finish(self) -> Result<(), Vec<FieldError>> {
        let errors = self.all_errors();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn all_errors(mut self) -> Vec<FieldError> {
        let unknown = Invalid::new(InvalidCode::UnknownField, "is not a field of this request");
        for (name, _) in std::mem::take(&mut self.open) {
            // A hostile body must not make a longer answer than it is itself.
            let shown: String = name.chars().take(64).collect();
            self.refuse(&shown, &unknown);
            if self.errors.len() >= 100 {
                break;
            }
        }
        self.errors.sort_by(|a, b| a.field.cmp(&b.field));
        self.errors
    }
}

/// A JSON string without U+0000.
pub(crate) fn string(raw: &RawValue) -> Result<String, Invalid> {
    if !raw.get().starts_with('"') {
        return Err(Invalid::new(InvalidCode::WrongType, "must be a string"));
    }
    let text: String = serde_json::from_str(raw.get()).map_err(|_| {
        Invalid::new(InvalidCode::InvalidCharacter, "holds half of a surrogate pair")
    })?;
    if text.contains('\0') {
        return Err(Invalid::new(InvalidCode::InvalidCharacter, "holds U+0000"));
    }
    Ok(text)
}

/// A name inside a JSON pointer (RFC 6901, section 3).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(body: &str) -> Vec<(String, String)> {
        let mut fields = Fields::of_body(body.as_bytes()).unwrap();
        fields.text("title", |text| Ok::<_, Invalid>(text.to_owned()));
        fields.texts("tags", |text| Ok::<_, Invalid>(text.to_owned()));
        let errors = fields.finish().err().unwrap_or_default();
        errors.into_iter().map(|e| (e.field, e.code)).collect()
    }

    fn expect(body: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(f, c)| ((*f).to_owned(), (*c).to_owned())).collect();
        assert_eq!(errors(body), expected, "{body}");
    }

    #[test]
    fn all_mistakes_are_found_at_once() {
        expect(
            r#"{"title":5,"tags":["a",1,null],"a/b~c":0,"z":{}}"#,
            &[
                ("/a~1b~0c", "unknown_field"),
                ("/tags/1", "wrong_type"),
                ("/tags/2", "wrong_type"),
                ("/title", "wrong_type"),
                ("/z", "unknown_field"),
            ],
        );
        expect(r#"{"title":"a\u0000"}"#, &[("/title", "invalid_character")]);
        expect(r#"{"title":"\ud800"}"#, &[("/title", "invalid_character")]);
    }

    #[test]
    fn absent_null_and_empty_are_told_apart() {
        let read = |body: &str| {
            let mut fields = Fields::of_body(body.as_bytes()).unwrap();
            fields.text("title", |text| Ok::<_, Invalid>(text.to_owned()))
        };
        assert_eq!(read("{}"), Change::Keep);
        assert_eq!(read(r#"{"title":null}"#), Change::Clear);
        assert_eq!(read(r#"{"title":""}"#), Change::Clear);
        assert_eq!(read(r#"{"title":"x"}"#), Change::Set("x".to_owned()));
    }

    #[test]
    fn a_body_is_one_object_that_names_each_field_once() {
        for body in ["", "[]", "1", "{", "{\"a\":1,\"a\":2}", "{} x", "\u{feff}{}"] {
            assert_eq!(
                Fields::of_body(body.as_bytes()).err().unwrap().code,
                "invalid_json",
                "{body}"
            );
        }
        assert_eq!(Fields::of_body(&[b'"', 0xff, b'"']).err().unwrap().code, "invalid_json");
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(errors(&deep), [("/x".to_owned(), "unknown_field".to_owned())]);
    }
}
