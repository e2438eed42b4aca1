//! Who a visitor is for the length of a day, and no longer.

use std::fmt;
use std::net::IpAddr;

use crate::app::AppId;

/// The secret of one UTC day, from a cryptographically secure source and the same on every node.
///
/// Once it is deleted nobody can tell whose hashes those of its day are: without it, all four
/// billion IPv4 addresses would be tried in seconds. It can't be printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DaySalt(pub [u8; 16]);

impl fmt::Debug for DaySalt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DaySalt(…)")
    }
}

/// The hash under which a visitor counts: of the app, so that apps can't be joined, the address
/// and the user agent. It is the same on every node and in every version of this program.
///
/// An IPv4 address written as IPv6 is the same visitor. A missing user agent is one of its own.
pub fn visitor_hash(salt: &DaySalt, app: AppId, address: IpAddr, user_agent: Option<&str>) -> u64 {
    let agent = user_agent.unwrap_or_default().as_bytes();
    let mut message = Vec::with_capacity(8 + 1 + 16 + 1 + agent.len());
    message.extend_from_slice(&app.0.to_le_bytes());
    // All parts before the last tell their own length, so no two visitors make the same message.
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            message.push(4);
            message.extend_from_slice(&v4.octets());
        }
        IpAddr::V6(v6) => {
            message.push(6);
            message.extend_from_slice(&v6.octets());
        }
    }
    message.push(u8::from(user_agent.is_some()));
    message.extend_from_slice(agent);
    siphash_2_4(salt.0, &message)
}

/// SipHash-2-4 (Aumasson, Bernstein: "`SipHash`: a fast short-input PRF", Indocrypt 2012).
///
/// The standard library's hasher may change between versions, and hashes are compared with those
/// that other nodes made.
fn siphash_2_4(key: [u8; 16], message: &[u8]) -> u64 {
    let (low, high) = key.split_at(8);
    let (k0, k1) = (word(low), word(high));
    let mut state = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = message.as_chunks();
    for bytes in words {
        absorb(&mut state, u64::from_le_bytes(*bytes));
    }
    // The last word holds the bytes that are left and, on top, the length modulo 256.
    let [length, ..] = message.len().to_le_bytes();
    absorb(&mut state, word(rest) | u64::from(length) << 56);
    state[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut state);
    }
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

/// Up to eight bytes as a number, the lowest first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn absorb(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    round(state);
    round(state);
    state[0] ^= word;
}

fn round([v0, v1, v2, v3]: &mut [u64; 4]) {
    *v0 = v0.wrapping_add(*v1);
    *v1 = v1.rotate_left(13) ^ *v0;
    *v0 = v0.rotate_left(32);
    *v2 = v2.wrapping_add(*v3);
    *v3 = v3.rotate_left(16) ^ *v2;
    *v0 = v0.wrapping_add(*v3);
    *v3 = v3.rotate_left(21) ^ *v0;
    *v2 = v2.wrapping_add(*v1);
    *v1 = v1.rotate_left(17) ^ *v2;
    *v2 = v2.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    fn hash(app: i64, address: &str, agent: Option<&str>) -> u64 {
        visitor_hash(&DaySalt(KEY), AppId(app), address.parse().unwrap(), agent)
    }

    #[test]
    fn siphash_agrees_with_its_authors() {
        let message: Vec<u8> = (0..15).collect();
        // The paper's appendix A, and the first of the vectors that come with the authors' code.
        assert_eq!(siphash_2_4(KEY, &message), 0xa129_ca61_49be_45e5);
        for (length, expected) in [
            (0, 0x726f_db47_dd0e_0e31),
            (1, 0x74f8_39c5_93dc_67fd),
            (2, 0x0d6c_8009_d9a9_4f5a),
            (3, 0x8567_6696_d7fb_7e2d),
            (7, 0xab02_00f5_8b01_d137),
            (8, 0x93f5_f579_9a93_2462),
        ] {
            assert_eq!(siphash_2_4(KEY, &message[..length]), expected, "{length}");
        }
    }

    #[test]
    fn every_part_tells_visitors_apart() {
        let one = hash(1, "203.0.113.7", Some("UA"));
        for other in [
            hash(2, "203.0.113.7", Some("UA")),
            hash(1, "203.0.113.8", Some("UA")),
            hash(1, "203.0.113.7", Some("UB")),
            hash(1, "203.0.113.7", Some("")),
            hash(1, "203.0.113.7", None),
            visitor_hash(&DaySalt([0; 16]), AppId(1), [203, 0, 113, 7].into(), Some("UA")),
        ] {
            assert_ne!(one, other);
        }
        assert_ne!(hash(1, "203.0.113.7", Some("")), hash(1, "203.0.113.7", None));
        assert_eq!(one, hash(1, "::ffff:203.0.113.7", Some("UA")));
    }

    #[test]
    fn the_hash_never_changes_between_versions() {
        assert_eq!(hash(1, "203.0.113.7", Some("UA")), 0xb490_c8f3_f812_3f03);
        assert_eq!(hash(1, "2001:db8::7", None), 0x53de_1b06_48cb_8647);
    }

    #[test]
    fn a_salt_is_not_printed() {
        assert_eq!(format!("{:?}", DaySalt(KEY)), "DaySalt(…)");
    }

    proptest! {
        #[test]
        #[expect(deprecated, reason = "the one SipHash-2-4 of the standard library")]
        fn siphash_agrees_with_the_standard_library(k0: u64, k1: u64, message: Vec<u8>) {
            use std::hash::{Hasher, SipHasher};
            let mut theirs = SipHasher::new_with_keys(k0, k1);
            theirs.write(&message);
            let mut key = [0; 16];
            key[..8].copy_from_slice(&k0.to_le_bytes());
            key[8..].copy_from_slice(&k1.to_le_bytes());
            prop_assert_eq!(siphash_2_4(key, &message), theirs.finish());
        }
    }
}
