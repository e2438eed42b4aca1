//! Rate limits: per key for the APIs, per account and network for signing in.

use std::hash::Hash;
use std::num::NonZeroU32;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::{HttpMessage, HttpRequest};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use signpost_domain::access::ApiKeyId;

use crate::config::RateLimits;
use crate::problem::ApiError;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Reading links.
    Read,
    /// Writing links.
    Write,
}

/// All limits of this process; each node has its own.
pub(crate) struct Limits {
    read: Option<Keyed<ApiKeyId>>,
    write: Option<Keyed<ApiKeyId>>,
    account: Option<Keyed<(String, String)>>,
    network: Option<Keyed<String>>,
}

struct Keyed<K: Hash + Eq + Clone> {
    name: &'static str,
    quota: u32,
    limiter: RateLimiter<K, DashMapStateStore<K>, DefaultClock, StateInformationMiddleware>,
}

/// How much of a limit is left, for the headers of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateState {
    name: &'static str,
    quota: u32,
    left: u32,
    /// Seconds until more is allowed, for a request that was refused.
    wait: Option<u64>,
}

impl RateState {
    /// `RateLimit-Policy` and `RateLimit`, as draft-ietf-httpapi-ratelimit-headers-10 has them.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        let policy = format!("\"{}\";q={};w=60", self.name, self.quota);
        let wait = self.wait.map_or_else(String::new, |seconds| format!(";t={seconds}"));
        let state = format!("\"{}\";r={}{wait}", self.name, self.left);
        for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

impl<K: Hash + Eq + Clone> Keyed<K> {
    fn new(name: &'static str, per_minute: Option<u32>) -> Option<Self> {
        let quota = NonZeroU32::new(per_minute?)?;
        let limiter = RateLimiter::dashmap(Quota::per_minute(quota)).with_middleware();
        Some(Self { name, quota: quota.get(), limiter })
    }

    /// Takes `n` from the key's allowance.
    fn take(&self, key: &K, n: NonZeroU32) -> Result<RateState, RateState> {
        let state = |left, wait| RateState { name: self.name, quota: self.quota, left, wait };
        match self.limiter.check_key_n(key, n) {
            Ok(Ok(snapshot)) => Ok(state(snapshot.remaining_burst_capacity(), None)),
            Ok(Err(not_until)) => {
                let wait = not_until.wait_time_from(DefaultClock::default().now());
                Err(state(0, Some(wait.as_secs() + 1)))
            }
            // More at once than a whole minute allows: no waiting helps, but a smaller request.
            Err(_) => Err(state(self.quota, Some(60))),
        }
    }
}

impl Limits {
    /// The limits that the settings ask for.
    pub(crate) fn new(settings: &RateLimits) -> Self {
        Self {
            read: Keyed::new("read", settings.read),
            write: Keyed::new("write", settings.write),
            account: Keyed::new("login", settings.login),
            network: Keyed::new("login", settings.login.map(|n| n.saturating_mul(10))),
        }
    }

    /// Counts `n` uses of a key, and notes the state for the answer's headers.
    pub(crate) fn charge(
        &self,
        request: &HttpRequest,
        class: Class,
        key: ApiKeyId,
        n: u32,
    ) -> Result<(), ApiError> {
        let limiter = match class {
            Class::Read => &self.read,
            Class::Write => &self.write,
        };
        // Nothing more to count leaves the state that was noted before.
        let (Some(limiter), Some(n)) = (limiter, NonZeroU32::new(n)) else { return Ok(()) };
        note(request, limiter.take(&key, n))
    }

    /// Counts a try to sign in.
    ///
    /// Per account and network together, so that a stranger can't lock an account for its owner;
    /// and per network, so that one can't try many accounts.
    pub(crate) fn charge_sign_in(
        &self,
        request: &HttpRequest,
        account: &str,
        network: &str,
    ) -> Result<(), ApiError> {
        if let Some(limiter) = &self.network {
            note(request, limiter.take(&network.to_owned(), NonZeroU32::MIN))?;
        }
        if let Some(limiter) = &self.account {
            let key = (account.trim().to_lowercase(), network.to_owned());
            note(request, limiter.take(&key, NonZeroU32::MIN))?;
        }
        Ok(())
    }

    /// Forgets keys that have their whole allowance again, so that memory stays bounded.
    pub(crate) fn sweep(&self) {
        for limiter in [&self.read, &self.write].into_iter().flatten() {
            limiter.limiter.retain_recent();
        }
        if let Some(limiter) = &self.account {
            limiter.limiter.retain_recent();
        }
        if let Some(limiter) = &self.network {
            limiter.limiter.retain_recent();
        }
    }
}

fn note(request: &HttpRequest, taken: Result<RateState, RateState>) -> Result<(), ApiError> {
    let (Ok(state) | Err(state)) = taken;
    request.extensions_mut().insert(state);
    if taken.is_ok() {
        return Ok(());
    }
    let wait = state.wait.unwrap_or(1);
    let detail = format!("more than {} requests a minute; wait {wait} s", state.quota);
    Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail)
        .with_header(RETRY_AFTER, HeaderValue::from(wait)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).unwrap()
    }

    #[test]
    fn a_key_has_its_own_allowance_and_learns_when_more_comes() {
        let limiter = Keyed::new("read", Some(2)).unwrap();
        assert_eq!(limiter.take(&1, n(1)).unwrap().left, 1);
        assert_eq!(limiter.take(&1, n(1)).unwrap().left, 0);
        let refused = limiter.take(&1, n(1)).unwrap_err();
        assert!((1..=60).contains(&refused.wait.unwrap()));
        assert!(limiter.take(&2, n(1)).is_ok());
    }

    #[test]
    fn more_at_once_than_a_minute_allows_is_refused() {
        let limiter = Keyed::new("write", Some(10)).unwrap();
        assert!(limiter.take(&1, n(11)).is_err());
        assert!(limiter.take(&1, n(10)).is_ok());
    }

    #[test]
    fn counting_nothing_more_keeps_the_state_that_is_told() {
        let limits = Limits::new(&RateLimits { read: Some(5), ..RateLimits::OFF });
        let request = actix_web::test::TestRequest::default().to_http_request();
        for more in [1, 0] {
            limits.charge(&request, Class::Read, ApiKeyId(1), more).unwrap();
            assert_eq!(request.extensions().get::<RateState>().unwrap().left, 4);
        }
    }

    #[test]
    fn off_means_no_limit() {
        assert!(Keyed::<u8>::new("read", None).is_none());
    }
}
