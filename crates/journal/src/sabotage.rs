//! Ways to break the promise on purpose, for the suite that must notice.
//!
//! Compiled in with the feature `sabotage` only, and switched on by `SIGNPOST_SABOTAGE`, a list of
//! names separated by commas:
//!
//! - `no_fdatasync`: nothing is brought to stable storage;
//! - `release_before_write`: tickets are ready 5 ms before their records are written;
//! - `retry_fdatasync`: a failed `fdatasync` is tried again on the same file and believed.
//!
//! What fills and empties the journal has its own ways:
//!
//! - `journal_skipped`: every 50th click is not handed to it, and its redirect is sent all the same;
//! - `position_early`: the position in the database is committed before the clicks up to it.

/// Whether a way is switched on.
#[cfg(feature = "sabotage")]
pub fn is_on(name: &str) -> bool {
    static NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let names = std::env::var("SIGNPOST_SABOTAGE").unwrap_or_default();
        names.split(',').map(str::to_owned).collect()
    });
    NAMES.iter().any(|on| on == name)
}

/// Never.
#[cfg(not(feature = "sabotage"))]
pub const fn is_on(_: &str) -> bool {
    false
}
