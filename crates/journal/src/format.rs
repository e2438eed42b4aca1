//! The bytes on disk: a segment's header and the frames that hold records.
//!
//! All numbers are little-endian.
//!
//! ```text
//! header   magic [8]  version u32  id [16]  first sequence u64  created at i64  crc u32  zeros
//! frame    length u32  crc u32  sequence u64  payload
//! ```

use std::ops::RangeInclusive;

/// The largest record in bytes.
pub const MAX_RECORD: usize = 64 << 10;

pub(crate) const HEADER: usize = 64;
/// What a frame takes beside its payload.
pub(crate) const FRAME: usize = 16;
pub(crate) const MAX_FRAME: usize = FRAME + MAX_RECORD;

const MAGIC: [u8; 8] = *b"signjrnl";
const VERSION: u32 = 1;
const HEADER_CRC_AT: usize = 44;

/// A journal's own random name. Sequences never start again under the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct JournalId(pub [u8; 16]);

impl std::fmt::Display for JournalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for JournalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JournalId({self})")
    }
}

/// What a segment says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: JournalId,
    /// The sequence of its first record, whether that has come yet or not.
    pub(crate) first: u64,
    /// Microseconds since 1970.
    pub(crate) created_at: i64,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..28].copy_from_slice(&self.id.0);
        bytes[28..36].copy_from_slice(&self.first.to_le_bytes());
        bytes[36..44].copy_from_slice(&self.created_at.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..HEADER_CRC_AT]);
        bytes[HEADER_CRC_AT..HEADER_CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Nothing when the bytes are no header of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        let crc = crc32fast::hash(&bytes[..HEADER_CRC_AT]);
        if !bytes.starts_with(&MAGIC)
            || u32_at(bytes, 8)? != VERSION
            || u32_at(bytes, HEADER_CRC_AT)? != crc
        {
            return None;
        }
        Some(Self {
            id: JournalId(bytes[12..28].try_into().ok()?),
            first: u64_at(bytes, 28)?,
            created_at: u64_at(bytes, 36)?.cast_signed(),
        })
    }
}

/// The checksum of frames.
///
/// It starts from the journal's id: a frame of another journal is not valid here, and nobody who
/// can choose a payload can hide a valid frame in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum(u32);

impl Checksum {
    pub(crate) fn new(id: JournalId) -> Self {
        Self(crc32fast::hash(&id.0))
    }

    fn of(self, length: [u8; 4], sequence: [u8; 8], payload: &[u8]) -> u32 {
        let mut head = [0; 12];
        head[..4].copy_from_slice(&length);
        head[4..].copy_from_slice(&sequence);
        let mut hasher = crc32fast::Hasher::new_with_initial(self.0);
        hasher.update(&head);
        hasher.update(payload);
        hasher.finalize()
    }
}

/// Adds a frame that has no sequence yet. The payload is 1 to [`MAX_RECORD`] bytes.
pub(crate) fn push_frame(frames: &mut Vec<u8>, payload: &[u8]) {
    frames.reserve(FRAME + payload.len());
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    frames.extend_from_slice(&length.to_le_bytes());
    frames.extend_from_slice(&[0; FRAME - 4]);
    frames.extend_from_slice(payload);
}

/// Numbers frames from `first` on and seals them.
pub(crate) fn stamp(frames: &mut [u8], first: u64, checksum: Checksum) {
    let mut rest = frames;
    let mut sequence = first;
    while let Some(length) = u32_at(rest, 0) {
        let (frame, tail) = rest.split_at_mut((FRAME + length as usize).min(rest.len()));
        let (head, payload) = frame.split_at_mut(FRAME);
        let crc = checksum.of(length.to_le_bytes(), sequence.to_le_bytes(), payload);
        head[4..8].copy_from_slice(&crc.to_le_bytes());
        head[8..].copy_from_slice(&sequence.to_le_bytes());
        sequence += 1;
        rest = tail;
    }
}

/// What is at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A whole record; its payload is `bytes[FRAME..end]`.
    Record { sequence: u64, end: usize },
    /// Nothing was written here.
    End,
    /// Something that is no record.
    Bad,
}

pub(crate) fn parse(bytes: &[u8], checksum: Checksum) -> Parsed {
    let (Some(length), Some(crc), Some(sequence)) =
        (u32_at(bytes, 0), u32_at(bytes, 4), u64_at(bytes, 8))
    else {
        return if is_zero(bytes) { Parsed::End } else { Parsed::Bad };
    };
    if length == 0 {
        return Parsed::End;
    }
    let end = FRAME + length as usize;
    if length as usize > MAX_RECORD || end > bytes.len() {
        return Parsed::Bad;
    }
    let sealed = checksum.of(length.to_le_bytes(), sequence.to_le_bytes(), &bytes[FRAME..end]);
    if sealed == crc { Parsed::Record { sequence, end } } else { Parsed::Bad }
}

/// The first whole record among `bytes[range]` with a sequence among `wanted`; the bytes may go on
/// behind the range, so that a record that begins in it can be seen whole.
pub(crate) fn find(
    bytes: &[u8],
    range: std::ops::Range<usize>,
    wanted: &RangeInclusive<u64>,
    checksum: Checksum,
) -> Option<(usize, u64)> {
    const STRIDE: usize = 4096;
    let mut at = range.start;
    while at < range.end {
        // A length is never 0, so that no record begins among zeros. Most of a segment may be.
        if let Some(stride) = bytes.get(at..at + STRIDE)
            && is_zero(stride)
        {
            at += STRIDE - 3;
            continue;
        }
        // The sequence is the cheap test, and nearly always enough.
        if u64_at(bytes, at + 8).is_some_and(|sequence| wanted.contains(&sequence))
            && let Parsed::Record { sequence, .. } = parse(&bytes[at..], checksum)
        {
            return Some((at, sequence));
        }
        at += 1;
    }
    None
}

/// The bytes without the zeros at their end.
pub(crate) fn without_trailing_zeros(bytes: &[u8]) -> &[u8] {
    let mut end = bytes.len();
    while end >= 4096 && is_zero(&bytes[end - 4096..end]) {
        end -= 4096;
    }
    while end > 0 && bytes[end - 1] == 0 {
        end -= 1;
    }
    &bytes[..end]
}

/// Compared in blocks, which is as fast as memory even without optimisation.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| *chunk == ZEROS[..chunk.len()])
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
