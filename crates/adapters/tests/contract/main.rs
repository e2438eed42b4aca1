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

mod admins;
mod api_keys;
mod clicks;
mod database;

contract! {
    admins {
        a_stored_admin_is_returned_with_their_number,
        a_taken_address_is_refused_and_nothing_is_stored,
        an_admin_of_an_unknown_app_is_not_stored_at_all,
        an_unknown_or_disabled_admin_is_not_found_and_has_no_sessions,
        a_new_password_ends_all_sessions_of_the_admin,
        a_new_password_without_such_an_admin_is_false,
        an_open_session_is_found_with_its_admin,
        an_ended_or_expired_session_is_none,
        a_refresh_token_is_replaced_by_its_successor,
        a_reused_token_ends_its_session,
        of_two_rotations_at_the_same_time_one_is_a_reuse,
        a_token_that_is_unknown_or_of_a_closed_session_is_unknown,
        open_sessions_are_listed_newest_first,
        ending_a_session_is_false_without_such_an_open_session,
    }
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
    clicks {
        a_stored_click_reads_back,
        a_batch_is_stored_whole_and_counted,
        a_batch_that_fails_leaves_nothing_behind,
        a_click_that_is_stored_already_is_passed_over,
        a_click_of_a_deleted_link_is_passed_over,
        a_user_agent_is_kept_once_with_its_last_day,
        a_page_is_newest_first_and_equal_times_by_falling_number,
        a_page_keeps_to_its_range_and_leaves_bots_out,
        a_cursor_goes_on_after_the_last_click_seen,
        a_total_never_exceeds_its_bound_by_more_than_one,
        a_tally_counts_by_everything_a_statistic_looks_at,
        visitors_are_distinct_pairs_of_address_and_agent_per_day,
        visitors_are_none_when_no_click_of_the_range_has_an_address,
        clicks_of_deleted_links_are_erased_up_to_the_limit,
        no_click_stays_behind_when_its_link_is_erased_meanwhile,
        many_deleted_links_are_erased_in_one_call,
        an_impossible_row_is_an_error,
    }
    database {
        nothing_is_answered_before_the_schema_was_checked,
        a_second_migration_finds_nothing_to_do,
    }
}
