//! The store of clicks.

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::click::{Classification, Click, ClickId, DateRange, NewClick, Tally};
use crate::link::LinkId;

/// Durable store of clicks.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ClickRepository: Send + Sync {
    /// Stores a batch whole or not at all, and answers how many of it were new.
    ///
    /// A click that is stored already is passed over, and so is a click of a deleted link.
    fn append(&self, clicks: &[(NewClick, Classification)]) -> Result<usize, StoreError>;

    /// A link's clicks in a range, newest first, equal times by falling number.
    fn page(&self, query: &ClickQuery) -> Result<ClickPage, StoreError>;

    /// The clicks of a link in a range, counted by everything a statistic looks at.
    fn tally(&self, link: LinkId, range: DateRange) -> Result<Vec<Tally>, StoreError>;

    /// The sum over the days of the range of distinct pairs of address and user agent, bots left
    /// out; `None` when no click of the range has an address.
    fn visitors(&self, link: LinkId, range: DateRange) -> Result<Option<u64>, StoreError>;

    /// Erases clicks of deleted links, at most `limit`, and answers how many.
    fn erase_orphans(&self, limit: u32) -> Result<usize, StoreError>;
}

/// Which clicks of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickQuery {
    /// The link.
    pub link: LinkId,
    /// Not before this moment.
    pub from: Option<DateTime<Utc>>,
    /// Before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Whether bots are listed.
    pub include_bots: bool,
    /// Clicks older than this one only.
    pub after: Option<ClickCursor>,
    /// How many clicks to pass over.
    pub offset: u32,
    /// How many to answer.
    pub limit: u32,
    /// Up to which number the matching clicks are counted.
    pub count_to: u32,
}

/// A place in a list of clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClickCursor {
    /// The time of the last click seen.
    pub at: DateTime<Utc>,
    /// Its number.
    pub id: ClickId,
}

/// A page of clicks.
#[derive(Debug, Clone, PartialEq)]
pub struct ClickPage {
    /// The clicks.
    pub clicks: Vec<Click>,
    /// How many match in all, the cursor not regarded; exact to `count_to`, which it never exceeds
    /// by more than one.
    pub total: u64,
}
