//! The store of clicks.

use chrono::{DateTime, NaiveDate, Utc};

use super::StoreError;
use crate::app::AppId;
use crate::click::{Classification, Click, ClickId, DateRange, DayStats, NewClick};
use crate::link::LinkId;

/// Durable store of clicks and of the statistics of their days.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ClickRepository: Send + Sync {
    /// Makes a journal known, and answers the position up to which it has been loaded.
    ///
    /// A new journal is at 0, a known one stays where it is.
    fn register(
        &self,
        journal: JournalId,
        node: &str,
        now: DateTime<Utc>,
    ) -> Result<u64, StoreError>;

    /// Stores a batch of a journal and moves the journal's position past it, both or neither.
    ///
    /// A batch that does not begin at the journal's position is refused and nothing of it stored, so
    /// a batch that comes twice counts once, and of two who load one journal one is told. A click
    /// that is stored already is passed over, and so is a click of a deleted link. Each click that is
    /// stored counts in the statistics of its link's and its app's day, however late it comes and
    /// whoever else stores clicks of the same day meanwhile. Its visitor counts under the day's
    /// salt, the same for all; a day whose salt was forgotten takes no further visitors.
    fn load(&self, batch: &Batch) -> Result<Loaded, LoadError>;

    /// Stores clicks that are in no journal, whole or not at all, and answers how many of them were
    /// new; in all else it is [`load`](Self::load).
    fn append(&self, clicks: &[(NewClick, Classification)]) -> Result<usize, StoreError>;

    /// A link's clicks in a range, newest first, equal times by falling number.
    fn page(&self, query: &ClickQuery) -> Result<ClickPage, StoreError>;

    /// The statistics of a link on those days of a range that have any, in order.
    fn days(
        &self,
        link: LinkId,
        range: DateRange,
    ) -> Result<Vec<(NaiveDate, DayStats)>, StoreError>;

    /// The statistics of all links of an app, deleted ones included, on those days of a range that
    /// have any, in order.
    fn app_days(
        &self,
        app: AppId,
        range: DateRange,
    ) -> Result<Vec<(NaiveDate, DayStats)>, StoreError>;

    /// Erases clicks of deleted links, at most `limit`, and answers how many; the days of a link go
    /// with its last click.
    fn erase_orphans(&self, limit: u32) -> Result<usize, StoreError>;

    /// Forgets the salts of days that began 48 hours ago or earlier, for good, and answers how many.
    ///
    /// From then on nobody can tell whose hashes those of that day are.
    fn forget_salts(&self, now: DateTime<Utc>) -> Result<usize, StoreError>;

    /// Cuts the addresses of clicks from before a moment to their networks, at most `limit` of them,
    /// and answers how many; statistics stay as they are.
    fn truncate_addresses(&self, before: DateTime<Utc>, limit: u32) -> Result<usize, StoreError>;

    /// Erases clicks from before a moment, and answers whether some are left; statistics stay as
    /// they are.
    ///
    /// One call erases about `limit` clicks, or however many the store holds apart and can drop at
    /// once.
    fn erase_clicks_before(&self, before: DateTime<Utc>, limit: u32) -> Result<bool, StoreError>;

    /// Makes room for the clicks of this month and the next two, where the store keeps months
    /// apart; may be called at any time and by several at once.
    fn prepare_partitions(&self, now: DateTime<Utc>) -> Result<(), StoreError>;
}

/// A journal's number, random and never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JournalId(pub [u8; 16]);

/// Clicks that stand one after the other in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The journal.
    pub journal: JournalId,
    /// The position behind the batch before.
    pub after: u64,
    /// The position behind this batch.
    pub upto: u64,
    /// The clicks.
    pub clicks: Vec<(NewClick, Classification)>,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loaded {
    /// Clicks that are stored and counted now.
    pub stored: usize,
    /// Clicks that were stored before.
    pub known_already: usize,
    /// Clicks of deleted links.
    pub discarded: usize,
}

/// Why a batch was not stored.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The journal's position is another, so somebody else loads it as well.
    #[error("the journal is at position {position}, somebody else loads it")]
    Elsewhere {
        /// Where the journal is.
        position: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
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
