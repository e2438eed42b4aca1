//! The bodies that create and change links.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::value::RawValue;
use signpost_domain::link::{
    Campaign, Channel, CustomScheme, ImageUrl, Link, LinkContent, LinkEdit, OgDescription, OgTitle,
    Payload, RedirectUrl, Redirects, ShortCode, Tag, Tags,
};
use signpost_domain::service::NewLink;
use signpost_domain::time::parse_moment;
use signpost_domain::{Change, Invalid, InvalidCode};
use utoipa::ToSchema;

use crate::fields::{Fields, string};
use crate::problem::FieldError;

/// What a client may send to create a link. The documentation only: [`read_new`] does the reading,
/// and a test keeps the two equal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreateLink)]
pub(crate) struct CreateLinkBody {
    /// Any JSON object, at most 16,384 bytes without white space, at most 32 levels deep.
    #[schema(value_type = Object, example = json!({"promo": "SUMMER50"}))]
    payload: Box<RawValue>,
    /// The code, if it shall be a certain one: 3–64 of `A-Za-z0-9_-`, not digits only, no reserved
    /// word. Without it a code is made.
    #[schema(example = "summer-sale", min_length = 3, max_length = 64)]
    short_code: Option<String>,
    #[serde(flatten)]
    optional: LinkFields,
}

/// What a client may send to change a link: absent fields stay as they are, `null` clears. The
/// read-only fields of an answer are ignored, so that a fetched link can be sent back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpdateLink)]
pub(crate) struct UpdateLinkBody {
    /// Replaces the payload whole; can't be `null`.
    #[schema(value_type = Option<Object>, example = json!({"promo": "WINTER30"}))]
    payload: Option<Box<RawValue>>,
    #[serde(flatten)]
    optional: LinkFields,
}

/// The optional fields of a link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkFields {
    /// Title of the preview.
    #[schema(example = "Summer sale", max_length = 255)]
    og_title: Option<String>,
    /// Text of the preview.
    #[schema(example = "Everything at half the price", max_length = 2000)]
    og_description: Option<String>,
    /// Picture of the preview: an http or https URL.
    #[schema(example = "https://cdn.example.com/sale.png", max_length = 2048)]
    og_image_url: Option<String>,
    /// Where the link is published.
    #[schema(example = "email", max_length = 255)]
    channel: Option<String>,
    /// The campaign it belongs to.
    #[schema(example = "summer-2026", max_length = 255)]
    campaign: Option<String>,
    /// At most 20 labels of 1–64 characters.
    #[schema(example = json!(["sale", "summer"]), max_items = 20)]
    tags: Option<Vec<String>>,
    /// Target for iPhones and iPads: http, https, an app store scheme or one of the app's own.
    #[schema(example = "https://apps.apple.com/app/id1", max_length = 2048)]
    ios_redirect_url: Option<String>,
    /// Target for Android.
    #[schema(
        example = "https://play.google.com/store/apps/details?id=com.example.shop",
        max_length = 2048
    )]
    android_redirect_url: Option<String>,
    /// Target for everybody else.
    #[schema(example = "https://shop.example.com/sale", max_length = 2048)]
    web_redirect_url: Option<String>,
    /// An ISO 8601 date-time; without a zone it is UTC.
    #[schema(example = "2026-12-31T23:59:59Z")]
    expires_at: Option<String>,
    /// Target after expiry; without one, visitors get 410.
    #[schema(example = "https://shop.example.com/too-late", max_length = 2048)]
    expired_redirect_url: Option<String>,
}

/// Reads the body of a create.
pub(crate) fn read_new(
    mut fields: Fields<'_>,
    schemes: &[CustomScheme],
    now: DateTime<Utc>,
) -> Result<NewLink, Vec<FieldError>> {
    if fields.raw_is_absent("payload") {
        fields.refuse("payload", &Invalid::new(InvalidCode::Required, "is required"));
    }
    let code = fields.text("shortCode", ShortCode::parse_own);
    let edit = read_edit(&mut fields, schemes);
    if let Change::Set(end) = edit.expires_at
        && end <= now
    {
        fields.refuse("expiresAt", &Invalid::new(InvalidCode::InThePast, "has passed already"));
    }
    fields.finish()?;
    let payload = edit.payload.expect("its absence was refused above");
    Ok(NewLink {
        code: code.apply(None),
        content: LinkContent {
            payload,
            og_title: edit.og_title.apply(None),
            og_description: edit.og_description.apply(None),
            og_image_url: edit.og_image_url.apply(None),
            channel: edit.channel.apply(None),
            campaign: edit.campaign.apply(None),
            tags: edit.tags.apply(None).unwrap_or_default(),
            redirects: Redirects {
                ios: edit.ios.apply(None),
                android: edit.android.apply(None),
                web: edit.web.apply(None),
                expired: edit.expired.apply(None),
            },
            expires_at: edit.expires_at.apply(None),
        },
    })
}

