//! Changing links.

use std::thread;

use signpost_domain::Change;
use signpost_domain::link::{
    Campaign, Channel, Link, LinkContent, LinkEdit, LinkFilter, LinkVersion, OgDescription,
    OgTitle, Payload, RedirectUrl, SearchTerm,
};
use signpost_domain::page::PageRequest;
use signpost_domain::ports::UpdateError;

use crate::fixtures::{app, later, own, stored, tags};
use crate::world::World;

fn url(text: &str) -> RedirectUrl {
    RedirectUrl::from_stored(text).unwrap()
}

/// Stores a link with something in several fields.
fn link(world: &World) -> Link {
    let mut draft = own(app(world, "shop"), "edited");
    draft.content.og_title = Some(OgTitle::parse("old").unwrap());
    draft.content.og_description = Some(OgDescription::parse("old").unwrap());
    draft.content.channel = Some(Channel::parse("email").unwrap());
    draft.content.tags = tags(&["b", "a"]);
    draft.content.redirects.ios = Some(url("https://i.example"));
    draft.content.redirects.web = Some(url("https://w.example"));
    draft.content.expires_at = Some(later(3600));
    stored(&*world.links(), draft)
}

fn title(text: &str) -> LinkEdit {
    LinkEdit { og_title: Change::Set(OgTitle::parse(text).unwrap()), ..LinkEdit::default() }
}

pub(crate) fn an_edit_keeps_clears_and_sets(world: &World) {
    let links = world.links();
    let link = link(world);
    let edit = LinkEdit {
        payload: Some(Payload::parse(r#"{"new":1E5}"#).unwrap()),
        og_title: Change::Set(OgTitle::parse("new").unwrap()),
        og_description: Change::Clear,
        campaign: Change::Set(Campaign::parse("summer").unwrap()),
        tags: Change::Set(tags(&["a", "c"])),
        ios: Change::Clear,
        android: Change::Set(url("market://details?id=x")),
        expires_at: Change::Clear,
        ..LinkEdit::default()
    };
    let updated = links.update(link.app_id, &link.code, edit, None, later(60)).unwrap().unwrap();
    let expected = Link {
        content: LinkContent {
            payload: Payload::parse(r#"{"new":1E5}"#).unwrap(),
            og_title: Some(OgTitle::parse("new").unwrap()),
            og_description: None,
            campaign: Some(Campaign::parse("summer").unwrap()),
            tags: tags(&["a", "c"]),
            redirects: signpost_domain::link::Redirects {
                ios: None,
                android: Some(url("market://details?id=x")),
                ..link.content.redirects.clone()
            },
            expires_at: None,
            ..link.content.clone()
        },
        version: LinkVersion(2),
        updated_at: later(60),
        ..link.clone()
    };
    assert_eq!(updated, expected);
    assert_eq!(links.find(link.app_id, &link.code).unwrap(), Some(expected));
    let no_tags = LinkEdit { tags: Change::Clear, ..LinkEdit::default() };
    links.update(link.app_id, &link.code, no_tags, None, later(61)).unwrap();
    assert_eq!(world.count("link_tags", "1 = 1"), 0);
}

pub(crate) fn an_edited_link_is_found_by_its_new_words(world: &World) {
    let links = world.links();
    let link = link(world);
    links.update(link.app_id, &link.code, title("Ünique"), None, later(60)).unwrap();
    let found = |term| {
        let search = Some(SearchTerm::parse(term).unwrap());
        let filter = LinkFilter { search, ..LinkFilter::default() };
        let page = PageRequest::new(1, 20, 100).unwrap();
        links.page(link.app_id, &filter, page).unwrap().total
    };
    assert_eq!((found("üNIQUE"), found("old"), found("EMAIL")), (1, 0, 1));
}

pub(crate) fn an_edit_that_changes_nothing_writes_nothing(world: &World) {
    let links = world.links();
    let link = link(world);
    for edit in [LinkEdit::default(), title("old")] {
        let same = links.update(link.app_id, &link.code, edit, None, later(60)).unwrap();
        assert_eq!(same.as_ref(), Some(&link));
    }
    assert_eq!(links.find(link.app_id, &link.code).unwrap(), Some(link));
}

pub(crate) fn an_edit_of_another_version_changes_nothing(world: &World) {
    let links = world.links();
    let link = link(world);
    for versions in [vec![], vec![LinkVersion(2)], vec![LinkVersion(0), LinkVersion(7)]] {
        let refused =
            links.update(link.app_id, &link.code, title("new"), Some(versions), later(60));
        assert!(matches!(refused, Err(UpdateError::VersionMismatch)));
    }
    assert_eq!(links.find(link.app_id, &link.code).unwrap().as_ref(), Some(&link));
    let versions = Some(vec![LinkVersion(9), LinkVersion(1)]);
    let updated = links.update(link.app_id, &link.code, title("new"), versions, later(60));
    assert_eq!(updated.unwrap().unwrap().version, LinkVersion(2));
}

pub(crate) fn of_two_edits_at_once_neither_is_lost(world: &World) {
    let links = world.links();
    let link = link(world);
    let schemes = ["ios", "android", "web", "expired", "title", "channel", "campaign", "tags"];
    thread::scope(|scope| {
        for field in schemes {
            let (links, link) = (links.clone(), &link);
            scope.spawn(move || {
                let target = Change::Set(url(&format!("https://{field}.example/")));
                let edit = match field {
                    "ios" => LinkEdit { ios: target, ..LinkEdit::default() },
                    "android" => LinkEdit { android: target, ..LinkEdit::default() },
                    "web" => LinkEdit { web: target, ..LinkEdit::default() },
                    "expired" => LinkEdit { expired: target, ..LinkEdit::default() },
                    "title" => title("new"),
                    "channel" => LinkEdit { channel: Change::Clear, ..LinkEdit::default() },
                    "campaign" => LinkEdit {
                        campaign: Change::Set(Campaign::parse("summer").unwrap()),
                        ..LinkEdit::default()
                    },
                    _ => LinkEdit { tags: Change::Set(tags(&["new"])), ..LinkEdit::default() },
                };
                links.update(link.app_id, &link.code, edit, None, later(60)).unwrap();
            });
        }
    });
    let after = links.find(link.app_id, &link.code).unwrap().unwrap();
    assert_eq!(after.version, LinkVersion(9));
    let redirects = &after.content.redirects;
    for (url, field) in [
        (&redirects.ios, "ios"),
        (&redirects.android, "android"),
        (&redirects.web, "web"),
        (&redirects.expired, "expired"),
    ] {
        assert_eq!(url.as_ref().unwrap().as_str(), format!("https://{field}.example/"));
    }
    assert_eq!(after.content.og_title, Some(OgTitle::parse("new").unwrap()));
    assert_eq!(after.content.channel, None);
    assert_eq!(after.content.campaign, Some(Campaign::parse("summer").unwrap()));
    assert_eq!(after.content.tags, tags(&["new"]));
}

pub(crate) fn of_two_edits_of_one_version_one_is_refused(world: &World) {
    let links = world.links();
    let link = link(world);
    let done = thread::scope(|scope| {
        let edits: Vec<_> = (0..8)
            .map(|n| {
                let (links, link) = (links.clone(), &link);
                scope.spawn(move || {
                    let expected = Some(vec![link.version]);
                    let edit = title(&format!("new {n}"));
                    links.update(link.app_id, &link.code, edit, expected, later(60)).is_ok()
                })
            })
            .collect();
        edits.into_iter().map(|edit| edit.join().unwrap()).filter(|done| *done).count()
    });
    assert_eq!(done, 1);
}
