//! The layer rule: the web layer knows no database library, and only the composition root and the
//! database's own types reach into the adapters.

use std::path::Path;

#[test]
fn the_app_does_not_name_a_database_library() {
    let manifest = include_str!("../Cargo.toml");
    for banned in ["diesel", "r2d2", "libsqlite3", "pq-sys", "rusqlite", "postgres"] {
        let named = manifest.lines().any(|line| line.starts_with(banned));
        assert!(!named, "{banned} belongs into the adapters");
    }
}

/// Files that may name adapters: the composition root, and those that hold a handle which only
/// passes through (where the database is, what records clicks, how user agents are read).
const MAY_NAME_ADAPTERS: &[&str] =
    &["wiring.rs", "traffic.rs", "config.rs", "command.rs", "classify.rs", "journal.rs"];

#[test]
fn only_the_composition_root_picks_adapters() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("signpost_adapters") {
            assert!(MAY_NAME_ADAPTERS.contains(&name), "{} names adapters", path.display());
        }
    }
}
