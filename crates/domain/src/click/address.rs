//! The network address of a visitor, and how much of it is kept.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How much of an address is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AddressMode {
    /// The whole address.
    #[default]
    Full,
    /// The network: /24 of IPv4, /48 of IPv6.
    Truncated,
    /// Nothing.
    None,
}

impl AddressMode {
    /// What is kept of `address`.
    pub fn keep(self, address: IpAddr) -> Option<IpAddr> {
        match self {
            Self::Full => Some(address),
            Self::Truncated => Some(truncate(address)),
            Self::None => None,
        }
    }
}

/// The /24 or /48 network of an address, written as its first address.
pub fn truncate(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        IpAddr::V6(v6) => {
            let [a, b, c, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
        }
    }
}

/// The network one subscriber has: the IPv4 address, or the /64 of an IPv6 address, in which
/// phones change their address every day (RFC 8981).
pub fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

/// True for an address that only machines nearby have: this machine's own, or one of a private
/// network (RFC 1918, RFC 3927, RFC 6598, RFC 4193). A peer with such an address is a proxy more
/// often than a visitor.
pub fn is_internal(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let shared = a == 100 && b & 0b1100_0000 == 64;
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || shared
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// The address of the client behind a connection from `peer`.
///
/// Without trusted proxies it is the peer's. Behind them it is the right-most entry of
/// `X-Forwarded-For` that is no trusted proxy itself: every entry further left is the client's own
/// claim. An entry that is no address ends the search at the last proxy that could be believed.
/// IPv4 addresses written as IPv6 (`::ffff:…`) come out as IPv4.
pub fn client_address<'a>(
    peer: IpAddr,
    forwarded_for: impl DoubleEndedIterator<Item = &'a str>,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let mut client = peer.to_canonical();
    if !is_trusted(client) {
        return client;
    }
    for entry in forwarded_for.rev().flat_map(|header| header.rsplit(',')) {
        let Some(address) = parse_entry(entry.trim()) else { return client };
        client = address;
        if !is_trusted(client) {
            return client;
        }
    }
    client
}

/// An entry may carry a port, brackets and a zone.
fn parse_entry(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None if text.matches(':').count() == 1 => text.split_once(':')?.0,
        None => text,
    };
    let bare = bare.split_once('%').map_or(bare, |(address, _)| address);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(peer: &str, headers: &[&str], trusted: &[&str]) -> IpAddr {
        let trusted: Vec<IpAddr> = trusted.iter().map(|t| ip(t)).collect();
        client_address(ip(peer), headers.iter().copied(), |a| trusted.contains(&a))
    }

    #[test]
    fn a_header_from_an_untrusted_peer_is_a_lie() {
        assert_eq!(client("203.0.113.9", &["198.51.100.1"], &[]), ip("203.0.113.9"));
    }

    #[test]
    fn the_right_most_untrusted_entry_counts() {
        let trusted = ["10.0.0.1", "10.0.0.2"];
        assert_eq!(
            client("10.0.0.1", &["6.6.6.6, 198.51.100.1, 10.0.0.2"], &trusted),
            ip("198.51.100.1")
        );
        assert_eq!(
            client("10.0.0.1", &["6.6.6.6", "198.51.100.1, 10.0.0.2"], &trusted),
            ip("198.51.100.1")
        );
        assert_eq!(client("10.0.0.1", &[], &trusted), ip("10.0.0.1"));
        assert_eq!(
            client("10.0.0.1", &["198.51.100.1, unknown, 10.0.0.2"], &trusted),
            ip("10.0.0.2")
        );
    }

    #[test]
    fn ports_brackets_zones_and_mapped_addresses_are_understood() {
        for (entry, expected) in [
            ("198.51.100.1:443", "198.51.100.1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("fe80::1%eth0", "fe80::1"),
            ("::ffff:198.51.100.1", "198.51.100.1"),
        ] {
            assert_eq!(client("10.0.0.1", &[entry], &["10.0.0.1"]), ip(expected), "{entry}");
        }
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1"], &["10.0.0.1"]), ip("198.51.100.1"));
    }

    #[test]
    fn an_internal_address_is_told_from_a_public_one() {
        for text in [
            "127.0.0.1",
            "::1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_internal(ip(text)), "{text}");
        }
        for text in ["198.51.100.1", "100.63.0.1", "100.128.0.1", "172.32.0.1", "2001:db8::1"] {
            assert!(!is_internal(ip(text)), "{text}");
        }
    }

    #[test]
    fn a_mode_decides_what_is_kept() {
        assert_eq!(AddressMode::Full.keep(ip("198.51.100.77")), Some(ip("198.51.100.77")));
        assert_eq!(AddressMode::Truncated.keep(ip("198.51.100.77")), Some(ip("198.51.100.0")));
        assert_eq!(AddressMode::Truncated.keep(ip("2001:db8:1:2::3")), Some(ip("2001:db8:1::")));
        assert_eq!(AddressMode::None.keep(ip("198.51.100.77")), None);
        assert_eq!(network_of(ip("2001:db8:1:2:3::4")), ip("2001:db8:1:2::"));
    }
}
