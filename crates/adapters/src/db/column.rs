//! Reading and computing columns.

use chrono::{DateTime, Utc};

use super::DbError;

/// What separates the entries of a list that a column aggregates: no tag and no host can hold it.
pub(crate) const SEPARATOR: char = '\n';

/// The moment a column holds.
pub(crate) fn moment(table: &str, column: &str, micros: i64) -> Result<DateTime<Utc>, DbError> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| DbError::corrupt(table, column, micros))
}

/// Declares a computed column: an SQL expression that both backends read alike.
///
/// A list of values fetched this way belongs to the same snapshot as its row, where a second query
/// could meet another writer's state. Unlike `diesel::dsl::sql`, the statement stays in the cache
/// of prepared ones.
macro_rules! computed_column {
    ($(#[$doc:meta])* $name:ident of $table:ident: $sql_type:ty = $sql:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, diesel::query_builder::QueryId)]
        pub(crate) struct $name;

        impl diesel::expression::Expression for $name {
            type SqlType = $sql_type;
        }

        impl diesel::expression::ValidGrouping<()> for $name {
            type IsAggregate = diesel::expression::is_aggregate::No;
        }

        impl diesel::expression::AppearsOnTable<$table::table> for $name {}

        impl diesel::expression::SelectableExpression<$table::table> for $name {}

        impl<DB: diesel::backend::Backend> diesel::query_builder::QueryFragment<DB> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut pass: diesel::query_builder::AstPass<'_, 'b, DB>,
            ) -> diesel::QueryResult<()> {
                pass.push_sql($sql);
                Ok(())
            }
        }
    };
}

pub(crate) use computed_column;
