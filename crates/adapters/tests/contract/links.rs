//! Storing, finding and deleting links.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use signpost_adapters::links::SqlLinks;
use signpost_domain::app::AppId;
use signpost_domain::link::{
    Campaign, Channel, ImageUrl, LinkDraft, LinkEdit, LinkFilter, LinkId, LinkVersion,
    OgDescription, OgTitle, Payload, RedirectUrl, Redirects, Route,
};
use signpost_domain::page::PageRequest;
use signpost_domain::ports::{Outcome, StoreError};

use crate::fixtures::{app, code, codes, generated, later, now, outcomes, own, stored, tags};
use crate::world::World;

fn full(app: AppId, text: &str) -> LinkDraft {
    let url = |text| Some(RedirectUrl::from_stored(text).unwrap());
    let mut draft = own(app, text);
    draft.content.og_title = Some(OgTitle::parse("Summer").unwrap());
    draft.content.og_description = Some(OgDescription::parse("Half\n\toff").unwrap());
    draft.content.og_image_url = Some(ImageUrl::parse("https://cdn.example/a.png").unwrap());
    draft.content.channel = Some(Channel::parse("email").unwrap());
    draft.content.campaign = Some(Campaign::parse("summer").unwrap());
    draft.content.tags = tags(&["b", "a", "B", "ü😀"]);
    draft.content.redirects = Redirects {
        ios: url("shop://item/1"),
        android: url("market://details?id=x"),
        web: url("https://example.com/ä"),
        expired: url("https://example.com/late"),
    };
    draft.content.expires_at = Some(later(3600));
    draft
}

pub(crate) fn an_inserted_link_is_found_by_app_and_code_by_number_and_by_code(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    for draft in [full(app, "full"), own(app, "bare")] {
        let link = stored(&*links, draft.clone());
        assert_eq!(link.content, draft.content);
        assert_eq!((link.app_id, link.version), (app, LinkVersion(1)));
        assert_eq!(links.find(app, &link.code).unwrap().as_ref(), Some(&link));
        assert_eq!(links.find_by_id(link.id).unwrap().as_ref(), Some(&link));
        assert_eq!(links.find_by_code(&link.code).unwrap(), Some(link));
    }
}

pub(crate) fn what_was_never_stored_is_not_found(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    assert_eq!(links.find(app, &code("none")).unwrap(), None);
    assert_eq!(links.find_by_id(LinkId(1)).unwrap(), None);
    assert_eq!(links.find_by_code(&code("none")).unwrap(), None);
    assert!(!links.remove(app, &code("none"), now()).unwrap());
    let edited = links.update(app, &code("none"), LinkEdit::default(), None, now());
    assert_eq!(edited.unwrap(), None);
    assert!(outcomes(&*links, &[]).is_empty());
}

pub(crate) fn case_matters_in_a_code(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let lower = stored(&*links, own(app, "code"));
    let upper = stored(&*links, own(app, "CODE"));
    assert_eq!(links.find(app, &code("code")).unwrap(), Some(lower));
    assert_eq!(links.find(app, &code("CODE")).unwrap(), Some(upper));
    assert_eq!(links.find(app, &code("Code")).unwrap(), None);
}

pub(crate) fn another_app_does_not_see_the_link(world: &World) {
    let links = world.links();
    let (shop, news) = (app(world, "shop"), app(world, "news"));
    let link = stored(&*links, own(shop, "mine"));
    assert_eq!(links.find(news, &link.code).unwrap(), None);
    assert!(!links.remove(news, &link.code, now()).unwrap());
    let clear = LinkEdit { channel: None.into(), ..LinkEdit::default() };
    assert_eq!(links.update(news, &link.code, clear, None, now()).unwrap(), None);
    let page = PageRequest::new(1, 20, 100).unwrap();
    assert_eq!(links.page(news, &LinkFilter::default(), page).unwrap().total, 0);
    assert_eq!(links.find_by_code(&link.code).unwrap(), Some(link));
}

pub(crate) fn a_taken_code_is_refused(world: &World) {
    let links = world.links();
    let (shop, news) = (app(world, "shop"), app(world, "news"));
    let first = stored(&*links, own(shop, "mine"));
    assert_eq!(outcomes(&*links, &[own(shop, "mine")]), [Outcome::CodeTaken]);
    assert_eq!(outcomes(&*links, &[full(news, "mine")]), [Outcome::CodeTaken]);
    assert_eq!(links.find_by_code(&code("mine")).unwrap(), Some(first));
}

