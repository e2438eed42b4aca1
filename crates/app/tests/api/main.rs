//! The service, asked over HTTP: every case runs with the service on `SQLite` and on Postgres.
//!
//! A case is a function over a started service with one app, its keys and an owner. Plain
//! `cargo test` shows the Postgres half as ignored; `make test` runs both.
#![expect(clippy::unwrap_used, reason = "a failed setup ends the test")]

mod client;
mod service;

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
