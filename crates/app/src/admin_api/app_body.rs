//! The bodies that create and change apps.

use serde_json::value::RawValue;
use signpost_domain::app::{
    AndroidPackage, AppName, AppPatch, AppSettings, CertificateFingerprint, Host, IosAppId,
    Matching, Slug, Threshold,
};
use signpost_domain::link::{CustomScheme, RedirectUrl};
use signpost_domain::{Change, Invalid, InvalidCode};

use crate::fields::Fields;
use crate::problem::FieldError;

/// Reads the body of a patch.
///
/// `schemes` are the app's own: its fallback URLs may use them. A patch that registers a scheme and
/// uses it at once is understood.
pub(crate) fn read_patch(
    mut fields: Fields<'_>,
    schemes: &[CustomScheme],
) -> Result<AppPatch, Vec<FieldError>> {
    let patch = read(&mut fields, schemes);
    fields.finish()?;
    Ok(patch)
}

/// Reads the body of a create.
pub(crate) fn read_new(mut fields: Fields<'_>) -> Result<(AppName, AppPatch), Vec<FieldError>> {
    if fields.raw_is_absent("name") {
        fields.refuse("name", &Invalid::new(InvalidCode::Required, "is required"));
    }
    let patch = read(&mut fields, &[]);
    fields.finish()?;
    let name = patch.name.clone().expect("its absence was refused above");
    Ok((name, patch))
}

fn read(fields: &mut Fields<'_>, schemes: &[CustomScheme]) -> AppPatch {
    // The read-only fields of an answer are passed over, so that a fetched app can be sent back.
    for name in ["id", "createdAt", "updatedAt"] {
        fields.raw(name);
    }
    let mut patch = AppPatch {
        name: fields.required_text("name", AppName::parse),
        slug: fields.required_text("slug", Slug::parse),
        hosts: list(fields, "hosts", Host::parse),
        custom_schemes: list(fields, "customSchemes", CustomScheme::parse),
        ..AppPatch::default()
    };
    if let Change::Set(hosts) = patch.hosts {
        patch.hosts = Change::Set(AppSettings::unique_hosts(hosts));
    }
    let schemes = match &patch.custom_schemes {
        Change::Set(new) => new.clone(),
        Change::Keep | Change::Clear => schemes.to_vec(),
    };
    let url = |text: &str| RedirectUrl::parse(text, &schemes);
    patch.web_fallback_url = fields.text("webFallbackUrl", url);
    part(fields, "ios", &mut patch, |ios, patch| {
        patch.ios_app_ids = list(ios, "appIds", IosAppId::parse);
        patch.ios_store_url = ios.text("storeUrl", url);
        patch.ios_fallback_url = ios.text("fallbackUrl", url);
    });
    part(fields, "android", &mut patch, |android, patch| {
        patch.android_package = android.text("packageName", AndroidPackage::parse);
        patch.android_fingerprints =
            list(android, "certificateFingerprints", CertificateFingerprint::parse);
        patch.android_store_url = android.text("storeUrl", url);
        patch.android_fallback_url = android.text("fallbackUrl", url);
    });
    part(fields, "matching", &mut patch, read_matching);
    part(fields, "interstitial", &mut patch, |interstitial, patch| {
        patch.interstitial = interstitial.change("enabled", flag);
    });
    patch
}

fn read_matching(matching: &mut Fields<'_>, patch: &mut AppPatch) {
    patch.install_referrer_hours =
        matching.change("installReferrerHours", |raw| number(raw, Matching::MAX_REFERRER_HOURS));
    patch.clipboard_hours =
        matching.change("clipboardHours", |raw| number(raw, Matching::MAX_CLIPBOARD_HOURS));
    patch.probabilistic_android = matching.change("probabilisticAndroid", flag);
    patch.probabilistic_ios = matching.change("probabilisticIos", flag);
    patch.probabilistic_minutes = matching
        .change("probabilisticMinutes", |raw| number(raw, Matching::MAX_PROBABILISTIC_MINUTES));
    patch.threshold = matching.change("threshold", |raw| {
        let value = serde_json::from_str::<f64>(raw.get())
            .map_err(|_| Invalid::new(InvalidCode::WrongType, "must be a number"))?;
        Threshold::new(value).map(Some)
    });
}

/// Reads an object inside the body; `null` is refused, because it would not say what to clear.
fn part<'a>(
    fields: &mut Fields<'a>,
    name: &str,
    patch: &mut AppPatch,
    read: impl FnOnce(&mut Fields<'a>, &mut AppPatch),
) {
    match fields.object(name) {
        Change::Keep => {}
        Change::Clear => {
            fields.refuse(name, &Invalid::new(InvalidCode::WrongType, "must be a JSON object"));
        }
        Change::Set(mut inner) => {
            read(&mut inner, patch);
            fields.absorb(inner);
        }
    }
}

fn list<T>(
    fields: &mut Fields<'_>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Change<Vec<T>> {
    let change = fields.texts(name, parse);
    if let Change::Set(values) = &change
        && let Err(invalid) = AppSettings::check_list(values)
    {
        fields.refuse(name, &invalid);
    }
    change
}

fn number(raw: &RawValue, max: u16) -> Result<Option<u16>, Invalid> {
    let range = || Invalid::new(InvalidCode::OutOfRange, format!("must be from 1 to {max}"));
    let value: serde_json::Number = serde_json::from_str(raw.get())
        .map_err(|_| Invalid::new(InvalidCode::WrongType, "must be a whole number"))?;
    let value = value.as_u64().and_then(|n| u16::try_from(n).ok()).ok_or_else(range)?;
    if (1..=max).contains(&value) { Ok(Some(value)) } else { Err(range()) }
}

fn flag(raw: &RawValue) -> Result<Option<bool>, Invalid> {
    serde_json::from_str(raw.get())
        .map(Some)
        .map_err(|_| Invalid::new(InvalidCode::WrongType, "must be true or false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(body: &str) -> Vec<(String, String)> {
        let fields = Fields::of_body(body.as_bytes()).unwrap();
        let errors = read_patch(fields, &[]).err().unwrap_or_default();
        errors.into_iter().map(|e| (e.field, e.code)).collect()
    }

    #[test]
    fn mistakes_inside_objects_are_named_by_their_path() {
        let found = errors(
            r#"{"ios":{"appIds":["x"],"nope":1},"android":null,"matching":{"threshold":2,"clipboardHours":0},
                "hosts":["a b"],"name":null}"#,
        );
        let expected = [
            ("/android", "wrong_type"),
            ("/hosts/0", "invalid_format"),
            ("/ios/appIds/0", "invalid_format"),
            ("/ios/nope", "unknown_field"),
            ("/matching/clipboardHours", "out_of_range"),
            ("/matching/threshold", "out_of_range"),
            ("/name", "wrong_type"),
        ];
        let expected: Vec<_> = expected.map(|(f, c)| (f.to_owned(), c.to_owned())).into();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_scheme_may_be_registered_and_used_at_once() {
        assert!(errors(r#"{"customSchemes":["shop"],"webFallbackUrl":"shop://home"}"#).is_empty());
        assert_eq!(errors(r#"{"webFallbackUrl":"shop://home"}"#).len(), 1);
    }

    #[test]
    fn an_answer_can_be_sent_back() {
        let app = r#"{"id":1,"slug":"shop","name":"Shop","hosts":[],"createdAt":"x","updatedAt":"x",
            "ios":{"appIds":[],"storeUrl":null,"fallbackUrl":null},"matching":{"threshold":0.85}}"#;
        assert!(errors(app).is_empty());
    }
}
