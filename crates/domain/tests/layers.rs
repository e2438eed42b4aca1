//! The layer rule: the domain knows no database, no web server, no clock and no runtime.

/// Crates that compute and nothing else.
const ALLOWED: &[&str] = &["chrono", "crc32fast", "mockall", "thiserror", "url", "uuid"];

#[test]
fn the_domain_depends_on_pure_crates_only() {
    let manifest = include_str!("../Cargo.toml");
    let dependencies = manifest
        .split("\n[")
        .find_map(|section| section.strip_prefix("dependencies]\n"))
        .expect("the manifest has a section of dependencies");
    for line in dependencies.lines().filter(|line| !line.is_empty()) {
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        assert!(ALLOWED.contains(&name), "{name} is not on the domain's allow-list");
    }
}

#[test]
fn no_target_or_build_section_smuggles_a_dependency_in() {
    let manifest = include_str!("../Cargo.toml");
    for section in ["[target.", "[build-dependencies", "[dependencies."] {
        assert!(!manifest.contains(section), "{section} is not allowed here");
    }
}