pub(crate) fn a_link_takes_the_first_of_its_codes_that_is_free(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    outcomes(&*links, &[own(app, "one"), own(app, "two")]);
    let link = stored(&*links, generated(app, &["one", "two", "three", "four"]));
    assert_eq!(link.code, code("three"));
    assert_eq!(outcomes(&*links, &[generated(app, &["one", "two"])]), [Outcome::CodeTaken]);
    assert_eq!(outcomes(&*links, &[generated(app, &[])]), [Outcome::CodeTaken]);
}

pub(crate) fn one_taken_code_does_not_spoil_the_others(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    stored(&*links, own(app, "taken"));
    let drafts = [
        full(app, "one"),
        own(app, "taken"),
        generated(app, &["taken", "two"]),
        full(app, "two"),
        own(app, "one"),
        generated(app, &["six", "five"]),
        generated(app, &["six", "seven"]),
    ];
    let made = outcomes(&*links, &drafts);
    // The first statement gives `two` to the draft that asks for nothing else.
    assert_eq!(codes(&made), ["one", "-", "-", "two", "-", "six", "seven"]);
    for (outcome, draft) in made.iter().zip(&drafts) {
        if let Outcome::Stored(link) = outcome {
            assert_eq!(link.content, draft.content);
            assert_eq!(links.find(app, &link.code).unwrap().as_ref(), Some(&**link));
        }
    }
}

pub(crate) fn links_of_one_call_are_numbered_in_their_order(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let drafts: Vec<_> = (100..200).rev().map(|n| own(app, &format!("c{n}"))).collect();
    let made = outcomes(&*links, &drafts);
    let ids: Vec<i64> = made
        .iter()
        .map(|outcome| match outcome {
            Outcome::Stored(link) => link.id.0,
            Outcome::CodeTaken => panic!("a free code was refused"),
        })
        .collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(
        codes(&made),
        drafts.iter().map(|d| d.code.candidates()[0].as_str()).collect::<Vec<_>>()
    );
}

pub(crate) fn all_links_of_a_call_are_stored_or_none(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let nobody = AppId(app.0 + 1);
    assert!(links.insert(&[full(app, "one"), full(nobody, "two")], None).is_err());
    assert_eq!(world.count("links", "1 = 1"), 0);
}

pub(crate) fn a_deleted_link_is_gone_and_its_content_erased(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let link = stored(&*links, full(app, "gone"));
    assert!(links.remove(app, &link.code, later(60)).unwrap());
    assert_eq!(links.find(app, &link.code).unwrap(), None);
    assert_eq!(links.find_by_id(link.id).unwrap(), None);
    assert_eq!(links.find_by_code(&link.code).unwrap(), None);
    let sql = SqlLinks::new(world.databases.hot.clone());
    assert_eq!(sql.route(&link.code).unwrap(), None);
    let page = PageRequest::new(1, 20, 100).unwrap();
    assert_eq!(links.page(app, &LinkFilter::default(), page).unwrap().total, 0);
    let edit = LinkEdit { channel: None.into(), ..LinkEdit::default() };
    assert_eq!(links.update(app, &link.code, edit, None, later(61)).unwrap(), None);
    assert!(!links.remove(app, &link.code, later(61)).unwrap());
    let erased = "payload IS NULL AND og_title IS NULL AND og_description IS NULL \
         AND og_image_url IS NULL AND channel IS NULL AND campaign IS NULL \
         AND ios_redirect_url IS NULL AND android_redirect_url IS NULL \
         AND web_redirect_url IS NULL AND expired_redirect_url IS NULL \
         AND expires_at IS NULL AND search_text = '' AND version = 2";
    assert_eq!(world.count("links", erased), 1);
    assert_eq!(world.count("link_tags", "1 = 1"), 0);
}

pub(crate) fn a_code_and_a_number_are_never_given_out_twice(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let first = stored(&*links, own(app, "gone"));
    assert!(links.remove(app, &first.code, now()).unwrap());
    assert_eq!(outcomes(&*links, &[own(app, "gone")]), [Outcome::CodeTaken]);
    let second = stored(&*links, generated(app, &["gone", "other"]));
    assert_eq!(second.code, code("other"));
    assert!(second.id > first.id);
}

