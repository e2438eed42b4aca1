//! The part of a segment that is in memory.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

use crate::format::{Checksum, MAX_FRAME, find, without_trailing_zeros};

const SIZE: usize = 4 * MAX_FRAME;
const PAGE: usize = 4096;
/// What a disk answers for a sector that it can't read.
const EIO: i32 = 5;

#[derive(Debug, Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    start: u64,
    /// It reaches to the end of the file.
    is_end: bool,
    /// The last sequence that was sure to be in the file when the window was filled.
    pub(super) limit: u64,
}

impl Window {
    /// Forgets what was read, since more has been written.
    pub(super) fn refresh(&mut self, limit: u64) {
        self.bytes.clear();
        self.is_end = false;
        self.limit = limit;
    }

    /// The bytes from an offset on: a whole frame at least, unless the file ends before.
    pub(super) fn at(&mut self, file: &File, offset: u64) -> io::Result<&[u8]> {
        let inside = offset.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
        let inside = inside.filter(|skip| {
            let left = self.bytes.len().checked_sub(*skip);
            left.is_some_and(|left| left >= MAX_FRAME || self.is_end)
        });
        let skip = if let Some(skip) = inside {
            skip
        } else {
            self.bytes.resize(SIZE, 0);
            let n = fill(file, &mut self.bytes, offset)?;
            self.bytes.truncate(n);
            self.is_end = n < SIZE;
            self.start = offset;
            0
        };
        Ok(&self.bytes[skip..])
    }

    /// The first record at `from` or behind with a sequence among `wanted`.
    pub(super) fn find(
        &mut self,
        file: &File,
        mut from: u64,
        wanted: &RangeInclusive<u64>,
        checksum: Checksum,
    ) -> io::Result<Option<(u64, u64)>> {
        loop {
            let n = self.at(file, from)?.len();
            let is_end = self.is_end;
            let whole = if is_end { n } else { n - MAX_FRAME + 1 };
            if let Some((at, sequence)) = find(self.at(file, from)?, 0..whole, wanted, checksum) {
                return Ok(Some((from + at as u64, sequence)));
            }
            if is_end {
                return Ok(None);
            }
            from += whole as u64;
        }
    }

    /// Where the zeros at the end of the file begin, at `from` or behind.
    pub(super) fn end_of_content(&mut self, file: &File, mut from: u64) -> io::Result<u64> {
        let mut end = from;
        loop {
            let bytes = self.at(file, from)?;
            let content = without_trailing_zeros(bytes).len();
            let n = bytes.len();
            if content > 0 {
                end = from + content as u64;
            }
            from += n as u64;
            if self.is_end || n == 0 {
                return Ok(end);
            }
        }
    }
}

/// Reads as much as there is. Pages that the disk can't read any more are zeros, and so damage:
/// one bad sector must not hold up what is behind it.
fn fill(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    match read(file, bytes, offset) {
        Err(error) if error.raw_os_error() == Some(EIO) => {}
        result => return result,
    }
    let mut n = 0;
    for page in bytes.chunks_mut(PAGE) {
        let size = page.len();
        match read(file, page, offset + n as u64) {
            Ok(read) if read < size => return Ok(n + read),
            Err(error) if error.raw_os_error() != Some(EIO) => return Err(error),
            Err(_) => page.fill(0),
            Ok(_) => {}
        }
        n += size;
    }
    Ok(n)
}

fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut n = 0;
    while n < bytes.len() {
        match file.read_at(&mut bytes[n..], offset + n as u64) {
            Ok(0) => break,
            Ok(read) => n += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n)
}
