//! The contract of the ports: every case runs on `SQLite` and on Postgres.
//!
//! A case is a plain function over a fresh database. The list below makes two tests of it, whose
//! names read `sqlite::links::a_taken_code_is_refused` and `postgres::links::…`. Plain `cargo test`
//! shows the Postgres ones as ignored; `make test` starts a server and runs them all.
#![expect(clippy::unwrap_used, reason = "a failed setup ends the test")]

mod world;

macro_rules! contract {
    ($($module:ident { $($case:ident,)* })*) => {
        mod sqlite {
            $(mod $module {
                $(#[test]
                fn $case() {
                    crate::$module::$case(&crate::world::World::sqlite());
                })*
            })*
        }
        mod postgres {
            $(mod $module {
                $(#[test]
                #[ignore = "needs TEST_DATABASE_URL; make test sets it"]
                fn $case() {
                    crate::$module::$case(&crate::world::World::postgres());
                })*
            })*
        }
    };
}

mod database;

contract! {
    database {
        nothing_is_answered_before_the_schema_was_checked,
        a_second_migration_finds_nothing_to_do,
    }
}