pub(crate) fn a_payload_comes_back_as_it_was_written(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let nested = format!("{}1{}", r#"{"d":["#.repeat(16), "]}".repeat(16));
    let long = format!(r#"{{"k":"{}"}}"#, "€".repeat(5458));
    for (n, text) in [
        "{}",
        r#"{"nul":"\u0000","esc":"\/\u00e9\ud83d\ude00"}"#,
        r#"{"big":1E5,"thirty":123456789012345678901234567890,"zero":-0.0,"exact":1.10}"#,
        r#"{"z":1,"a":2,"10":3,"9":4,"":5}"#,
        r#"{"quote":"'; DROP TABLE links; --","percent":"%s%_\\"}"#,
        &nested,
        &long,
    ]
    .into_iter()
    .enumerate()
    {
        let mut draft = own(app, &format!("payload{n}"));
        draft.content.payload = Payload::parse(text).unwrap();
        let link = stored(&*links, draft);
        let found = links.find(app, &link.code).unwrap().unwrap();
        assert_eq!(found.content.payload.as_str(), text);
    }
}

pub(crate) fn a_title_has_room_for_255_characters_of_any_kind(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let mut draft = own(app, "emoji");
    draft.content.og_title = Some(OgTitle::parse(&"😀".repeat(255)).unwrap());
    draft.content.og_description = Some(OgDescription::parse(&"語".repeat(2000)).unwrap());
    let link = stored(&*links, draft);
    assert_eq!(links.find(app, &link.code).unwrap(), Some(link));
}

pub(crate) fn times_keep_microseconds(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let mut draft = own(app, "times");
    draft.content.expires_at = Some(later(-1));
    let link = stored(&*links, draft);
    let found = links.find(app, &link.code).unwrap().unwrap();
    assert_eq!(found.created_at.timestamp_micros() % 1_000_000, 123_456);
    assert_eq!((found.created_at, found.updated_at), (now(), now()));
    assert_eq!(found.content.expires_at, Some(later(-1)));
}

pub(crate) fn a_route_holds_what_a_visit_needs(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let sql = SqlLinks::new(world.databases.hot.clone());
    for draft in [full(app, "full"), own(app, "bare")] {
        let link = stored(&*links, draft);
        assert_eq!(sql.route(&link.code).unwrap(), Some(Route::from(&link)));
    }
    assert_eq!(sql.route(&code("none")).unwrap(), None);
}

pub(crate) fn of_many_who_want_one_code_one_gets_it(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let stored = thread::scope(|scope| {
        let wishes: Vec<_> = (0..100)
            .map(|n| {
                let links = links.clone();
                scope.spawn(move || {
                    let mut draft = own(app, "wanted");
                    draft.content.tags = tags(&["wish"][..n % 2]);
                    matches!(outcomes(&*links, &[draft])[..], [Outcome::Stored(_)])
                })
            })
            .collect();
        wishes.into_iter().map(|wish| wish.join().unwrap()).filter(|got| *got).count()
    });
    assert_eq!(stored, 1);
    assert_eq!(world.count("links", "1 = 1"), 1);
}

pub(crate) fn lists_with_the_same_codes_in_another_order_do_not_block_each_other(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    // Several rounds, because two lists seldom meet in the middle.
    for round in 0..10 {
        let forth: Vec<_> = (0..100).map(|n| own(app, &format!("code{round}-{n}"))).collect();
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        let together = Barrier::new(4);
        let made: Vec<Vec<Outcome>> = thread::scope(|scope| {
            let lists = [&forth, &back, &forth, &back].map(|drafts| {
                let (links, together) = (links.clone(), &together);
                scope.spawn(move || {
                    together.wait();
                    outcomes(&*links, drafts)
                })
            });
            lists.into_iter().map(|list| list.join().unwrap()).collect()
        });
        let mut given: Vec<&str> = made.iter().flat_map(|outcomes| codes(outcomes)).collect();
        given.retain(|code| *code != "-");
        assert_eq!(given.len(), 100);
        assert_eq!(given.into_iter().collect::<HashSet<_>>().len(), 100);
    }
}

pub(crate) fn an_impossible_row_is_an_error(world: &World) {
    let links = world.links();
    let app = app(world, "shop");
    let sql = SqlLinks::new(world.databases.hot.clone());
    for (n, (damage, hits_visits)) in [
        ("payload = '[1]'", false),
        ("og_title = ''", true),
        ("web_redirect_url = 'nowhere'", true),
        ("og_image_url = 'market://x'", true),
        ("expires_at = 9223372036854775807", true),
        ("created_at = 9223372036854775807", false),
    ]
    .into_iter()
    .enumerate()
    {
        let link = stored(&*links, full(app, &format!("row{n}")));
        world.execute(&format!("UPDATE links SET {damage} WHERE id = {}", link.id.0));
        let found = links.find(app, &link.code);
        assert!(matches!(found, Err(StoreError::Failed(_))), "{damage}: {found:?}");
        assert_eq!(sql.route(&link.code).is_err(), hits_visits, "{damage}");
    }
    let link = stored(&*links, full(app, "tagged"));
    world.execute("DELETE FROM link_tags WHERE position > 0; UPDATE link_tags SET tag = ' '");
    assert!(matches!(links.find(app, &link.code), Err(StoreError::Failed(_))));
}
