//! Admins and their sessions.

use chrono::{DateTime, TimeDelta, Utc};
use signpost_adapters::admins::SqlAdmins;
use signpost_domain::access::{Admin, AdminEmail, AdminId, Role, SecretHash, Session, SessionId};
use signpost_domain::app::AppId;
use signpost_domain::ports::{
    AdminRepository, InsertAdminError, NewSession, Rotation, StoredPassword,
};
use uuid::Uuid;

use crate::world::World;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_603_600_123_456).unwrap()
}

fn later(minutes: i64) -> DateTime<Utc> {
    now() + TimeDelta::minutes(minutes)
}

fn admins(world: &World) -> SqlAdmins {
    world.insert_apps(3);
    SqlAdmins::new(world.databases.api.clone())
}

fn email(text: &str) -> AdminEmail {
    AdminEmail::parse(text).unwrap()
}

fn password(text: &str) -> StoredPassword {
    StoredPassword(text.to_owned())
}

fn insert(admins: &SqlAdmins, address: &str) -> Admin {
    admins.insert(&email(address), &password("hash"), Role::Owner, &[], now()).unwrap()
}

fn hash(n: u8) -> SecretHash {
    SecretHash([n; 32])
}

fn session(admin: AdminId, n: u8) -> Session {
    Session {
        id: SessionId(Uuid::from_bytes([n; 16])),
        admin_id: admin,
        created_at: later(i64::from(n)),
        expires_at: later(60),
        user_agent: Some("Firefox".to_owned()),
        network: Some("198.51.100.0".to_owned()),
    }
}

/// Opens the session of a number, with a refresh token of the same number.
fn open(admins: &SqlAdmins, admin: AdminId, n: u8) -> Session {
    let session = session(admin, n);
    admins.open_session(&NewSession { session: session.clone(), refresh: hash(n) }).unwrap();
    session
}

fn is_open(admins: &SqlAdmins, session: &Session) -> bool {
    admins.find_session(session.id, later(10)).unwrap().is_some()
}

fn rotate(admins: &SqlAdmins, used: u8, successor: u8) -> Rotation {
    admins.rotate(hash(used), hash(successor), later(10), later(100)).unwrap()
}

pub(crate) fn a_stored_admin_is_returned_with_their_number(world: &World) {
    let admins = admins(world);
    let apps = [AppId(3), AppId(1), AppId(3)];
    let member =
        admins.insert(&email("m@b"), &password("secret"), Role::Member, &apps, now()).unwrap();
    assert!(member.id.0 > 0);
    assert_eq!((member.role, member.created_at), (Role::Member, now()));
    assert_eq!(member.apps, [AppId(1), AppId(3)]);
    let found = admins.find_by_email(&email("M@B")).unwrap();
    assert_eq!(found, Some((member, password("secret"))));
}

pub(crate) fn a_taken_address_is_refused_and_nothing_is_stored(world: &World) {
    let admins = admins(world);
    let first = insert(&admins, "a@b");
    let second = admins.insert(&email("A@b"), &password("x"), Role::Member, &[AppId(1)], now());
    assert!(matches!(second, Err(InsertAdminError::EmailTaken)));
    let found = admins.find_by_email(&email("a@b")).unwrap();
    assert_eq!(found, Some((first, password("hash"))));
}

pub(crate) fn an_admin_of_an_unknown_app_is_not_stored_at_all(world: &World) {
    let admins = admins(world);
    let refused = admins.insert(&email("a@b"), &password("x"), Role::Member, &[AppId(9)], now());
    assert!(matches!(refused, Err(InsertAdminError::Store(_))));
    assert_eq!(admins.find_by_email(&email("a@b")).unwrap(), None);
}

pub(crate) fn an_unknown_or_disabled_admin_is_not_found_and_has_no_sessions(world: &World) {
    let admins = admins(world);
    assert_eq!(admins.find_by_email(&email("a@b")).unwrap(), None);
    let admin = insert(&admins, "a@b");
    let session = open(&admins, admin.id, 1);
    world.execute("UPDATE admins SET disabled_at = 1");
    assert_eq!(admins.find_by_email(&email("a@b")).unwrap(), None);
    assert!(!is_open(&admins, &session));
    assert_eq!(admins.sessions(admin.id, later(10)).unwrap(), []);
    assert_eq!(rotate(&admins, 1, 2), Rotation::Unknown);
    assert!(!admins.set_password(&email("a@b"), &password("new"), now()).unwrap());
    let again = admins.insert(&email("a@b"), &password("x"), Role::Owner, &[], now());
    assert!(matches!(again, Err(InsertAdminError::EmailTaken)));
}

pub(crate) fn a_new_password_ends_all_sessions_of_the_admin(world: &World) {
    let admins = admins(world);
    let (admin, other) = (insert(&admins, "a@b"), insert(&admins, "c@d"));
    let mine = [open(&admins, admin.id, 1), open(&admins, admin.id, 2)];
    let theirs = open(&admins, other.id, 3);
    assert!(admins.set_password(&email("a@b"), &password("new"), later(10)).unwrap());
    assert_eq!(admins.find_by_email(&email("a@b")).unwrap().unwrap().1, password("new"));
    assert!(mine.iter().all(|session| !is_open(&admins, session)));
    assert!(is_open(&admins, &theirs));
    assert_eq!(admins.find_by_email(&email("c@d")).unwrap().unwrap().1, password("hash"));
}

