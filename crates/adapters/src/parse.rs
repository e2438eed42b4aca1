//! What rows have in common: times as microseconds, and values that must parse.

use chrono::{DateTime, Utc};

use crate::db::DbError;

/// A column that can't be read as what it stands for.
pub(crate) fn moment(micros: i64, table: &str, column: &str) -> Result<DateTime<Utc>, DbError> {
    DateTime::from_timestamp_micros(micros)
        .ok_or_else(|| DbError::corrupt(table, column, "a time out of range"))
}

/// The same of a column that may be empty.
pub(crate) fn optional_moment(
    micros: Option<i64>,
    table: &str,
    column: &str,
) -> Result<Option<DateTime<Utc>>, DbError> {
    micros.map(|micros| moment(micros, table, column)).transpose()
}
