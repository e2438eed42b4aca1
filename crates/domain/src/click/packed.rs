//! The bytes of packed records: numbers of variable length, and a reader that never reads past
//! the end.
//!
//! Every value has one form only, so two records are equal exactly when their bytes are.

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the record does.
    #[error("the record ends too early")]
    Truncated,
    /// The record ends before the bytes do.
    #[error("bytes follow the end of the record")]
    Trailing,
    /// Written by a later version of this program, or no record at all.
    #[error("version {0} of the record is not known")]
    Version(u8),
    /// A value that no writer of this version writes; it names the field.
    #[error("the record holds an impossible {0}")]
    Impossible(&'static str),
}

/// Seven bits of a number per byte, lowest first; the top bit says that more follow (LEB128).
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// A signed number, so folded that small ones stay short on both sides of zero.
pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// A text with its length in bytes before it.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads a record from its first byte to its last.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A reader of these bytes, behind their version byte, which must be this one.
    pub(super) fn versioned(bytes: &'a [u8], version: u8) -> Result<Self, WireError> {
        let mut reader = Self(bytes);
        match reader.byte()? {
            found if found == version => Ok(reader),
            found => Err(WireError::Version(found)),
        }
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (head, tail) = self.0.split_at_checked(length).ok_or(WireError::Truncated)?;
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, tail) = self.0.split_first_chunk().ok_or(WireError::Truncated)?;
        self.0 = tail;
        Ok(*head)
    }

    pub(super) fn byte(&mut self) -> Result<u8, WireError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// A number in its shortest form; any other is refused.
    pub(super) fn number(&mut self) -> Result<u64, WireError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if (part << shift) >> shift != part || (byte == 0 && shift > 0) {
                return Err(WireError::Impossible("number"));
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(WireError::Impossible("number"))
    }

    pub(super) fn signed(&mut self) -> Result<i64, WireError> {
        let folded = self.number()?;
        Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    /// A length that is at most `max`, else an impossible `what`.
    pub(super) fn length(&mut self, max: usize, what: &'static str) -> Result<usize, WireError> {
        usize::try_from(self.number()?)
            .ok()
            .filter(|length| *length <= max)
            .ok_or(WireError::Impossible(what))
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<&'a str, WireError> {
        let length = usize::try_from(self.number()?).map_err(|_| WireError::Truncated)?;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map_err(|_| WireError::Impossible(what))
    }

    /// The end, which must be here.
    pub(super) fn finish(self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Trailing) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<u64, WireError> {
        let mut reader = Reader(bytes);
        let number = reader.number()?;
        reader.finish().map(|()| number)
    }

    #[test]
    fn a_number_has_one_form_only() {
        for (bytes, expected) in [
            (&[0][..], Ok(0)),
            (&[0x7f], Ok(127)),
            (&[0x80, 1], Ok(128)),
            (&[0x80, 0], Err(WireError::Impossible("number"))),
            (&[0x80], Err(WireError::Truncated)),
            (&[], Err(WireError::Truncated)),
            (&[1, 1], Err(WireError::Trailing)),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], Ok(u64::MAX)),
            (
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
                Err(WireError::Impossible("number")),
            ),
            (&[0xff; 11], Err(WireError::Impossible("number"))),
        ] {
            assert_eq!(read(bytes), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64) {
            let mut out = Vec::new();
            put_number(&mut out, number);
            prop_assert_eq!(read(&out), Ok(number));
            out.clear();
            put_signed(&mut out, signed);
            prop_assert_eq!(Reader(&out).signed(), Ok(signed));
        }
    }
}
