use serde_json::{Value, json};

use super::*;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const ISSUER: &str = "https://go.example.com";

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_603_600, 500_000_000).unwrap()
}

fn tokens(secrets: &[&[u8]]) -> JwtAccessTokens {
    JwtAccessTokens::new(secrets.iter().map(|s| s.to_vec()).collect(), ISSUER.to_owned())
}

fn claims() -> AccessClaims {
    AccessClaims {
        admin_id: AdminId(7),
        session_id: SessionId(Uuid::from_u128(0x5eed)),
        issued_at: DateTime::from_timestamp(now().timestamp(), 0).unwrap(),
        expires_at: DateTime::from_timestamp(now().timestamp() + 900, 0).unwrap(),
    }
}

fn body() -> Value {
    let at = now().timestamp();
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "7", "sid": Uuid::from_u128(0x5eed).to_string(),
        "iat": at, "nbf": at, "exp": at + 900,
    })
}

fn header() -> Header {
    Header { typ: Some(TYPE.to_owned()), ..Header::new(Algorithm::HS256) }
}

fn forge(header: &Header, body: &Value, secret: &[u8]) -> String {
    encode(header, body, &EncodingKey::from_secret(secret)).unwrap()
}

fn verify(token: &str) -> Result<AccessClaims, TokenError> {
    tokens(&[SECRET]).verify(token, now())
}

fn verify_changed(change: impl FnOnce(&mut Value)) -> Result<AccessClaims, TokenError> {
    let mut body = body();
    change(&mut body);
    verify(&forge(&header(), &body, SECRET))
}

#[test]
fn a_signed_token_reads_back() {
    assert_eq!(verify(&tokens(&[SECRET]).sign(claims())), Ok(claims()));
    assert_eq!(verify_changed(|_| {}), Ok(claims()), "the forgeries below start from a good token");
}

#[test]
fn a_token_of_an_old_secret_verifies_and_of_a_foreign_one_not() {
    let both = tokens(&[b"a new secret, in use from now on", SECRET]);
    assert_eq!(both.verify(&tokens(&[SECRET]).sign(claims()), now()), Ok(claims()));
    assert_eq!(verify(&both.sign(claims())), Err(TokenError::Invalid), "the first secret signs");
    assert_eq!(verify(&forge(&header(), &body(), b"")), Err(TokenError::Invalid));
}

#[test]
fn a_token_expires_to_the_second_by_the_time_given() {
    let token = tokens(&[SECRET]).sign(claims());
    let end = claims().expires_at;
    let just_before = end - TimeDelta::microseconds(1);
    assert_eq!(tokens(&[SECRET]).verify(&token, just_before), Ok(claims()));
    assert_eq!(tokens(&[SECRET]).verify(&token, end), Err(TokenError::Expired));
    let later = end + TimeDelta::days(10_000);
    assert_eq!(tokens(&[SECRET]).verify(&token, later), Err(TokenError::Expired));
}

#[test]
fn an_expired_token_of_a_foreign_secret_is_merely_invalid() {
    let token = tokens(&[b"foreign"]).sign(claims());
    assert_eq!(
        tokens(&[SECRET]).verify(&token, now() + TimeDelta::days(1)),
        Err(TokenError::Invalid)
    );
}

#[test]
fn other_algorithms_are_refused() {
    let token = tokens(&[SECRET]).sign(claims());
    let (_, rest) = token.split_once('.').unwrap();
    let (payload, signature) = rest.split_once('.').unwrap();
    // {"alg":"none","typ":"at+jwt"}, and in the spellings None and NONE.
    for none in [
        "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0",
        "eyJhbGciOiJOb25lIiwidHlwIjoiYXQrand0In0",
        "eyJhbGciOiJOT05FIiwidHlwIjoiYXQrand0In0",
    ] {
        for signature in ["", signature] {
            let token = format!("{none}.{payload}.{signature}");
            assert_eq!(verify(&token), Err(TokenError::Invalid), "{token}");
        }
    }
    for algorithm in [Algorithm::HS384, Algorithm::HS512] {
        let header = Header { alg: algorithm, ..header() };
        assert_eq!(verify(&forge(&header, &body(), SECRET)), Err(TokenError::Invalid));
    }
}

