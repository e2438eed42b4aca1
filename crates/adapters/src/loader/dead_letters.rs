//! Records that can't be loaded, set aside for a person to look at.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file of records that could not be loaded, a JSON line each.
#[derive(Debug, Clone)]
pub struct DeadLetters {
    path: PathBuf,
}

/// A record that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeadLetter {
    /// The journal it was in, in hexadecimal digits.
    pub journal: String,
    /// Its place there.
    pub sequence: u64,
    /// When it was set aside, RFC 3339.
    pub at: String,
    /// Why.
    pub reason: String,
    /// Its bytes in hexadecimal digits.
    pub record: String,
}

impl DeadLetters {
    /// The file at `path`, which is made when it is needed.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a letter; it is on stable storage when this returns, because the record's place in the
    /// journal is given up next.
    pub fn add(&self, letter: &DeadLetter) -> io::Result<()> {
        let mut line = serde_json::to_string(letter)?;
        line.push('\n');
        // The clicks in it are as private as those in the journal.
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        match self.path.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }

    /// All letters, in the order they came. A torn last line is passed over.
    pub fn read(&self) -> io::Result<Vec<DeadLetter>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let lines = BufReader::new(file).lines().collect::<Result<Vec<_>, _>>()?;
        Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Replaces all letters, those that arrived after a replay left out.
    pub fn rewrite(&self, letters: &[DeadLetter]) -> io::Result<()> {
        let draft = self.path.with_extension("new");
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&draft)?;
        for letter in letters {
            let mut line = serde_json::to_string(letter)?;
            line.push('\n');
            file.write_all(line.as_bytes())?;
        }
        file.sync_all()?;
        std::fs::rename(&draft, &self.path)
    }
}

impl DeadLetter {
    /// The record's bytes; nothing when somebody has edited them into nonsense.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let digits = self.record.as_bytes();
        if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
            return None;
        }
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        digits.chunks(2).map(pair).collect()
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_read_back_and_a_torn_line_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let letters = DeadLetters::at(directory.path().join("dead-letters.jsonl"));
        assert!(letters.read().unwrap().is_empty());
        let letter = DeadLetter {
            journal: "00".to_owned(),
            sequence: 7,
            at: "2026-01-05T09:00:00.000Z".to_owned(),
            reason: "unreadable".to_owned(),
            record: hex(&[0, 255, 16]),
        };
        letters.add(&letter).unwrap();
        let mut file = OpenOptions::new().append(true).open(letters.path()).unwrap();
        file.write_all(b"{\"journal\":").unwrap();
        assert_eq!(letters.read().unwrap(), std::slice::from_ref(&letter));
        assert_eq!(letter.bytes(), Some(vec![0, 255, 16]));
        letters.rewrite(&[]).unwrap();
        assert!(letters.read().unwrap().is_empty());
    }
}
