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
    addresses {
        without_proxies_nobody_is_believed,
        behind_a_proxy_the_right_most_stranger_is_the_visitor,
        a_truncated_address_names_a_network,
        an_address_that_is_not_kept_makes_no_visitors,
        visitors_are_told_apart_by_address_and_agent,
    }
    apps {
        an_app_is_created_with_all_its_settings,
        an_app_needs_a_name_and_no_more,
        a_patch_merges_objects_and_replaces_lists,
        a_bad_setting_is_named_by_its_path,
        a_slug_belongs_to_one_app,
        a_member_sees_the_apps_named_for_them,
    }
    auth {
        every_endpoint_wants_its_own_credential,
        two_credentials_are_refused,
        a_credential_is_read_as_it_is_commonly_written,
        a_missing_scope_is_named,
        checks_come_in_their_order,
    }
    bad_fields {
        a_bad_text_is_refused_by_name,
        a_bad_url_is_refused_by_name,
        a_bad_tag_is_refused_by_its_place,
        a_bad_expiry_is_refused_by_name,
        a_bad_code_of_ones_own_is_refused_by_name,
        a_bad_payload_is_refused_by_name,
        a_field_that_is_not_known_is_refused_by_name,
        what_lies_on_the_limit_is_accepted,
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
        a_body_that_was_not_read_is_never_taken_for_a_request,
        a_body_that_does_not_arrive_is_given_up,
    }
    bulk {
        one_bad_link_does_not_spoil_the_others,
        one_to_a_hundred_links_are_a_request,
        a_request_may_be_as_large_as_its_links,
    }
    clicks {
        a_click_says_all_that_is_known,
        pages_and_cursors_lead_through_all_clicks_once,
        bots_are_listed_when_asked_for,
        dates_narrow_the_list,
        a_list_that_can_not_be_is_refused,
        an_odd_user_agent_is_stored_in_a_decent_form,
    }
    health {
        a_method_that_is_not_there_is_refused_with_those_that_are,
        every_documented_operation_is_on_the_list_of_this_suite,
        head_is_get_without_the_body,
        a_service_with_its_database_is_alive_and_ready,
        a_service_without_its_database_says_so_soon,
        a_failure_says_nothing_of_the_inside,
        the_documentation_comes_from_this_host_alone,
        the_document_describes_the_api_for_programs,
        paths_that_nobody_serves_are_problems,
        listed_origins_may_call_the_admin_api_and_nothing_else,
    }
    hosts {
        a_host_answers_for_its_apps_only,
        a_host_of_an_app_serves_nothing_but_links,
        a_url_names_the_first_host_and_on_a_shared_one_the_slug,
        a_forwarded_host_counts_from_a_trusted_proxy_only,
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
    landing {
        the_next_best_place_is_taken,
        without_any_place_there_is_a_page_with_stores,
        markup_in_a_link_is_shown_and_never_run,
        a_scheme_of_the_app_is_a_button_and_never_a_redirect,
        a_refusal_is_a_page_for_people_and_a_problem_for_programs,
    }
    limits {
        a_key_has_its_own_allowance_for_reading_and_for_writing,
        a_bulk_request_counts_its_links,
        a_bulk_request_beyond_the_whole_allowance_never_passes,
        limits_can_be_turned_off,
        signing_in_is_limited_per_account_and_network,
    }
    links {
        a_created_link_is_read_back_as_it_was_answered,
        an_update_changes_the_fields_it_names,
        a_deleted_link_is_gone_and_its_code_stays_taken,
    }
    lists {
        pages_follow_each_other_newest_first,
        a_page_names_its_neighbours,
        an_empty_list_is_a_list,
        filters_narrow_each_other,
        a_status_divides_the_links,
        a_search_looks_into_four_fields_and_takes_wildcards_plainly,
    }
    nodes {
        a_change_on_one_node_is_seen_on_the_other,
        who_is_out_is_out_on_every_node_at_once,
        a_retry_on_the_other_node_is_a_retry,
        two_nodes_share_codes_and_clicks,
        clicks_survive_a_restart_and_none_is_counted_twice,
    }
    payload {
        a_payload_comes_back_as_it_was_written,
        an_update_and_a_bulk_request_keep_payloads_too,
        another_spelling_of_the_same_values_is_a_change,
    }
    qr {
        a_picture_holds_the_url_of_the_link,
        a_picture_that_can_not_be_is_refused,
    }
    races {
        of_a_hundred_creates_of_one_code_one_wins,
        a_hundred_retries_of_one_request_make_one_link,
        twenty_updates_of_different_fields_all_survive,
        of_twenty_updates_of_one_version_one_wins,
        a_hundred_visits_at_once_are_a_hundred_clicks,
        of_ten_uses_of_one_refresh_token_one_at_most_succeeds,
    }
    sessions {
        the_right_password_opens_a_session,
        a_wrong_password_and_an_unknown_address_get_the_same_answer,
        a_sign_in_that_can_not_be_read_is_refused,
        a_refresh_replaces_both_tokens,
        a_refresh_token_used_twice_ends_the_session,
        signing_out_takes_effect_at_once,
        sessions_are_listed_and_ended_one_by_one,
        a_cookie_is_out_of_reach_of_scripts_and_foreign_pages,
        on_https_the_cookie_is_for_https_only,
        a_token_that_was_touched_is_refused,
    }
    previews {
        a_crawler_gets_the_preview_and_is_no_click,
        an_expired_link_has_no_preview,
        no_text_of_a_link_becomes_markup,
    }
    inspection {
        a_plus_shows_the_targets_and_counts_nothing,
        an_expired_link_shows_where_it_leads_now,
        an_unknown_code_has_no_inspection,
    }
    forwarding {
        a_visitors_query_comes_along,
        the_play_store_is_told_of_the_click,
        a_page_stands_in_where_no_redirect_is_safe,
        the_front_is_the_services_own_or_the_apps,
        other_methods_learn_what_is_allowed,
        a_proxy_that_nobody_listed_is_reported,
    }
    stats {
        three_visits_are_three_clicks_one_for_each_platform,
        the_range_that_was_used_is_echoed,
        a_range_that_is_none_is_refused,
        hours_are_for_a_week_at_most,
        bots_are_redirected_and_counted_apart,
        every_ranking_adds_up_to_the_total,
        a_referrer_is_kept_without_what_it_searched_for,
        a_link_is_named_by_number_or_code_and_seen_by_its_admins,
    }
    updates {
        each_field_is_set_and_cleared_by_itself,
        an_empty_text_clears,
        a_change_that_changes_nothing_leaves_no_trace,
        an_update_may_let_a_link_expire_and_come_back,
        if_match_guards_against_lost_updates,
        a_tag_changes_when_the_link_expires,
        existence_comes_before_the_body_and_the_body_before_the_precondition,
        an_update_refuses_the_same_and_what_may_not_change,
    }
    visits {
        each_platform_is_sent_to_its_own_target,
        an_expired_link_is_gone_and_no_click,
        the_case_of_a_code_matters,
        a_look_ahead_is_no_click,
        the_very_next_visit_sees_a_change,
        a_link_ends_at_its_moment_without_anybody_writing,
        a_location_is_ascii_and_one_line,
        an_odd_path_is_not_found_and_never_a_failure,
        a_request_id_is_kept_when_it_is_decent,
    }
}
