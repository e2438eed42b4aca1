//! The layer rule: the journal knows nothing of what it stores, and no runtime.

#[test]
fn the_journal_depends_on_few_and_small_things() {
    let manifest = include_str!("../Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]\n").expect("there are dependencies");
    let (dependencies, _) = rest.split_once("\n\n").expect("there is more");
    let names: Vec<_> = dependencies.lines().filter_map(|line| line.split('.').next()).collect();
    assert_eq!(names, ["crc32fast", "rand", "thiserror", "tracing"]);
}
