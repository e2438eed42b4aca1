//! From database errors to the errors of the ports.

use diesel::result::{DatabaseErrorKind, Error};
use signpost_domain::ports::StoreError;

/// An error on the way out of this crate: diesel's own, or a port's.
#[derive(Debug)]
pub(crate) enum DbError {
    /// The database's.
    Diesel(Error),
    /// Already in the words of a port.
    Store(StoreError),
}

impl DbError {
    /// A row that can't be: damage, or a newer version's.
    pub(crate) fn corrupt(table: &str, column: &str, cause: impl std::fmt::Display) -> Self {
        Self::Store(StoreError::failed(format!(
            "{table}.{column} holds an impossible value: {cause}"
        )))
    }
}

impl From<Error> for DbError {
    fn from(error: Error) -> Self {
        Self::Diesel(error)
    }
}

impl From<StoreError> for DbError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Store(error) => error,
            DbError::Diesel(error) if is_unavailable(&error) => Self::unavailable(error),
            DbError::Diesel(error) => Self::failed(error),
        }
    }
}

/// True when a unique rule refused a row.
pub(crate) fn is_unique_violation(error: &DbError) -> bool {
    matches!(error, DbError::Diesel(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)))
}

/// True when somebody else kept a lock for too long.
pub(crate) fn is_lock_timeout(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(_, info) if info.message().contains("lock timeout"))
}

/// Messages of a server that goes away, comes back or is too busy. diesel gives no SQLSTATE, so
/// the text has to do. A server that speaks another language makes such a failure a 500 instead of
/// a 503: `lc_messages` is for superusers to set.
const PASSING: &[&str] = &[
    "terminating connection",
    "server closed the connection",
    "connection not open",
    "no connection to the server",
    "could not receive data from server",
    "could not send data to server",
    "SSL connection has been closed",
    "the database system is",
    "canceling statement due to",
    "deadlock detected",
    "remaining connection slots",
    "too many clients",
    "database is locked",
    "database table is locked",
    "disk I/O error",
    "database or disk is full",
    "unable to open database file",
];

fn is_unavailable(error: &Error) -> bool {
    match error {
        Error::DatabaseError(kind, info) => {
            matches!(
                kind,
                DatabaseErrorKind::ClosedConnection
                    | DatabaseErrorKind::UnableToSendCommand
                    | DatabaseErrorKind::SerializationFailure
            ) || PASSING.iter().any(|text| info.message().contains(text))
        }
        Error::BrokenTransactionManager => true,
        Error::RollbackErrorOnCommit { rollback_error, commit_error } => {
            is_unavailable(rollback_error) || is_unavailable(commit_error)
        }
        _ => false,
    }
}
