//! The signature of click tokens: HMAC-SHA-256 (RFC 2104), cut to 64 bits.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use signpost_domain::click::ClickId;
use signpost_domain::link::LinkId;
use signpost_domain::ports::TokenMac;

/// Keeps the keys of tokens apart from what else is made of the same secrets: whoever learns a
/// key of tokens can't sign sessions with it. Another spelling would invalidate every token.
const LABEL: &[u8] = b"signpost click token v1";

/// MACs under keys that are derived from the service's secrets.
#[derive(Clone)]
pub struct HmacTokenMac {
    newest: Hmac<Sha256>,
    older: Vec<Hmac<Sha256>>,
}

impl HmacTokenMac {
    /// The first secret signs, and all of them verify, so that a secret can be replaced while
    /// tokens are on their way through a store.
    ///
    /// # Panics
    ///
    /// Without any secret.
    pub fn new(secrets: &[Vec<u8>]) -> Self {
        let mut keys = secrets.iter().map(|secret| keyed(&derived_key(secret)));
        Self { newest: keys.next().expect("there is a secret to sign with"), older: keys.collect() }
    }
}

impl std::fmt::Debug for HmacTokenMac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HmacTokenMac(…)")
    }
}

impl TokenMac for HmacTokenMac {
    fn mac(&self, click: ClickId, link: LinkId) -> u64 {
        let whole = over(&self.newest, click, link).finalize().into_bytes();
        // The left-most bits, as RFC 2104 section 5 cuts them.
        whole.iter().take(8).fold(0, |mac, byte| mac << 8 | u64::from(*byte))
    }

    fn verify(&self, click: ClickId, link: LinkId, mac: u64) -> bool {
        std::iter::once(&self.newest)
            .chain(&self.older)
            .any(|key| over(key, click, link).verify_truncated_left(&mac.to_be_bytes()).is_ok())
    }
}

/// One step of a key derivation (NIST SP 800-108, section 4.1): the label under the secret.
fn derived_key(secret: &[u8]) -> [u8; 32] {
    keyed(secret).chain_update(LABEL).finalize().into_bytes().into()
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// Both have a fixed length, so that no two pairs make the same bytes.
fn over(key: &Hmac<Sha256>, click: ClickId, link: LinkId) -> Hmac<Sha256> {
    key.clone().chain_update(click.0.as_bytes()).chain_update(link.0.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn click(number: u128) -> ClickId {
        ClickId(uuid::Uuid::from_u128(number))
    }

    fn macs(secrets: &[&str]) -> HmacTokenMac {
        let secrets: Vec<Vec<u8>> = secrets.iter().map(|s| s.as_bytes().to_vec()).collect();
        HmacTokenMac::new(&secrets)
    }

    #[test]
    fn a_mac_is_the_same_after_a_restart_and_on_every_node() {
        // Computed with Python's hmac module from the definition above.
        let secret = "0123456789abcdef0123456789abcdef";
        assert_eq!(macs(&[secret]).mac(click(7), LinkId(42)), 0x22ec_6fc3_9f14_afc2);
    }

    #[test]
    fn another_click_link_or_secret_makes_another_mac() {
        let ours = macs(&["a"]);
        let mac = ours.mac(click(1), LinkId(2));
        assert!(ours.verify(click(1), LinkId(2), mac));
        assert!(!ours.verify(click(2), LinkId(2), mac));
        assert!(!ours.verify(click(1), LinkId(1), mac));
        assert!(!ours.verify(click(1), LinkId(2), mac ^ 1));
        assert!(!macs(&["b"]).verify(click(1), LinkId(2), mac));
    }

    #[test]
    fn a_replaced_secret_verifies_but_no_longer_signs() {
        let (old, new, both) = (macs(&["old"]), macs(&["new"]), macs(&["new", "old"]));
        let mac = old.mac(click(1), LinkId(2));
        assert!(both.verify(click(1), LinkId(2), mac));
        assert!(!new.verify(click(1), LinkId(2), mac));
        assert_eq!(both.mac(click(1), LinkId(2)), new.mac(click(1), LinkId(2)));
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", macs(&["secret"])), "HmacTokenMac(…)");
    }
}
