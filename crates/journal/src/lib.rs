//! An append-only log on local disk, for records that must not be lost.
//!
//! [`Journal::append`] hands over a record and answers with a [`Ticket`], a future that is ready
//! when the record is on stable storage. One thread writes all that wait with one write and one
//! `fdatasync` and lets them go together, so that the price of the disk is shared. A [`Reader`]
//! hands the records out again, in order, and [`Journal::release`] forgets those that have arrived
//! elsewhere.
//!
//! The journal knows nothing of what it stores. Its format, its promises and what it does about
//! each failure are told in `docs/journal.md`.

mod disk;
mod error;
mod format;
mod identity;
mod inspect;
mod journal;
mod lane;
mod options;
mod queue;
mod reader;
mod recovery;
#[doc(hidden)]
pub mod sabotage;
mod segments;
mod shared;
mod spare;
mod status;
mod ticket;
mod writer;

pub use self::error::OpenError;
pub use self::format::{JournalId, MAX_RECORD};
pub use self::identity::adopt;
pub use self::inspect::{Dump, Report, dump, verify};
pub use self::journal::Journal;
pub use self::lane::{Dispatcher, Lane};
pub use self::options::{Durability, Options};
pub use self::reader::{Damage, Item, Reader, Record};
pub use self::status::Status;
pub use self::ticket::{Outcome, Refusal, Ticket};

#[cfg(test)]
mod tests;
