//! Time and chance.

use chrono::{DateTime, Utc};

use crate::click::ClickId;
use crate::link::ShortCode;

/// The time.
pub trait Clock: Send + Sync {
    /// Now, in whole microseconds, the finest that both databases keep.
    fn now(&self) -> DateTime<Utc>;
}

/// A source of new short codes.
pub trait CodeSource: Send + Sync {
    /// A code from a cryptographically secure source; whether it is free is not known here.
    fn candidate(&self) -> ShortCode;
}

/// A source of new click numbers.
pub trait IdSource: Send + Sync {
    /// A `UUIDv7` (RFC 9562) of this moment.
    fn click_id(&self, at: DateTime<Utc>) -> ClickId;
}
