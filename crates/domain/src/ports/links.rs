//! The store of links.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::access::ApiKeyId;
use crate::app::AppId;
use crate::link::{Link, LinkDraft, LinkEdit, LinkFilter, LinkId, LinkVersion, ShortCode};
use crate::page::{Page, PageRequest};

/// Durable store of links.
///
/// A code belongs to one link for ever, a deleted one included, and ids are never given out twice.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait LinkRepository: Send + Sync {
    /// Stores links, each under the first of its candidate codes that is free.
    ///
    /// All links of a call are stored in one transaction. A draft whose candidates are all in use
    /// answers [`Outcome::CodeTaken`] and does not spoil the others. With an [`Idempotent`] request
    /// the answer is kept in the same transaction, unless nothing was stored; a request seen before
    /// with the same body stores nothing and replays, one with another body is a mismatch, and one
    /// whose twin is still under way waits for it, at most two seconds. A kept answer is forgotten
    /// 24 hours after its creation.
    fn insert(
        &self,
        drafts: &[LinkDraft],
        once: Option<Idempotent>,
    ) -> Result<Insertion, StoreError>;

    /// The kept answer to a request, or `None` when this request is new or older than 24 hours.
    ///
    /// Answers [`Insertion::Mismatch`] when the key was used with another body.
    fn find_answer(
        &self,
        key: &IdempotencyKey,
        body: BodyHash,
        now: DateTime<Utc>,
    ) -> Result<Option<Insertion>, StoreError>;

    /// The app's link with this code, or `None`; never another app's and never a deleted one.
    fn find(&self, app: AppId, code: &ShortCode) -> Result<Option<Link>, StoreError>;

    /// The link with this number, of any app, or `None`; never a deleted one.
    fn find_by_id(&self, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// The link with this code, of any app, or `None`; never a deleted one.
    fn find_by_code(&self, code: &ShortCode) -> Result<Option<Link>, StoreError>;

    /// One page of the app's links that meet the filter, newest first, equal times by falling
    /// number; `total` counts all that meet it.
    ///
    /// A page past the end is empty. A search term is found in code, title, channel and campaign,
    /// without regard to case, and its `%` and `_` are plain characters.
    fn page(
        &self,
        app: AppId,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> Result<Page<Link>, StoreError>;

    /// Applies an edit to the app's link and returns the result, or `None` without such a link.
    ///
    /// The link is locked meanwhile, so that of two edits at once neither is lost. When `expected`
    /// names versions and the link has none of them, nothing changes and the answer is
    /// [`UpdateError::VersionMismatch`].
    fn update(
        &self,
        app: AppId,
        code: &ShortCode,
        edit: LinkEdit,
        expected: Option<Vec<LinkVersion>>,
        now: DateTime<Utc>,
    ) -> Result<Option<Link>, UpdateError>;

    /// Erases answers kept for 24 hours or longer, and says how many.
    fn forget_answers(&self, now: DateTime<Utc>) -> Result<usize, StoreError>;

    /// Deletes the app's link: its content is erased, its number and code stay reserved.
    ///
    /// Answers false when the app has no such link.
    fn remove(&self, app: AppId, code: &ShortCode, now: DateTime<Utc>) -> Result<bool, StoreError>;
}

/// What became of the links of an [`insert`](LinkRepository::insert).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// Tried now; one outcome per draft, in order.
    Fresh(Vec<Outcome>),
    /// Done before: the answer that was given then.
    Replayed(Answer),
    /// The key was used with another body.
    Mismatch,
    /// The same request is under way and took too long to wait for.
    InProgress,
}

/// What became of one draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Stored.
    Stored(Box<Link>),
    /// None of its codes was free.
    CodeTaken,
}

/// A request that must have its effect once, however often it is sent.
#[derive(Clone)]
pub struct Idempotent {
    /// Who sent it, and under which name.
    pub key: IdempotencyKey,
    /// What it said.
    pub body: BodyHash,
    /// Makes the answer to keep from the outcomes.
    pub render: Render,
}

/// Makes the answer to a request from what became of its links.
pub type Render = Arc<dyn Fn(&[Outcome]) -> Answer + Send + Sync>;

impl fmt::Debug for Idempotent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotent").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The name a client gave to a request; names of different keys are different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The app.
    pub app_id: AppId,
    /// The API key.
    pub key_id: ApiKeyId,
    /// The client's text: 1–255 visible ASCII characters.
    pub text: String,
}

/// The SHA-256 of a request's raw body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyHash(pub [u8; 32]);

/// An answer as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// The `Location` header.
    pub location: Option<String>,
    /// The `ETag` header.
    pub etag: Option<String>,
}

/// Why an update did not happen.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The link has changed since the client read it.
    #[error("the link has another version")]
    VersionMismatch,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
