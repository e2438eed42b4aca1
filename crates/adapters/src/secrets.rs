//! API keys, refresh tokens and session numbers, made and hashed.

use rand::{Rng, RngExt};
use sha2::{Digest, Sha256};
use signpost_domain::access::{KeyKind, PlainKey, SecretHash, SessionId};
use signpost_domain::ports::{RefreshToken, Secrets};

use crate::system::os_random;

/// Secrets from the operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsSecrets;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// 62^43 is just above 2^256, so a token is as hard to guess as its hash is to invert.
const REFRESH_TOKEN_LENGTH: usize = 43;

impl Secrets for OsSecrets {
    fn api_key(&self, kind: KeyKind) -> PlainKey {
        let mut random = os_random();
        PlainKey::generate(kind, |below| random.random_range(0..below))
    }

    fn refresh_token(&self) -> RefreshToken {
        let mut random = os_random();
        let pick = |_| char::from(BASE62[random.random_range(0..BASE62.len())]);
        RefreshToken((0..REFRESH_TOKEN_LENGTH).map(pick).collect())
    }

    fn session_id(&self) -> SessionId {
        let mut bytes = [0; 16];
        os_random().fill_bytes(&mut bytes);
        SessionId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    fn hash(&self, secret: &str) -> SecretHash {
        SecretHash(Sha256::digest(secret.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_is_never_made_twice() {
        for kind in [KeyKind::Secret, KeyKind::Publishable] {
            let key = OsSecrets.api_key(kind);
            assert_eq!(PlainKey::parse(key.expose()).unwrap().kind(), kind);
            assert_ne!(OsSecrets.api_key(kind), key);
        }
    }

    #[test]
    fn refresh_tokens_and_session_numbers_are_long_and_differ() {
        let token = OsSecrets.refresh_token();
        assert_eq!(token.0.len(), 43);
        assert!(token.0.bytes().all(|b| b.is_ascii_alphanumeric()));
        assert_ne!(OsSecrets.refresh_token(), token);
        let session = OsSecrets.session_id();
        assert_eq!(session.0.get_version_num(), 4);
        assert_ne!(OsSecrets.session_id(), session);
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_text() {
        // FIPS 180-2, appendix B.1.
        let expected = 0xba78_16bf_8f01_cfea_4141_40de_5dae_2223_u128;
        assert_eq!(OsSecrets.hash("abc").0[..16], expected.to_be_bytes());
    }
}
