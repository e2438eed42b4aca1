//! A disk that loses its power: what was synced stays, and of the rest any page may.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rand::RngExt;

use super::support::*;
use crate::disk::{Disk, RealDisk};
use crate::*;

const PAGE: usize = 512;

/// Remembers what a power cut could not take.
#[derive(Default)]
struct PowerDisk(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    files: HashMap<u64, Content>,
    names: HashMap<PathBuf, u64>,
    synced_names: HashMap<PathBuf, u64>,
    syncs: u64,
    /// Every so many syncs of a file one fails.
    failing: u64,
}

struct Content {
    file: File,
    synced: Vec<u8>,
    /// A sync failed: the kernel took its dirty pages for clean, and never writes them.
    is_poisoned: bool,
}

impl PowerDisk {
    /// Makes the directory that is found when the power is back.
    fn cut(&self, dir: &Path, to: &Path) {
        let mut random = rand::rng();
        let memory = self.0.lock().unwrap();
        std::fs::create_dir(to).unwrap();
        let identity = std::fs::read(dir.join("identity")).unwrap();
        for (path, inode) in &memory.synced_names {
            let content = &memory.files[inode];
            let mut found = content.synced.clone();
            let written = all_of(&content.file);
            // A longer file may be so, too, with its new pages or without.
            if random.random() {
                found.resize(written.len().max(found.len()), 0);
            }
            if !content.is_poisoned {
                for (page, new) in found.chunks_mut(PAGE).zip(written.chunks(PAGE)) {
                    if page.len() == new.len() && random.random() {
                        page.copy_from_slice(new);
                    }
                }
            }
            std::fs::write(to.join(path.file_name().unwrap()), found).unwrap();
        }
        std::fs::write(to.join("identity"), identity).unwrap();
        adopt(to).unwrap();
    }
}

fn all_of(file: &File) -> Vec<u8> {
    let size = usize::try_from(file.metadata().unwrap().len()).unwrap();
    let mut bytes = vec![0; size];
    let _ = file.read_exact_at(&mut bytes, 0);
    bytes
}

impl Disk for PowerDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        let file = RealDisk.create(path)?;
        let inode = file.metadata()?.ino();
        let content = Content { file: file.try_clone()?, synced: Vec::new(), is_poisoned: false };
        let mut memory = self.0.lock().unwrap();
        memory.names.insert(path.to_owned(), inode);
        memory.files.insert(inode, content);
        Ok(file)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        let mut memory = self.0.lock().unwrap();
        memory.syncs += 1;
        let is_failing = memory.failing > 0 && memory.syncs.is_multiple_of(memory.failing);
        let content = memory.files.get_mut(&inode).unwrap();
        if is_failing {
            content.is_poisoned = true;
            return Err(io::Error::from_raw_os_error(5));
        }
        if !content.is_poisoned {
            content.synced = all_of(&content.file);
        }
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        let mut memory = self.0.lock().unwrap();
        memory.synced_names = memory.names.clone();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)?;
        let mut memory = self.0.lock().unwrap();
        if let Some(inode) = memory.names.remove(from) {
            memory.names.insert(to.to_owned(), inode);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)?;
        self.0.lock().unwrap().names.remove(path);
        Ok(())
    }

    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()> {
        RealDisk.set_len(file, bytes)
    }
}

/// Appends from two threads, cuts the power in the middle, and counts the promised records that
/// are not there afterwards.
fn lost_in_a_cut(durability: Durability, failing: u64) -> usize {
    let home = tempfile::tempdir().unwrap();
    let (dir, after) = (home.path().join("before"), home.path().join("after"));
    let disk = Arc::<PowerDisk>::default();
    let options = Options { durability, ..options() };
    let journal = Journal::open_on(&dir, options, disk.clone()).unwrap();
    disk.0.lock().unwrap().failing = failing;
    let promised = Mutex::new(Vec::new());
    let until = rand::random_range(20..200);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (journal, promised, disk) = (&journal, &promised, &disk);
            let (dir, after) = (&dir, &after);
            scope.spawn(move || {
                for n in 0..300 {
                    let record = format!("{thread} {n}").into_bytes();
                    let outcome = journal.append(&record).wait();
                    let mut promised = promised.lock().unwrap();
                    if after.exists() {
                        return;
                    }
                    if let Outcome::Durable(sequence) | Outcome::Written(sequence) = outcome {
                        promised.push((sequence, record));
                    }
                    if promised.len() == until {
                        disk.cut(dir, after);
                    }
                }
            });
        }
    });
    let journal = open(&after);
    let found: HashMap<u64, Vec<u8>> = items(&mut journal.reader(0))
        .into_iter()
        .filter_map(|item| match item {
            Item::Record(record) => Some((record.sequence, record.payload)),
            // Of what nobody was promised, a later part may have arrived without an earlier one.
            Item::Damage(_) => None,
        })
        .collect();
    let promised = promised.into_inner().unwrap();
    assert_eq!(promised.len(), until);
    promised.iter().filter(|(sequence, record)| found.get(sequence) != Some(record)).count()
}

#[test]
fn a_power_cut_loses_nothing_that_was_promised() {
    for failing in [0, 2, 3, 7, 20] {
        for _ in 0..30 {
            assert_eq!(lost_in_a_cut(Durability::Disk, failing), 0, "failing every {failing}");
        }
    }
}

#[test]
fn the_model_of_a_power_cut_sees_what_process_mode_loses() {
    assert!((0..30).any(|_| lost_in_a_cut(Durability::Process, 0) > 0));
}
