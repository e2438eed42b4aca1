//! Access tokens: JSON Web Tokens by RFC 7519, in the shape of RFC 9068.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use signpost_domain::access::{AdminId, SessionId};
use signpost_domain::ports::{AccessClaims, AccessTokens, TokenError};
use uuid::Uuid;

const AUDIENCE: &str = "signpost-admin";
/// RFC 9068, section 2.1: keeps other tokens of the same secret from being taken for these.
const TYPE: &str = "at+jwt";
/// How far another node's clock may be ahead of ours.
const LEEWAY: TimeDelta = TimeDelta::seconds(5);

/// Tokens signed with HMAC-SHA-256.
pub struct JwtAccessTokens {
    signing: EncodingKey,
    verifying: Vec<DecodingKey>,
    validation: Validation,
    issuer: String,
}

/// Every claim is required, and of one JSON type only: a token that says anything else is not ours.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    sid: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

impl JwtAccessTokens {
    /// Tokens of an issuer: the first secret signs, and all of them verify, so that a secret can be
    /// replaced without signing everybody out.
    ///
    /// # Panics
    ///
    /// Without any secret.
    pub fn new(secrets: Vec<Vec<u8>>, issuer: String) -> Self {
        let mut secrets = secrets.into_iter();
        let newest = secrets.next().expect("there is a secret to sign with");
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[&issuer]);
        // The library would ask the machine's clock, not ours; `Claims` requires both.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.required_spec_claims = HashSet::new();
        Self {
            signing: EncodingKey::from_secret(&newest),
            verifying: std::iter::once(newest)
                .chain(secrets)
                .map(|secret| DecodingKey::from_secret(&secret))
                .collect(),
            validation,
            issuer,
        }
    }
}

impl std::fmt::Debug for JwtAccessTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JwtAccessTokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl AccessTokens for JwtAccessTokens {
    fn sign(&self, claims: AccessClaims) -> String {
        let header = Header { typ: Some(TYPE.to_owned()), ..Header::new(Algorithm::HS256) };
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: AUDIENCE.to_owned(),
            sub: claims.admin_id.0.to_string(),
            sid: claims.session_id.0.to_string(),
            iat: claims.issued_at.timestamp(),
            nbf: claims.issued_at.timestamp(),
            exp: claims.expires_at.timestamp(),
        };
        encode(&header, &claims, &self.signing).expect("strings and integers can be signed")
    }

    fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError> {
        let data = self
            .verifying
            .iter()
            .find_map(|key| decode::<Claims>(token, key, &self.validation).ok())
            .filter(|data| data.header.typ.as_deref() == Some(TYPE))
            .filter(|data| data.header.crit.is_none())
            .ok_or(TokenError::Invalid)?;
        let claims = data.claims;
        let moment = |seconds| DateTime::from_timestamp(seconds, 0).ok_or(TokenError::Invalid);
        let read = AccessClaims {
            admin_id: AdminId(canonical::<i64>(&claims.sub)?),
            session_id: SessionId(canonical::<Uuid>(&claims.sid)?),
            issued_at: moment(claims.iat)?,
            expires_at: moment(claims.exp)?,
        };
        if moment(claims.nbf)?.signed_duration_since(now) > LEEWAY {
            return Err(TokenError::Invalid);
        }
        if now >= read.expires_at {
            return Err(TokenError::Expired);
        }
        Ok(read)
    }
}

/// Reads a value in the one spelling that we write.
fn canonical<T: std::str::FromStr + ToString>(text: &str) -> Result<T, TokenError> {
    text.parse().ok().filter(|value: &T| value.to_string() == text).ok_or(TokenError::Invalid)
}

#[cfg(test)]
mod tests;
