//! Where the database is.

use std::fmt;
use std::path::{Path, PathBuf};

/// A database URL; it prints without its password.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// The embedded database without a file, for tests.
    SqliteInMemory,
    /// A Postgres server.
    Postgres(String),
}

/// The text is no database URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must start with sqlite://, postgres:// or postgresql://")]
pub struct InvalidDatabaseUrl;

impl DatabaseUrl {
    /// Reads a URL such as `sqlite://data/signpost.db` or `postgres://user:password@host/name`.
    ///
    /// Anything else is refused: a mistyped scheme must not become the name of a file.
    pub fn parse(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if let Some(path) = text.strip_prefix("sqlite://") {
            return match path {
                "" => Err(InvalidDatabaseUrl),
                ":memory:" => Ok(Self::SqliteInMemory),
                path => Ok(Self::Sqlite(PathBuf::from(path))),
            };
        }
        let is_postgres = ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        if is_postgres { Ok(Self::Postgres(text.to_owned())) } else { Err(InvalidDatabaseUrl) }
    }

    /// The file of the embedded database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(path),
            Self::SqliteInMemory | Self::Postgres(_) => None,
        }
    }

    /// The backend's name.
    pub fn backend(&self) -> &'static str {
        match self {
            Self::Sqlite(_) | Self::SqliteInMemory => "SQLite",
            Self::Postgres(_) => "Postgres",
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::SqliteInMemory => f.write_str("sqlite://:memory:"),
            Self::Postgres(url) => {
                // Parameters may hold a password too, so only the part before them is shown.
                let shown = url.split('?').next().unwrap_or_default();
                let (scheme, rest) = shown.split_once("://").unwrap_or(("postgres", ""));
                match rest.rsplit_once('@') {
                    Some((user, host)) => {
                        let user = user.split(':').next().unwrap_or_default();
                        write!(f, "{scheme}://{user}@{host}")
                    }
                    None => write!(f, "{scheme}://{rest}"),
                }
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_schemes_name_a_database() {
        assert_eq!(
            DatabaseUrl::parse("sqlite://data/signpost.db"),
            Ok(DatabaseUrl::Sqlite("data/signpost.db".into()))
        );
        assert!(matches!(DatabaseUrl::parse("postgresql://h/d"), Ok(DatabaseUrl::Postgres(_))));
        for text in ["", "signpost.db", "postgres:typo", "mysql://h", "sqlite://", "postgres://"] {
            assert_eq!(DatabaseUrl::parse(text), Err(InvalidDatabaseUrl), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "postgres://me:s3cret@db.example/x",
            "postgres://me:s3@cret@db.example/x",
            "postgres://me@db.example/x?password=s3cret",
        ] {
            let shown = format!("{:?}", DatabaseUrl::parse(text).unwrap());
            assert_eq!(shown, "postgres://me@db.example/x");
        }
    }
}
