//! Recording clicks.

use std::future::Future;
use std::pin::Pin;

use crate::click::NewClick;

/// Where clicks are recorded before their redirects are sent.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ClickJournal: Send + Sync {
    /// Records a click; the answer comes when the click is as safe as the journal can make it.
    ///
    /// The one port that answers with a future: waiting for a disk must not hold a thread that
    /// other visitors need.
    fn append(&self, click: NewClick) -> Recording;
}

/// The answer of a journal, to be awaited.
pub type Recording = Pin<Box<dyn Future<Output = Recorded> + Send>>;

/// What became of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Stored for good.
    Durable,
    /// Accepted, but not yet stored when the wait ended.
    Pending,
    /// Refused: it is lost, counted and logged.
    Dropped,
}