#[test]
fn a_token_of_another_type_is_refused() {
    for typ in [None, Some("JWT"), Some("AT+JWT"), Some("refresh+jwt")] {
        let header = Header { typ: typ.map(str::to_owned), ..header() };
        assert_eq!(verify(&forge(&header, &body(), SECRET)), Err(TokenError::Invalid), "{typ:?}");
    }
    let critical = Header { crit: Some(vec!["x".to_owned()]), ..header() };
    assert_eq!(verify(&forge(&critical, &body(), SECRET)), Err(TokenError::Invalid));
}

#[test]
fn every_claim_is_required() {
    for claim in ["iss", "aud", "sub", "sid", "iat", "nbf", "exp"] {
        let missing = verify_changed(|body| {
            body.as_object_mut().unwrap().remove(claim);
        });
        assert_eq!(missing, Err(TokenError::Invalid), "{claim}");
        assert_eq!(verify_changed(|body| body[claim] = Value::Null), Err(TokenError::Invalid));
    }
}

#[test]
fn a_claim_that_says_anything_else_is_refused() {
    let at = now().timestamp();
    for (claim, value) in [
        ("iss", json!("https://evil.example")),
        ("iss", json!([ISSUER])),
        ("aud", json!("signpost-sdk")),
        ("aud", json!([AUDIENCE])),
        ("aud", json!([AUDIENCE, "other"])),
        ("sub", json!(7)),
        ("sub", json!("")),
        ("sub", json!("07")),
        ("sub", json!("+7")),
        ("sub", json!("7 ")),
        ("sub", json!("99999999999999999999")),
        ("sid", json!("")),
        ("sid", json!("{00000000-0000-0000-0000-000000005eed}")),
        ("sid", json!("00000000000000000000000000005eed")),
        ("nbf", json!(at + 6)),
        ("nbf", json!(i64::MAX)),
        ("exp", json!((at + 900).to_string())),
        ("exp", json!(1_767_604_500.5)),
        ("exp", json!(1e30)),
        ("exp", json!(u64::MAX)),
        ("exp", json!(i64::MAX)),
        ("exp", json!(true)),
    ] {
        let shown = value.to_string();
        let answer = verify_changed(|body| body[claim] = value);
        assert_eq!(answer, Err(TokenError::Invalid), "{claim} {shown}");
    }
    assert_eq!(verify_changed(|body| body["exp"] = json!(0)), Err(TokenError::Expired));
    assert_eq!(verify_changed(|body| body["exp"] = json!(-1)), Err(TokenError::Expired));
}

#[test]
fn another_nodes_clock_may_be_five_seconds_ahead() {
    let at = now().timestamp();
    assert!(verify_changed(|body| body["nbf"] = json!(at + 5)).is_ok());
    assert!(verify_changed(|body| body["nbf"] = json!(at + 6)).is_err());
}

#[test]
fn damaged_tokens_are_refused() {
    let token = tokens(&[SECRET]).sign(claims());
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("a token has three parts") };
    let mut tampered = payload.to_owned();
    // The first character holds the opening brace; the eleventh is inside the issuer.
    let other = if &tampered[20..21] == "A" { "B" } else { "A" };
    tampered.replace_range(20..21, other);
    for damaged in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        format!("{header}.{payload}."),
        format!("{header}.{payload}"),
        format!("{header}..{signature}"),
        format!(".{payload}.{signature}"),
        format!("{token}."),
        format!(".{token}"),
        format!("{header}.{payload}.{signature}.{signature}"),
        format!("{header}.{tampered}.{signature}"),
        format!("{header}.{payload}.{}", &signature[..signature.len() - 1]),
        format!("{token}="),
        format!(" {token}"),
        format!("{token}\n"),
        format!("{header}.{payload}.{}", signature.to_lowercase()),
    ] {
        assert_eq!(verify(&damaged), Err(TokenError::Invalid), "{damaged:?}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?}", tokens(&[SECRET]));
    assert!(!shown.contains("0123") && !shown.contains("[48"), "{shown}");
}
