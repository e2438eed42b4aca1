//! One question to the store, however many ask it at the same time.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use signpost_domain::ports::StoreError;

/// A question under way; those who come while it is asked wait for its answer.
#[derive(Debug)]
pub(crate) struct Flight<T> {
    begun: Instant,
    answer: OnceLock<Result<T, Arc<StoreError>>>,
}

impl<T> Flight<T> {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), answer: OnceLock::new() }
    }

    /// When it was begun: its answer may be as old as that.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// The answer: asked by the first who comes, waited for by the others.
    pub(crate) fn answer(
        &self,
        ask: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<&T, Arc<StoreError>> {
        self.answer.get_or_init(|| ask().map_err(Arc::new)).as_ref().map_err(Arc::clone)
    }
}

/// An error that several callers share, as the error of each of them.
pub(crate) fn shared(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unavailable(_) => StoreError::unavailable(error),
        StoreError::Failed(_) => StoreError::failed(error),
    }
}
