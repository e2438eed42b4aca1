//! Disks that can be full or lose their power.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cleanup::{self, Litter};
use crate::cluster::run;

/// A file system of our own, unmounted when this is dropped.
#[derive(Debug)]
pub(crate) struct Mount {
    at: PathBuf,
    /// The file that holds it; none for one in memory.
    image: Option<PathBuf>,
}

impl Mount {
    /// A file system in memory, of so many megabytes.
    pub(crate) fn in_memory(at: &Path, megabytes: u32) -> Result<Self> {
        std::fs::create_dir_all(at)?;
        let size = format!("size={megabytes}m");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "signpost-faults"]).arg(at))?;
        Ok(Self::noted(at, None))
    }

    /// A disk in a file, of so many megabytes.
    pub(crate) fn in_image(at: &Path, image: &Path, megabytes: u64) -> Result<Self> {
        std::fs::create_dir_all(at)?;
        std::fs::File::create(image)?.set_len(megabytes << 20)?;
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image))?;
        Self::of_image(at, image)
    }

    fn of_image(at: &Path, image: &Path) -> Result<Self> {
        run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(at))?;
        Ok(Self::noted(at, Some(image.to_owned())))
    }

    fn noted(at: &Path, image: Option<PathBuf>) -> Self {
        cleanup::note(Litter::Mount(at.to_owned()));
        Self { at: at.to_owned(), image }
    }

    /// Makes a file system in memory larger.
    pub(crate) fn grow(&self, megabytes: u32) -> Result<()> {
        let size = format!("remount,size={megabytes}m");
        run(Command::new("mount").args(["-o", &size]).arg(&self.at))
    }

    /// What would be on the disk if the power went now: the image without anything that is only in
    /// memory. Nothing may write meanwhile.
    pub(crate) fn snapshot(&self, to: &Path) -> Result<()> {
        let image = self.image.as_deref().ok_or("a file system in memory has no image")?;
        run(Command::new("cp").args(["--sparse=always", "--reflink=auto"]).arg(image).arg(to))
    }

    /// Replaces the disk by a snapshot, as after the power came back.
    pub(crate) fn replace(self, snapshot: &Path) -> Result<Self> {
        let (at, image) = (self.at.clone(), self.image.clone());
        drop(self);
        let image = image.ok_or("a file system in memory has no image")?;
        std::fs::rename(snapshot, &image)?;
        Self::of_image(&at, &image)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        cleanup::unmount(&self.at);
        cleanup::forget(&Litter::Mount(self.at.clone()));
    }
}
