//! The service, asked over HTTP: every case runs with the service on `SQLite` and on Postgres.
//!
//! A case is a function over a started service with one app, its keys and an owner. Plain
//! `cargo test` shows the Postgres half as ignored; `make test` runs both.
#![expect(clippy::unwrap_used, reason = "a failed setup ends the test")]

mod client;
mod service;
mod table;

macro_rules! api {
    ($($module:ident { $($case:ident,)* })*) => {
        $(mod $module;)*
        mod sqlite {
            $(mod $module {
                $(#[test]
                fn $case() {
                    crate::$module::$case(&crate::service::Service::sqlite());
                })*
            })*
        }
        mod postgres {
            $(mod $module {
                $(#[test]
                #[ignore = "needs TEST_DATABASE_URL; make test sets it"]
                fn $case() {
                    crate::$module::$case(&crate::service::Service::postgres());
                })*
            })*
        }
    };
}

api! {
    bad_fields {
        a_bad_text_is_refused_by_name,
        a_bad_url_is_refused_by_name,
        a_bad_tag_is_refused_by_its_place,
        a_bad_expiry_is_refused_by_name,
        a_bad_code_of_ones_own_is_refused_by_name,
        a_bad_payload_is_refused_by_name,
        a_field_that_is_not_known_is_refused_by_name,
        what_lies_on_the_limit_is_accepted,
        an_update_refuses_the_same_and_what_may_not_change,
    }
    bad_input {
        a_body_that_is_no_json_object_is_refused,
        a_body_of_another_kind_is_refused,
        a_body_that_is_too_long_is_refused_before_it_is_read,
        a_page_that_is_no_page_is_refused,
        a_filter_that_is_no_filter_is_refused,
        u_0000_is_refused_wherever_it_stands,
        the_link_of_another_app_is_not_there,
        requests_that_proxies_read_differently_are_refused,
    }
    idempotency {
        a_replay_is_the_stored_answer_whatever_became_of_the_link,
        a_replay_works_after_the_expiry_has_passed,
        another_body_under_the_same_name_is_a_mismatch,
        names_of_another_key_or_app_are_other_names,
        a_failure_is_not_kept,
        a_bulk_request_is_one_request,
        a_name_has_1_to_255_visible_characters,
    }
    payload {
        a_payload_comes_back_as_it_was_written,
        an_update_and_a_bulk_request_keep_payloads_too,
        another_spelling_of_the_same_values_is_a_change,
    }
    races {
        of_a_hundred_creates_of_one_code_one_wins,
        a_hundred_retries_of_one_request_make_one_link,
        twenty_updates_of_different_fields_all_survive,
        of_twenty_updates_of_one_version_one_wins,
        a_hundred_visits_at_once_are_a_hundred_clicks,
    }
    auth {
        every_endpoint_wants_its_own_credential,
        two_credentials_are_refused,
        a_credential_is_read_as_it_is_commonly_written,
        a_missing_scope_is_named,
        checks_come_in_their_order,
    }
    bulk {
        one_bad_link_does_not_spoil_the_others,
        one_to_a_hundred_links_are_a_request,
        a_request_may_be_as_large_as_its_links,
    }
    limits {
        a_key_has_its_own_allowance_for_reading_and_for_writing,
        a_bulk_request_counts_its_links,
        a_bulk_request_beyond_the_whole_allowance_never_passes,
        limits_can_be_turned_off,
        signing_in_is_limited_per_account_and_network,
    }
    lists {
        pages_follow_each_other_newest_first,
        a_page_names_its_neighbours,
        an_empty_list_is_a_list,
        filters_narrow_each_other,
        a_status_divides_the_links,
        a_search_looks_into_four_fields_and_takes_wildcards_plainly,
    }
    qr {
        a_picture_holds_the_url_of_the_link,
        a_picture_that_can_not_be_is_refused,
    }
    updates {
        each_field_is_set_and_cleared_by_itself,
        an_empty_text_clears,
        a_change_that_changes_nothing_leaves_no_trace,
        an_update_may_let_a_link_expire_and_come_back,
        if_match_guards_against_lost_updates,
        a_tag_changes_when_the_link_expires,
        existence_comes_before_the_body_and_the_body_before_the_precondition,
    }
    links {
        a_created_link_is_read_back_as_it_was_answered,
        an_update_changes_the_fields_it_names,
        a_deleted_link_is_gone_and_its_code_stays_taken,
    }
    visits {
        each_platform_is_sent_to_its_own_target,
        an_expired_link_is_gone_and_no_click,
    }
    stats {
        three_visits_are_three_clicks_one_for_each_platform,
    }
}
