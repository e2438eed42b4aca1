//! The one way from a handler to code that may block.

use std::time::Duration;

use crate::problem::ApiError;

/// The longest an API request waits for its thread; a database that hangs would hold it for ever.
pub(crate) const API_LIMIT: Duration = Duration::from_secs(5);
/// The longest a visit waits.
pub(crate) const VISIT_LIMIT: Duration = Duration::from_millis(900);

/// Runs a use case on a thread that may block and waits for it, at most [`API_LIMIT`].
pub(crate) async fn run<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    run_within(API_LIMIT, work).await
}

/// Runs a use case and waits for it at most `limit`; after that the answer is 503, while the work
/// goes on and its result is thrown away.
pub(crate) async fn run_within<T, E>(
    limit: Duration,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    #[expect(clippy::disallowed_methods, reason = "this is the place that bounds the wait")]
    let hop = actix_web::web::block(work);
    match tokio::time::timeout(limit, hop).await {
        Ok(Ok(result)) => result.map_err(Into::into),
        Ok(Err(_)) => Err(ApiError::internal("a blocking task panicked")),
        Err(_) => Err(ApiError::unavailable("a blocking task took too long")),
    }
}
