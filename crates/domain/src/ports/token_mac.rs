//! The signature of click tokens.

use crate::click::ClickId;
use crate::link::LinkId;

/// Signs click tokens, so that nobody but us can name a click that is not theirs.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait TokenMac: Send + Sync {
    /// A keyed 64-bit MAC of a click and its link.
    ///
    /// It is the same on every node and after a restart for as long as tokens live: the longest
    /// matching window of an app. Without the key it can't be told from chance, and a guess is right
    /// once in 2^64. It is computed at every redirect, so it must take about a microsecond.
    fn mac(&self, click: ClickId, link: LinkId) -> u64;

    /// True for the MAC of this click and link under today's key or one that it has replaced; the
    /// time it takes tells nothing about the right answer.
    fn verify(&self, click: ClickId, link: LinkId, mac: u64) -> bool;
}
