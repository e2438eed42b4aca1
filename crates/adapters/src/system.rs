//! The machine's clock and its randomness.

use chrono::{DateTime, SubsecRound, Utc};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rand::{Rng, RngExt};
use signpost_domain::click::ClickId;
use signpost_domain::link::ShortCode;
use signpost_domain::ports::{Clock, CodeSource, IdSource};

/// The operating system's own generator. A system without one can't make secrets, so its failure
/// ends the program's work instead of weakening it.
pub(crate) fn os_random() -> UnwrapErr<SysRng> {
    UnwrapErr(SysRng)
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        #[expect(clippy::disallowed_methods, reason = "this is the Clock that all others ask")]
        let now = Utc::now();
        now.trunc_subsecs(6)
    }
}

/// Short codes from the operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomCodes;

impl CodeSource for RandomCodes {
    fn candidate(&self) -> ShortCode {
        let mut random = os_random();
        ShortCode::generate(|below| random.random_range(0..below))
    }
}

/// `UUIDv7` numbers for clicks.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidV7Ids;

impl IdSource for UuidV7Ids {
    fn click_id(&self, at: DateTime<Utc>) -> ClickId {
        let mut random = [0; 10];
        // One for every visit, and no secret: the thread's generator saves a system call.
        rand::rng().fill_bytes(&mut random);
        // RFC 9562 has no numbers before 1970.
        let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
        ClickId(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_clock_gives_whole_microseconds() {
        assert_eq!(SystemClock.now().timestamp_subsec_nanos() % 1000, 0);
    }

    #[test]
    fn codes_differ_and_can_be_read_back() {
        let codes: HashSet<_> = (0..100).map(|_| RandomCodes.candidate()).collect();
        assert_eq!(codes.len(), 100);
        assert!(codes.iter().all(|code| ShortCode::parse_own(code.as_str()).is_ok()));
    }

    #[test]
    fn a_click_number_is_a_uuid_v7_of_the_moment_given() {
        let at = DateTime::from_timestamp_micros(1_767_603_600_123_456).unwrap();
        let id = UuidV7Ids.click_id(at).0;
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
        let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds, nanos), (1_767_603_600, 123_000_000));
        assert_ne!(UuidV7Ids.click_id(at).0, id);
    }
}
