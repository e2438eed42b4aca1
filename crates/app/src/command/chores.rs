//! The work in the background: what is old is erased, and room is made for what comes.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use signpost_domain::ports::StoreError;
use tracing::{info, warn};

use crate::config::Retention;
use crate::server::Shared;
use crate::wiring::Services;

/// How often there is work to do.
const EVERY: Duration = Duration::from_mins(1);
/// How often old clicks are looked for, and room is made for new ones.
const OLD_CLICKS_EVERY: Duration = Duration::from_hours(1);
/// Clicks changed in one transaction: short enough that redirects don't notice.
const CHUNK: u32 = 5_000;

/// Does the work as long as the program runs.
pub(super) fn do_in_background(retention: Retention, shared: Shared, services: Services) {
    std::thread::spawn(move || {
        let mut done: Option<Instant> = None;
        loop {
            if services.databases.is_ready() {
                do_each_minute(&services);
                if done.is_none_or(|at| at.elapsed() >= OLD_CLICKS_EVERY) {
                    match do_each_hour(retention, &services) {
                        Ok(()) => done = Some(Instant::now()),
                        Err(error) => warn!(%error, "old clicks wait for the next minute"),
                    }
                }
            }
            std::thread::sleep(EVERY);
            shared.sweep_limits();
        }
    });
}

fn do_each_minute(services: &Services) {
    if let Err(error) = services.links.forget_answers() {
        warn!(%error, "answers to old requests wait to be erased");
    }
    if let Err(error) = services.clicks.forget_salts(services.clock.now()) {
        warn!(%error, "the salts of past days wait to be forgotten");
    }
    loop {
        match services.clicks.erase_orphans(CHUNK) {
            Ok(0) => break,
            Ok(erased) => info!(erased, "erased clicks of deleted links"),
            Err(error) => {
                warn!(%error, "clicks of deleted links wait to be erased");
                break;
            }
        }
    }
}

fn do_each_hour(retention: Retention, services: &Services) -> Result<(), StoreError> {
    let (clicks, now) = (&services.clicks, services.clock.now());
    let days_ago = |days: u32| now - TimeDelta::days(i64::from(days));
    clicks.prepare_partitions(now)?;
    while clicks.erase_clicks_before(days_ago(retention.click_days), CHUNK)? {}
    while clicks.truncate_addresses(days_ago(retention.address_days), CHUNK)? > 0 {}
    Ok(())
}