pub(crate) fn a_new_password_without_such_an_admin_is_false(world: &World) {
    let admins = admins(world);
    insert(&admins, "a@b");
    assert!(!admins.set_password(&email("x@b"), &password("new"), now()).unwrap());
}

pub(crate) fn an_open_session_is_found_with_its_admin(world: &World) {
    let admins = admins(world);
    let admin =
        admins.insert(&email("a@b"), &password("x"), Role::Member, &[AppId(2)], now()).unwrap();
    let session = open(&admins, admin.id, 1);
    let found = admins.find_session(session.id, later(10)).unwrap().unwrap();
    assert_eq!((found.session, found.admin), (session, admin));
    let unknown = SessionId(Uuid::from_bytes([9; 16]));
    assert_eq!(admins.find_session(unknown, later(10)).unwrap(), None);
}

pub(crate) fn an_ended_or_expired_session_is_none(world: &World) {
    let admins = admins(world);
    let admin = insert(&admins, "a@b");
    let session = open(&admins, admin.id, 1);
    let just_before = session.expires_at - TimeDelta::microseconds(1);
    assert!(admins.find_session(session.id, just_before).unwrap().is_some());
    assert_eq!(admins.find_session(session.id, session.expires_at).unwrap(), None);
    admins.end_session(admin.id, session.id, later(5)).unwrap();
    assert_eq!(admins.find_session(session.id, later(5)).unwrap(), None);
}

pub(crate) fn a_refresh_token_is_replaced_by_its_successor(world: &World) {
    let admins = admins(world);
    let admin = insert(&admins, "a@b");
    let session = open(&admins, admin.id, 1);
    let Rotation::Rotated(first) = rotate(&admins, 1, 2) else { panic!("a good token rotates") };
    let extended = Session { expires_at: later(100), ..session };
    assert_eq!((&first.session, &first.admin), (&extended, &admin));
    assert_eq!(admins.find_session(extended.id, later(99)).unwrap().unwrap().session, extended);
    assert!(matches!(rotate(&admins, 2, 3), Rotation::Rotated(_)));
}

pub(crate) fn a_reused_token_ends_its_session(world: &World) {
    let admins = admins(world);
    let admin = insert(&admins, "a@b");
    let (session, other) = (open(&admins, admin.id, 1), open(&admins, admin.id, 9));
    rotate(&admins, 1, 2);
    assert_eq!(rotate(&admins, 1, 3), Rotation::Reused);
    assert!(!is_open(&admins, &session));
    assert_eq!(rotate(&admins, 2, 4), Rotation::Unknown, "the successor ends with the session");
    assert_eq!(rotate(&admins, 3, 5), Rotation::Unknown, "a refused successor is not stored");
    assert!(is_open(&admins, &other));
}

pub(crate) fn of_two_rotations_at_the_same_time_one_is_a_reuse(world: &World) {
    let admins = admins(world);
    let admin = insert(&admins, "a@b");
    open(&admins, admin.id, 1);
    let barrier = std::sync::Barrier::new(2);
    let answers: Vec<Rotation> = std::thread::scope(|scope| {
        let threads: Vec<_> = [2, 3]
            .into_iter()
            .map(|successor| {
                let (admins, barrier) = (&admins, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    rotate(admins, 1, successor)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let rotated = answers.iter().filter(|a| matches!(a, Rotation::Rotated(_))).count();
    let reused = answers.iter().filter(|a| matches!(a, Rotation::Reused)).count();
    assert_eq!((rotated, reused), (1, 1), "{answers:?}");
}

pub(crate) fn a_token_that_is_unknown_or_of_a_closed_session_is_unknown(world: &World) {
    let admins = admins(world);
    let admin = insert(&admins, "a@b");
    let ended = open(&admins, admin.id, 1);
    let expired = open(&admins, admin.id, 2);
    assert_eq!(rotate(&admins, 9, 10), Rotation::Unknown);
    admins.end_session(admin.id, ended.id, later(5)).unwrap();
    let late = expired.expires_at;
    for _ in 0..2 {
        assert_eq!(rotate(&admins, 1, 11), Rotation::Unknown);
        let answer = admins.rotate(hash(2), hash(12), late, later(100)).unwrap();
        assert_eq!(answer, Rotation::Unknown);
    }
}

pub(crate) fn open_sessions_are_listed_newest_first(world: &World) {
    let admins = admins(world);
    let (admin, other) = (insert(&admins, "a@b"), insert(&admins, "c@d"));
    let sessions = [2, 3, 1].map(|n| open(&admins, admin.id, n));
    open(&admins, other.id, 4);
    let ended = open(&admins, admin.id, 5);
    admins.end_session(admin.id, ended.id, later(6)).unwrap();
    let [second, third, first] = sessions;
    assert_eq!(admins.sessions(admin.id, later(10)).unwrap(), [third, second, first]);
    assert_eq!(admins.sessions(admin.id, later(60)).unwrap(), []);
}

pub(crate) fn ending_a_session_is_false_without_such_an_open_session(world: &World) {
    let admins = admins(world);
    let (admin, other) = (insert(&admins, "a@b"), insert(&admins, "c@d"));
    let session = open(&admins, admin.id, 1);
    assert!(!admins.end_session(other.id, session.id, later(10)).unwrap(), "another's session");
    assert!(!admins.end_session(admin.id, session.id, later(60)).unwrap(), "an expired one");
    assert!(admins.end_session(admin.id, session.id, later(10)).unwrap());
    assert!(!admins.end_session(admin.id, session.id, later(11)).unwrap(), "an ended one");
}
