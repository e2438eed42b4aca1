//! The one error of every store.

use std::error::Error;

/// A store failed in a way its caller can't act on.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store can't be reached, or did not answer in time: trying again later may help.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// Anything else, an impossible row included.
    #[error("the store failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// A store that can't be reached.
    pub fn unavailable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }

    /// A store that failed.
    pub fn failed(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }
}
