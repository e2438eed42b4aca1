//! The store of apps.

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::app::{App, AppDraft, AppId, AppPatch, Slug};

/// Durable store of apps. A slug belongs to at most one app at a time.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait AppRepository: Send + Sync {
    /// Stores an app and returns it with its number.
    ///
    /// Answers [`SaveAppError::SlugTaken`] and stores nothing when the slug is in use.
    fn insert(&self, draft: &AppDraft) -> Result<App, SaveAppError>;

    /// The app with this number, or `None`.
    fn find(&self, id: AppId) -> Result<Option<App>, StoreError>;

    /// The app with this slug, or `None`.
    fn find_by_slug(&self, slug: &Slug) -> Result<Option<App>, StoreError>;

    /// All apps by number. An app whose first host is another app's too has `shares_host` set.
    fn list(&self) -> Result<Vec<App>, StoreError>;

    /// Applies a patch and returns the result, or `None` without such an app.
    ///
    /// The app is locked meanwhile, so that of two patches at once neither is lost. Answers
    /// [`SaveAppError::SlugTaken`] and changes nothing when the new slug is in use. A patch that
    /// changes nothing leaves the time of the last change as it is.
    fn update(
        &self,
        id: AppId,
        patch: AppPatch,
        now: DateTime<Utc>,
    ) -> Result<Option<App>, SaveAppError>;
}

/// Why an app was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveAppError {
    /// Another app has this slug.
    #[error("the slug is taken")]
    SlugTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
