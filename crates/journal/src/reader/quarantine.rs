//! Damaged bytes are kept: somebody may make something of them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, RealDisk};
use crate::format::is_zero;
use crate::reader::Damage;
use crate::recovery::QUARANTINE;

/// The most bytes kept of one place.
const MOST: u64 = 64 << 20;

/// Copies damaged bytes to a file of their own, named for their place, so that a second reading
/// replaces it. Nothing when there are none, or there is no room for them.
pub(super) fn keep(dir: &Path, damage: &Damage) -> Option<PathBuf> {
    let path = damage.path.as_ref().filter(|_| !damage.bytes.is_empty())?;
    copy(dir, path, damage).unwrap_or_else(|error| {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the damaged bytes could not be set aside"
        );
        None
    })
}

fn copy(dir: &Path, path: &Path, damage: &Damage) -> io::Result<Option<PathBuf>> {
    let (start, end) = (damage.bytes.start, damage.bytes.end);
    let mut bytes = vec![0; usize::try_from((end - start).min(MOST)).unwrap_or(0)];
    File::open(path)?.read_exact_at(&mut bytes, start)?;
    if is_zero(&bytes) {
        return Ok(None);
    }
    let dir = dir.join(QUARANTINE);
    std::fs::create_dir_all(&dir)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let to = dir.join(format!("{name}-{start}-{end}.bytes"));
    let file = RealDisk.create(&to)?;
    file.write_all_at(&bytes, 0)?;
    Ok(Some(to))
}
