//! The contract of the ports: every case runs on `SQLite` and on Postgres.
//!
//! A case is a plain function over a fresh database. The list below makes two tests of it, whose
//! names read `sqlite::links::a_taken_code_is_refused` and `postgres::links::…`. Plain `cargo test`
//! shows the Postgres ones as ignored; `make test` starts a server and runs them all.
#![expect(clippy::unwrap_used, reason = "a failed setup ends the test")]

mod fixtures;
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
mod apps;
mod click_days;
mod click_loads;
mod click_upkeep;
mod clicks;
mod database;
mod installation;
mod link_edits;
mod link_pages;
mod link_requests;
mod links;
mod loading;
mod memories;

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
        clicks_of_deleted_links_are_erased_up_to_the_limit,
        no_click_stays_behind_when_its_link_is_erased_meanwhile,
        many_deleted_links_are_erased_in_one_call,
        an_impossible_row_is_an_error,
    }
    click_days {
        a_late_click_counts_on_its_own_day,
        days_are_those_of_their_link_or_app_in_order,
        the_parts_of_the_statistics_add_up,
        visitors_are_distinct_pairs_of_address_and_agent_per_day,
        all_who_load_count_visitors_under_the_same_salt,
        a_day_whose_salt_is_forgotten_takes_no_further_visitors,
    }
    click_loads {
        a_new_journal_is_at_0_and_a_known_one_where_it_was,
        a_batch_that_comes_twice_counts_once,
        a_batch_of_another_position_is_refused_and_nothing_of_it_stored,
        of_two_who_load_one_journal_one_is_told,
        a_load_that_fails_moves_no_position,
        what_becomes_of_each_click_of_a_batch_is_told,
        only_what_is_new_of_a_large_batch_counts,
        several_who_load_the_same_links_at_once_add_up,
        after_a_thousand_random_batches_the_days_count_what_is_stored,
    }
    click_upkeep {
        old_addresses_are_cut_to_their_networks_up_to_the_limit,
        old_clicks_are_erased_and_their_statistics_stay,
        room_is_made_for_three_months_and_twice_does_no_harm,
        several_make_room_at_once,
        a_month_that_has_clicks_without_room_stays_as_it_is,
        months_that_are_old_as_a_whole_are_dropped,
    }
    database {
        nothing_is_answered_before_the_schema_was_checked,
        a_second_migration_finds_nothing_to_do,
    }
    links {
        an_inserted_link_is_found_by_app_and_code_by_number_and_by_code,
        what_was_never_stored_is_not_found,
        case_matters_in_a_code,
        another_app_does_not_see_the_link,
        a_taken_code_is_refused,
        a_link_takes_the_first_of_its_codes_that_is_free,
        one_taken_code_does_not_spoil_the_others,
        links_of_one_call_are_numbered_in_their_order,
        all_links_of_a_call_are_stored_or_none,
        a_deleted_link_is_gone_and_its_content_erased,
        a_code_and_a_number_are_never_given_out_twice,
        a_payload_comes_back_as_it_was_written,
        a_title_has_room_for_255_characters_of_any_kind,
        times_keep_microseconds,
        a_route_holds_what_a_visit_needs,
        of_many_who_want_one_code_one_gets_it,
        lists_with_the_same_codes_in_another_order_do_not_block_each_other,
        an_impossible_row_is_an_error,
    }
    link_pages {
        newest_come_first_and_equal_times_by_falling_number,
        a_page_past_the_end_is_empty_with_the_right_total,
        a_page_holds_whole_links,
        a_filter_on_tags_asks_for_all_of_them,
        filters_on_channel_and_campaign_are_exact_and_combine,
        a_link_is_listed_as_expired_from_the_moment_of_expiry_on,
        a_search_looks_into_code_title_channel_and_campaign,
        a_search_has_no_regard_to_case_beyond_ascii_either,
        wildcards_in_a_search_are_plain_characters,
        a_list_shows_the_links_of_its_app_only,
    }
    link_edits {
        an_edit_keeps_clears_and_sets,
        an_edited_link_is_found_by_its_new_words,
        an_edit_that_changes_nothing_writes_nothing,
        an_edit_of_another_version_changes_nothing,
        of_two_edits_at_once_neither_is_lost,
        of_two_edits_of_one_version_one_is_refused,
    }
    link_requests {
        a_request_sent_again_stores_nothing_and_gets_its_answer_again,
        a_list_sent_again_gets_its_answer_again,
        a_key_used_with_another_body_is_a_mismatch,
        the_same_name_under_another_key_is_another_request,
        nothing_is_kept_when_nothing_was_stored,
        a_kept_answer_is_forgotten_after_24_hours,
        of_many_twins_one_stores_and_the_others_replay,
        a_twin_waits_at_most_two_seconds,
        answers_are_erased_when_they_are_24_hours_old,
    }
    apps {
        an_inserted_app_is_found_by_number_and_slug,
        what_was_never_stored_is_not_found,
        a_taken_slug_is_refused_and_nothing_stored,
        all_apps_are_listed_by_number,
        an_app_whose_first_host_is_anothers_too_shares_it,
        a_patch_keeps_clears_and_sets,
        a_patch_to_a_taken_slug_changes_nothing,
        of_two_patches_at_once_neither_is_lost,
        an_impossible_row_is_an_error,
    }
    installation {
        an_empty_database_gets_an_app_its_keys_and_an_owner,
        a_database_with_an_app_is_left_alone,
        a_database_with_an_admin_is_left_alone,
        all_is_stored_or_nothing,
        of_several_that_start_at_once_one_fills_the_database,
    }
    loading {
        every_click_of_the_journal_is_stored_and_counted_once,
        what_was_left_behind_is_loaded_by_the_next_process,
        a_click_that_the_database_refuses_is_set_aside_and_the_rest_goes_on,
        a_journal_that_went_back_in_time_loses_nothing_new,
        loaded_segments_are_deleted,
    }
    memories {
        an_inserted_link_is_found_by_app_and_code_by_number_and_by_code,
        another_app_does_not_see_the_link,
        one_taken_code_does_not_spoil_the_others,
        a_deleted_link_is_gone_and_its_content_erased,
        newest_come_first_and_equal_times_by_falling_number,
        an_edit_keeps_clears_and_sets,
        an_edit_that_changes_nothing_writes_nothing,
        an_edit_of_another_version_changes_nothing,
        of_two_edits_at_once_neither_is_lost,
        a_request_sent_again_stores_nothing_and_gets_its_answer_again,
        a_key_used_with_another_body_is_a_mismatch,
        of_many_twins_one_stores_and_the_others_replay,
        an_inserted_app_is_found_by_number_and_slug,
        a_taken_slug_is_refused_and_nothing_stored,
        all_apps_are_listed_by_number,
        a_patch_keeps_clears_and_sets,
        a_patch_to_a_taken_slug_changes_nothing,
        a_change_through_the_memory_is_seen_by_the_next_visit,
        a_change_elsewhere_is_seen_when_the_memory_is_too_old,
        a_change_of_an_app_is_seen_at_once,
        a_change_through_another_process_is_forgotten_when_the_feed_tells,
        a_host_taken_through_another_process_is_known_when_the_feed_tells,
    }
}
