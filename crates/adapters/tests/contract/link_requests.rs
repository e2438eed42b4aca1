//! Requests that must have their effect once.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use signpost_adapters::installation::SqlInstallation;
use signpost_domain::access::{AdminEmail, ApiKeyId, KeyName, Scope, Scopes, SecretHash};
use signpost_domain::app::AppId;
use signpost_domain::link::LinkDraft;
use signpost_domain::ports::{
    Answer, BodyHash, FirstContent, IdempotencyKey, Idempotent, Insertion, Installation,
    LinkRepository, Outcome, StoreError, StoredPassword,
};

use crate::fixtures::{app_draft, codes, generated, later, now, own, stored};
use crate::world::World;

/// An app with two keys, numbered 1 and 2.
fn app(world: &World) -> AppId {
    let key = |n| {
        let scopes = Scopes::new([Scope::LinksWrite]).unwrap();
        (SecretHash([n; 32]), "sp_live_abcd".to_owned(), KeyName::parse("key").unwrap(), scopes)
    };
    let first = FirstContent {
        app: app_draft("shop", &[]),
        keys: vec![key(1), key(2)],
        owner: AdminEmail::parse("owner@example.com").unwrap(),
        password: StoredPassword("hash".to_owned()),
        now: now(),
    };
    SqlInstallation::new(world.databases.api.clone()).fill(&first).unwrap().unwrap().id
}

fn key(app_id: AppId, text: &str) -> IdempotencyKey {
    IdempotencyKey { app_id, key_id: ApiKeyId(1), text: text.to_owned() }
}

/// A request whose answer names the codes that were stored.
fn request(key: IdempotencyKey, body: u8) -> Idempotent {
    Idempotent {
        key,
        body: BodyHash([body; 32]),
        render: Arc::new(|outcomes| Answer {
            status: 201,
            body: format!("{{\"codes\":\"{}\",\"nul\":\"\\u0000\"}}", codes(outcomes).join(" ")),
            location: Some("/api/v1/public/links/x".to_owned()),
            etag: None,
        }),
    }
}

fn answer(codes: &str) -> Answer {
    Answer {
        status: 201,
        body: format!("{{\"codes\":\"{codes}\",\"nul\":\"\\u0000\"}}"),
        location: Some("/api/v1/public/links/x".to_owned()),
        etag: None,
    }
}

fn at(second: i64, draft: LinkDraft) -> LinkDraft {
    LinkDraft { created_at: later(second), ..draft }
}

fn send(
    links: &dyn LinkRepository,
    drafts: &[LinkDraft],
    key: &IdempotencyKey,
    body: u8,
) -> Insertion {
    links.insert(drafts, Some(request(key.clone(), body))).unwrap()
}

fn is_fresh(insertion: &Insertion) -> bool {
    matches!(insertion, Insertion::Fresh(outcomes)
        if matches!(outcomes[..], [Outcome::Stored(_), ..]))
}

pub(crate) fn a_request_sent_again_stores_nothing_and_gets_its_answer_again(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    let draft = own(key.app_id, "mine");
    let body = BodyHash([7; 32]);
    assert_eq!(links.find_answer(&key, body, now()).unwrap(), None);
    assert!(is_fresh(&send(&*links, &[draft], &key, 7)));
    let again = send(&*links, &[own(key.app_id, "other")], &key, 7);
    assert_eq!(again, Insertion::Replayed(answer("mine")));
    let kept = links.find_answer(&key, body, later(60)).unwrap();
    assert_eq!(kept, Some(Insertion::Replayed(answer("mine"))));
    assert_eq!(world.count("links", "1 = 1"), 1);
    assert_eq!(world.count("idempotency", "link_id = 1 AND status = 201"), 1);
}

pub(crate) fn a_list_sent_again_gets_its_answer_again(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    stored(&*links, own(key.app_id, "taken"));
    let drafts = [own(key.app_id, "taken"), own(key.app_id, "one"), own(key.app_id, "two")];
    let Insertion::Fresh(outcomes) = send(&*links, &drafts, &key, 7) else {
        panic!("the first request is no replay");
    };
    assert_eq!(codes(&outcomes), ["-", "one", "two"]);
    assert_eq!(send(&*links, &drafts, &key, 7), Insertion::Replayed(answer("- one two")));
}

pub(crate) fn a_key_used_with_another_body_is_a_mismatch(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    assert!(is_fresh(&send(&*links, &[own(key.app_id, "mine")], &key, 7)));
    assert_eq!(send(&*links, &[own(key.app_id, "other")], &key, 8), Insertion::Mismatch);
    let kept = links.find_answer(&key, BodyHash([8; 32]), now()).unwrap();
    assert_eq!(kept, Some(Insertion::Mismatch));
    assert_eq!(world.count("links", "1 = 1"), 1);
}

