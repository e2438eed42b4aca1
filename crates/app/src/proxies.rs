//! Proxies: whose word on the client's address and host is taken.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::header::{self, HeaderMap, HeaderName};
use ipnet::IpNet;
use signpost_domain::app::Host;
use signpost_domain::click::{client_address, is_internal};
use tracing::warn;

const X_FORWARDED_FOR: HeaderName = header::X_FORWARDED_FOR;
const X_FORWARDED_HOST: HeaderName = header::X_FORWARDED_HOST;

/// What the operator of a forgotten proxy is told.
const UNHEEDED: &str = "a proxy nearby sends X-Forwarded-For, but no proxy is trusted: all visitors \
    seem to have its address; list its network in SIGNPOST_TRUSTED_PROXIES";

/// The networks whose word on the client's address is taken.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
    /// Whether a proxy was seen that is not listed; shared by all that hold this list.
    unheeded: Arc<AtomicBool>,
}

impl TrustedProxies {
    /// Trusts these networks.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self { networks, unheeded: Arc::default() }
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// The client's address.
    pub(crate) fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> IpAddr {
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        if self.networks.is_empty() {
            self.notice(peer, headers);
            return peer.to_canonical();
        }
        let forwarded: Vec<&str> =
            headers.get_all(X_FORWARDED_FOR).filter_map(|v| v.to_str().ok()).collect();
        client_address(peer, forwarded.into_iter(), |a| self.contains(a))
    }

    /// The host the client asked for: `X-Forwarded-Host` from a trusted proxy, else `Host`.
    pub(crate) fn host(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<Host> {
        let trusted =
            !self.networks.is_empty() && peer.is_some_and(|p| self.contains(p.to_canonical()));
        let forwarded = headers.get(X_FORWARDED_HOST).filter(|_| trusted);
        let value = forwarded.or_else(|| headers.get(header::HOST))?;
        // A chain of proxies may list several; the last was written by the one we trust.
        let text = value.to_str().ok()?.rsplit(',').next()?.trim();
        Host::from_header(text)
    }

    /// Warns once of a proxy that nobody listed. From an address out in the world the header is
    /// somebody's lie and means nothing.
    fn notice(&self, peer: IpAddr, headers: &HeaderMap) {
        let known = self.unheeded.load(Ordering::Relaxed);
        if known || !headers.contains_key(X_FORWARDED_FOR) || !is_internal(peer) {
            return;
        }
        if !self.unheeded.swap(true, Ordering::Relaxed) {
            warn!(%peer, UNHEEDED);
        }
    }

    /// What the operator should know.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        self.unheeded.load(Ordering::Relaxed).then_some(UNHEEDED)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn a_forwarded_host_counts_from_a_trusted_proxy_only() {
        let mut headers = headers(X_FORWARDED_HOST, "go.example");
        headers.insert(header::HOST, HeaderValue::from_static("inner.example:8080"));
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let host = |peer: &str| proxies.host(peer.parse().ok(), &headers).unwrap();
        assert_eq!(host("10.1.2.3").as_str(), "go.example");
        assert_eq!(host("192.0.2.1").as_str(), "inner.example");
    }

    #[test]
    fn a_proxy_nearby_that_is_not_listed_is_noticed_and_still_not_believed() {
        let forwarded = headers(X_FORWARDED_FOR, "198.51.100.1");
        let warned = |proxies: TrustedProxies, peer: &str, headers: &HeaderMap| {
            let client = proxies.client(peer.parse().ok(), headers);
            assert_eq!(client.to_string(), peer);
            proxies.clone().warning().is_some()
        };
        assert!(warned(TrustedProxies::default(), "127.0.0.1", &forwarded));
        assert!(warned(TrustedProxies::default(), "10.0.0.1", &forwarded));
        assert!(!warned(TrustedProxies::default(), "203.0.113.9", &forwarded));
        assert!(!warned(TrustedProxies::default(), "127.0.0.1", &HeaderMap::new()));
        let listed = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        assert!(!warned(listed, "127.0.0.1", &forwarded));
    }
}
