//! Things to store.

use chrono::{DateTime, TimeDelta, Utc};
use signpost_domain::app::{AppDraft, AppId, AppName, AppSettings, Host, Slug};
use signpost_domain::link::{
    CodeChoice, Link, LinkContent, LinkDraft, Payload, ShortCode, Tag, Tags,
};
use signpost_domain::ports::{Insertion, LinkRepository, Outcome};

use crate::world::World;

/// 2026-01-05T09:00:00.123456Z: a time with all the digits that are kept.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_603_600_123_456).unwrap()
}

pub(crate) fn later(seconds: i64) -> DateTime<Utc> {
    now() + TimeDelta::seconds(seconds)
}

pub(crate) fn code(text: &str) -> ShortCode {
    ShortCode::parse(text).unwrap()
}

pub(crate) fn tags(texts: &[&str]) -> Tags {
    Tags::new(texts.iter().map(|text| Tag::parse(text).unwrap())).unwrap()
}

pub(crate) fn content() -> LinkContent {
    LinkContent::new(Payload::parse(r#"{"promo":"SUMMER50"}"#).unwrap())
}

pub(crate) fn app_draft(slug: &str, hosts: &[&str]) -> AppDraft {
    AppDraft {
        slug: Slug::parse(slug).unwrap(),
        name: AppName::parse("Shop").unwrap(),
        hosts: hosts.iter().map(|host| Host::parse(host).unwrap()).collect(),
        settings: AppSettings::default(),
        created_at: now(),
    }
}

/// Stores an app.
pub(crate) fn app(world: &World, slug: &str) -> AppId {
    world.apps().insert(&app_draft(slug, &[])).unwrap().id
}

/// A link with a code of its own.
pub(crate) fn own(app_id: AppId, text: &str) -> LinkDraft {
    LinkDraft { app_id, code: CodeChoice::Own(code(text)), content: content(), created_at: now() }
}

/// A link whose code is the first of several that is free.
pub(crate) fn generated(app: AppId, candidates: &[&str]) -> LinkDraft {
    let candidates = candidates.iter().map(|text| code(text)).collect();
    LinkDraft { code: CodeChoice::Generated(candidates), ..own(app, "any") }
}

/// What became of new links.
pub(crate) fn outcomes(links: &dyn LinkRepository, drafts: &[LinkDraft]) -> Vec<Outcome> {
    match links.insert(drafts, None).unwrap() {
        Insertion::Fresh(outcomes) => outcomes,
        other => panic!("a request without a key was answered with {other:?}"),
    }
}

/// Stores a link.
pub(crate) fn stored(links: &dyn LinkRepository, draft: LinkDraft) -> Link {
    match outcomes(links, &[draft]).pop() {
        Some(Outcome::Stored(link)) => *link,
        other => panic!("the link was not stored: {other:?}"),
    }
}

/// The codes of the links that were stored, and `-` for those that were not.
pub(crate) fn codes(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Stored(link) => link.code.as_str(),
            Outcome::CodeTaken => "-",
        })
        .collect()
}
