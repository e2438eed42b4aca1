//! One pass over a JSON text that checks it and drops the white space between tokens.
//!
//! A general parser can't do this: it turns numbers into floats, keeps the last of two equal keys
//! without a word and forgets how a string was escaped.

use std::collections::HashSet;

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// Not JSON by RFC 8259.
    Syntax,
    /// JSON, but another type at the outermost level.
    NotAnObject,
    /// One object names a key twice, escapes resolved.
    DuplicateKey,
    /// A `\uD800`–`\uDFFF` escape without its other half.
    LoneSurrogate,
    /// Deeper than the limit.
    TooDeep,
}

/// The object in `text` without white space between tokens.
pub(super) fn compact_object(text: &str, max_depth: usize) -> Result<String, Problem> {
    let mut scan = Scan { text, at: 0, out: String::with_capacity(text.len()), max_depth };
    scan.skip_space();
    match scan.peek() {
        Some(b'{') => {}
        Some(b'[' | b'"' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {
            return Err(Problem::NotAnObject);
        }
        _ => return Err(Problem::Syntax),
    }
    scan.value(0)?;
    scan.skip_space();
    if scan.at == text.len() { Ok(scan.out) } else { Err(Problem::Syntax) }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
    max_depth: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Copies the next byte, which must be `byte`.
    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.peek() != Some(byte) {
            return Err(Problem::Syntax);
        }
        self.at += 1;
        self.out.push(char::from(byte));
        Ok(())
    }

    // The recursion is safe because the depth limit ends it long before the stack does.
    fn value(&mut self, depth: usize) -> Result<(), Problem> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(Problem::Syntax),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Problem> {
        if depth > self.max_depth {
            return Err(Problem::TooDeep);
        }
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            return self.expect(b'}');
        }
        let mut keys = HashSet::new();
        loop {
            self.skip_space();
            if !keys.insert(self.string()?) {
                return Err(Problem::DuplicateKey);
            }
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            self.value(depth)?;
            self.skip_space();
            if self.peek() == Some(b'}') {
                return self.expect(b'}');
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Problem> {
        if depth > self.max_depth {
            return Err(Problem::TooDeep);
        }
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == Some(b']') {
            return self.expect(b']');
        }
        loop {
            self.skip_space();
            self.value(depth)?;
            self.skip_space();
            if self.peek() == Some(b']') {
                return self.expect(b']');
            }
            self.expect(b',')?;
        }
    }

    /// Copies a string as written and returns what it means.
    fn string(&mut self) -> Result<String, Problem> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(Problem::Syntax);
        }
        self.at += 1;
        let mut meaning = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            meaning.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    meaning.push(self.escape()?);
                }
                _ => return Err(Problem::Syntax),
            }
        }
        self.at += 1;
        self.out.push_str(&self.text[start..self.at]);
        Ok(meaning)
    }

    fn escape(&mut self) -> Result<char, Problem> {
        let letter = self.peek().ok_or(Problem::Syntax)?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(Problem::Syntax),
        })
    }

    fn unicode_escape(&mut self) -> Result<char, Problem> {
        let first = self.hex4()?;
        if !(0xD800..=0xDFFF).contains(&first) {
            return char::from_u32(first).ok_or(Problem::Syntax);
        }
        if first >= 0xDC00 || !self.text[self.at..].starts_with("\\u") {
            return Err(Problem::LoneSurrogate);
        }
        self.at += 2;
        let second = self.hex4()?;
        if !(0xDC00..=0xDFFF).contains(&second) {
            return Err(Problem::LoneSurrogate);
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            .ok_or(Problem::LoneSurrogate)
    }

    fn hex4(&mut self) -> Result<u32, Problem> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(Problem::Syntax)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Problem::Syntax);
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| Problem::Syntax)
    }

    fn word(&mut self, word: &str) -> Result<(), Problem> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Problem::Syntax);
        }
        self.at += word.len();
        self.out.push_str(word);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Problem> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.out.push_str(&self.text[start..self.at]);
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), Problem> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Problem::Syntax) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..6)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_object_of_a_common_writer_passes_and_loses_white_space_only(value in tree()) {
            let object = serde_json::json!({ "root": value });
            let compact = object.to_string();
            let pretty = serde_json::to_string_pretty(&object).unwrap();
            prop_assert_eq!(compact_object(&compact, 32), Ok(compact.clone()));
            prop_assert_eq!(compact_object(&pretty, 32), Ok(compact));
        }

        #[test]
        fn what_passes_is_json_to_a_common_reader_too(text in "[{}\\[\\]\",:0-9eE.+\\\\ua-f \\n-]{0,24}") {
            if let Ok(compact) = compact_object(&text, 32) {
                let raw: Result<&serde_json::value::RawValue, _> = serde_json::from_str(&compact);
                prop_assert!(raw.is_ok(), "{compact}");
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = compact_object(&text, 32);
        }
    }
}
