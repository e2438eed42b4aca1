//! Finding the link of a visit.

use std::sync::Arc;

use super::StoreError;
use crate::link::{Route, ShortCode};

/// What memory knows of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cached {
    /// The link, fresh enough to use.
    Known(Arc<Route>),
    /// No link has this code, as of less than a second ago.
    Absent,
    /// Memory can't tell; ask [`LinkLookup::load`].
    Unknown,
}

/// Finds the link of a code for a visitor, from memory where possible.
///
/// A change or deletion made through this process is seen by the next visit; one made elsewhere
/// within a second.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait LinkLookup: Send + Sync {
    /// What memory knows; never blocks.
    fn in_memory(&self, code: &ShortCode) -> Cached;

    /// Asks the store; may block. Many callers for one code at a time cause one query.
    ///
    /// While the store can't be reached, a link that memory remembers is answered as it was.
    fn load(&self, code: &ShortCode) -> Result<Option<Arc<Route>>, StoreError>;
}
