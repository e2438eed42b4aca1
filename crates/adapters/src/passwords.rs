//! Passwords, hashed slowly on purpose.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use signpost_domain::ports::{Passwords, StoredPassword};

/// Argon2id hashes.
#[derive(Clone)]
pub struct Argon2Passwords {
    argon2: Argon2<'static>,
    /// What an unknown account's password is compared with, so that the answer takes as long.
    nobody: StoredPassword,
}

impl Argon2Passwords {
    /// The cost that OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes.
    pub fn standard() -> Self {
        Self::with_cost(Params::new(19 * 1024, 2, 1, None).expect("the recommended cost is valid"))
    }

    /// Any other cost. Stored hashes name their own, so they stay valid when it changes.
    pub fn with_cost(cost: Params) -> Self {
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
        let nobody = hash(&argon2, "");
        Self { argon2, nobody }
    }
}

impl std::fmt::Debug for Argon2Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Argon2Passwords")
            .field("cost", self.argon2.params())
            .finish_non_exhaustive()
    }
}

impl Passwords for Argon2Passwords {
    fn hash(&self, password: &str) -> StoredPassword {
        hash(&self.argon2, password)
    }

    fn matches(&self, password: &str, stored: Option<StoredPassword>) -> bool {
        let is_known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.nobody.clone());
        let Ok(parsed) = PasswordHash::new(&stored.0) else {
            tracing::error!("a stored password is no Argon2 hash; its admin can't sign in");
            return false;
        };
        self.argon2.verify_password(password.as_bytes(), &parsed).is_ok() && is_known
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> StoredPassword {
    let hash = argon2
        .hash_password(password.as_bytes())
        .expect("a password of less than 4 GiB can be hashed");
    StoredPassword(hash.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap() -> Argon2Passwords {
        Argon2Passwords::with_cost(Params::new(8, 1, 1, None).unwrap())
    }

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let passwords = cheap();
        let stored = passwords.hash("correct horse");
        assert!(passwords.matches("correct horse", Some(stored.clone())));
        assert!(!passwords.matches("correct horsf", Some(stored)));
        assert!(!passwords.matches("x", Some(StoredPassword("no hash".to_owned()))));
    }

    #[test]
    fn each_hash_has_a_salt_of_its_own_and_names_its_cost() {
        let stored = Argon2Passwords::standard().hash("x");
        assert!(stored.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(cheap().hash("x"), cheap().hash("x"));
        assert!(cheap().matches("x", Some(stored)), "the cost is read from the hash");
    }

    #[test]
    fn nobody_has_no_password() {
        assert!(!cheap().matches("", None));
        assert!(!cheap().matches("x", None));
    }
}