pub(crate) fn the_same_name_under_another_key_is_another_request(world: &World) {
    let links = world.links();
    let first = key(app(world), "once");
    let others = [
        IdempotencyKey { key_id: ApiKeyId(2), ..first.clone() },
        IdempotencyKey { text: "Once".to_owned(), ..first.clone() },
    ];
    assert!(is_fresh(&send(&*links, &[own(first.app_id, "mine")], &first, 7)));
    for (n, other) in others.iter().enumerate() {
        assert_eq!(links.find_answer(other, BodyHash([7; 32]), now()).unwrap(), None);
        assert!(is_fresh(&send(&*links, &[own(first.app_id, &format!("other{n}"))], other, 7)));
    }
}

pub(crate) fn nothing_is_kept_when_nothing_was_stored(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    stored(&*links, own(key.app_id, "taken"));
    let refused = send(&*links, &[own(key.app_id, "taken")], &key, 7);
    assert_eq!(refused, Insertion::Fresh(vec![Outcome::CodeTaken]));
    assert_eq!(links.find_answer(&key, BodyHash([7; 32]), now()).unwrap(), None);
    assert_eq!(world.count("idempotency", "1 = 1"), 0);
    assert!(is_fresh(&send(&*links, &[own(key.app_id, "free")], &key, 8)));
}

pub(crate) fn a_kept_answer_is_forgotten_after_24_hours(world: &World) {
    const DAY: i64 = 24 * 60 * 60;
    let links = world.links();
    let key = key(app(world), "once");
    let body = BodyHash([7; 32]);
    assert!(is_fresh(&send(&*links, &[own(key.app_id, "mine")], &key, 7)));
    let kept = |second| links.find_answer(&key, body, later(second)).unwrap();
    assert!(kept(DAY - 1).is_some());
    assert_eq!(kept(DAY), None);
    let draft = |second, code| at(second, own(key.app_id, code));
    let replayed = send(&*links, &[draft(DAY - 1, "early")], &key, 7);
    assert_eq!(replayed, Insertion::Replayed(answer("mine")));
    // Forgotten, another body under the same name is a new request and counts from now on.
    assert!(is_fresh(&send(&*links, &[draft(DAY, "late")], &key, 8)));
    assert_eq!(kept(DAY), Some(Insertion::Mismatch));
    let replayed = send(&*links, &[draft(2 * DAY - 1, "later")], &key, 8);
    assert_eq!(replayed, Insertion::Replayed(answer("late")));
}

pub(crate) fn of_many_twins_one_stores_and_the_others_replay(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    let answers: Vec<Insertion> = thread::scope(|scope| {
        let twins: Vec<_> = (0..50)
            .map(|n| {
                let (links, key) = (links.clone(), &key);
                scope.spawn(move || {
                    send(&*links, &[generated(key.app_id, &[&format!("code{n}")])], key, 7)
                })
            })
            .collect();
        twins.into_iter().map(|twin| twin.join().unwrap()).collect()
    });
    let (fresh, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(is_fresh);
    let [Insertion::Fresh(outcomes)] = &fresh[..] else { panic!("stored {} times", fresh.len()) };
    let expected = Insertion::Replayed(answer(codes(outcomes)[0]));
    assert!(others.iter().all(|other| *other == expected), "{others:?}");
    assert_eq!(world.count("links", "1 = 1"), 1);
}

/// On Postgres a twin waits for the transaction of the other. On `SQLite` it waits for its turn to
/// write, and when that takes too long the store is as good as out of reach.
pub(crate) fn a_twin_waits_at_most_two_seconds(world: &World) {
    let links = world.links();
    let key = key(app(world), "once");
    let (begun, has_begun) = mpsc::channel();
    let slow = Idempotent {
        render: Arc::new(move |_| {
            begun.send(()).unwrap();
            thread::sleep(Duration::from_secs(3));
            answer("slow")
        }),
        ..request(key.clone(), 7)
    };
    thread::scope(|scope| {
        let (draft, store) = (own(key.app_id, "slow"), links.clone());
        let first = scope.spawn(move || store.insert(&[draft], Some(slow)).unwrap());
        has_begun.recv().unwrap();
        let begun = Instant::now();
        let twin = links.insert(&[own(key.app_id, "twin")], Some(request(key.clone(), 7)));
        assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
        if world.databases.url().backend() == "Postgres" {
            assert_eq!(twin.unwrap(), Insertion::InProgress);
        } else {
            assert!(matches!(twin, Err(StoreError::Unavailable(_))));
        }
        assert!(is_fresh(&first.join().unwrap()));
    });
    let replayed = send(&*links, &[own(key.app_id, "twin")], &key, 7);
    assert_eq!(replayed, Insertion::Replayed(answer("slow")));
}

pub(crate) fn answers_are_erased_when_they_are_24_hours_old(world: &World) {
    let (app, links) = (app(world), world.links());
    for (second, name) in [(0, "old"), (1, "young")] {
        let draft = at(second, own(app, name));
        links.insert(&[draft], Some(request(key(app, name), 1))).unwrap();
    }
    let a_day = 24 * 60 * 60;
    assert_eq!(links.forget_answers(later(a_day - 1)).unwrap(), 0);
    assert_eq!(links.forget_answers(later(a_day)).unwrap(), 1);
    assert_eq!(world.count("idempotency", "key = 'young'"), 1);
}
