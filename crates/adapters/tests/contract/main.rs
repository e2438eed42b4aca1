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

mod api_keys;
mod database;

contract! {
    api_keys {
        a_stored_key_is_returned_with_its_number,
        a_publishable_key_that_never_expires_reads_back,
        an_unknown_hash_is_none,
        revoked_and_expired_keys_are_returned_too,
        keys_are_listed_newest_first_of_one_app_or_of_all,
        revoking_answers_false_without_a_key_of_this_number,
        the_moment_of_the_first_revocation_stays,
        a_use_is_noted,
        an_impossible_row_is_an_error,
    }
    database {
        nothing_is_answered_before_the_schema_was_checked,
        a_second_migration_finds_nothing_to_do,
    }
}
