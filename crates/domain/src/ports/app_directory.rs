//! All apps, at hand.

use std::sync::Arc;

use super::StoreError;
use crate::app::AppSet;

/// Keeps all apps in memory, because every visit and every request needs one of them.
///
/// A change made through this process is seen at once; one made elsewhere within a second.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait AppDirectory: Send + Sync {
    /// The apps, when memory has them fresh enough; never blocks.
    fn in_memory(&self) -> Option<Arc<AppSet>>;

    /// The apps, asked from the store when memory is too old; may block.
    ///
    /// While the store can't be reached, the apps are answered as they were.
    fn load(&self) -> Result<Arc<AppSet>, StoreError>;
}