/// Reads the body of an update of `link`.
pub(crate) fn read_update(
    mut fields: Fields<'_>,
    link: &Link,
    schemes: &[CustomScheme],
) -> Result<LinkEdit, Vec<FieldError>> {
    let immutable = Invalid::new(InvalidCode::Immutable, "can't be changed");
    if fields.raw("id").is_some_and(|raw| raw.get() != link.id.0.to_string()) {
        fields.refuse("id", &immutable);
    }
    let same_code = |raw: &RawValue| string(raw).is_ok_and(|text| text == link.code.as_str());
    if fields.raw("shortCode").is_some_and(|raw| !same_code(raw)) {
        fields.refuse("shortCode", &immutable);
    }
    for name in ["url", "isExpired", "createdAt", "updatedAt"] {
        fields.raw(name);
    }
    let edit = read_edit(&mut fields, schemes);
    fields.finish()?;
    Ok(edit)
}

fn read_edit(fields: &mut Fields<'_>, schemes: &[CustomScheme]) -> LinkEdit {
    let redirect = |text: &str| RedirectUrl::parse(text, schemes);
    LinkEdit {
        payload: read_payload(fields),
        og_title: fields.text("ogTitle", OgTitle::parse),
        og_description: fields.text("ogDescription", OgDescription::parse),
        og_image_url: fields.text("ogImageUrl", ImageUrl::parse),
        channel: fields.text("channel", Channel::parse),
        campaign: fields.text("campaign", Campaign::parse),
        tags: read_tags(fields),
        ios: fields.text("iosRedirectUrl", redirect),
        android: fields.text("androidRedirectUrl", redirect),
        web: fields.text("webRedirectUrl", redirect),
        expired: fields.text("expiredRedirectUrl", redirect),
        expires_at: fields
            .change("expiresAt", |raw| string(raw).and_then(|t| parse_moment(&t)).map(Some)),
    }
}

fn read_payload(fields: &mut Fields<'_>) -> Option<Payload> {
    let raw = fields.raw("payload")?;
    match Payload::parse(raw.get()) {
        Ok(payload) => Some(payload),
        Err(invalid) => {
            fields.refuse("payload", &invalid);
            None
        }
    }
}

fn read_tags(fields: &mut Fields<'_>) -> Change<Tags> {
    match fields.texts("tags", Tag::parse) {
        Change::Keep => Change::Keep,
        Change::Clear => Change::Clear,
        Change::Set(tags) => match Tags::new(tags) {
            Ok(tags) => Change::Set(tags),
            Err(invalid) => {
                fields.refuse("tags", &invalid);
                Change::Keep
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema;

    use super::*;

    fn documented(schema: &impl Serialize) -> serde_json::Value {
        serde_json::to_value(schema).unwrap()
    }

    fn names(schema: &serde_json::Value, into: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            into.extend(properties.keys().cloned());
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            if part["$ref"].is_string() {
                names(&documented(&LinkFields::schema()), into);
            } else {
                names(part, into);
            }
        }
    }

    #[test]
    fn the_documented_fields_are_the_ones_that_are_read() {
        let mut known = Vec::new();
        names(&documented(&CreateLinkBody::schema()), &mut known);
        assert_eq!(known.len(), 13, "{known:?}");
        for name in known {
            let body = format!("{{\"{name}\":[[]]}}");
            let fields = Fields::of_body(body.as_bytes()).unwrap();
            let now = DateTime::from_timestamp(0, 0).unwrap();
            let errors = read_new(fields, &[], now).unwrap_err();
            assert!(errors.iter().all(|e| e.code != "unknown_field"), "{name}: {errors:?}");
        }
    }
}
