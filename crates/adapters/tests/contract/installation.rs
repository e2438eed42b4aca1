//! The first start.

use std::sync::Barrier;
use std::thread;

use signpost_adapters::installation::SqlInstallation;
use signpost_domain::access::{AdminEmail, KeyName, Scope, Scopes, SecretHash};
use signpost_domain::app::Slug;
use signpost_domain::ports::{FirstContent, Installation, StoredPassword};

use crate::fixtures::{app, app_draft, now};
use crate::world::World;

fn first() -> FirstContent {
    let key = |n, scopes: &[Scope]| {
        let scopes = Scopes::new(scopes.iter().copied()).unwrap();
        (SecretHash([n; 32]), format!("prefix{n}"), KeyName::parse("first").unwrap(), scopes)
    };
    FirstContent {
        app: app_draft("first", &["go.example"]),
        keys: vec![key(1, &[Scope::LinksRead, Scope::LinksWrite]), key(2, &[Scope::SdkResolve])],
        owner: AdminEmail::parse("owner@example.com").unwrap(),
        password: StoredPassword("$argon2id$hash".to_owned()),
        now: now(),
    }
}

fn installation(world: &World) -> SqlInstallation {
    SqlInstallation::new(world.databases.api.clone())
}

pub(crate) fn an_empty_database_gets_an_app_its_keys_and_an_owner(world: &World) {
    let app = installation(world).fill(&first()).unwrap().unwrap();
    assert_eq!(world.apps().list().unwrap(), std::slice::from_ref(&app));
    assert_eq!(app.hosts, first().app.hosts);
    let at = format!("created_at = {}", now().timestamp_micros());
    for (table, condition) in [
        (
            "api_keys",
            "kind = 'secret' AND scopes = 'links:read links:write' AND prefix = 'prefix1'",
        ),
        ("api_keys", "kind = 'publishable' AND scopes = 'sdk:resolve' AND name = 'first'"),
        ("admins", "email_lower = 'owner@example.com' AND password_hash = '$argon2id$hash'"),
        ("admins", "role = 'owner' AND disabled_at IS NULL"),
    ] {
        assert_eq!(world.count(table, &format!("{at} AND {condition}")), 1, "{condition}");
    }
    assert_eq!(
        world.count("api_keys", &format!("app_id = {} AND revoked_at IS NULL", app.id.0)),
        2
    );
}

pub(crate) fn a_database_with_an_app_is_left_alone(world: &World) {
    app(world, "shop");
    assert_eq!(installation(world).fill(&first()).unwrap(), None);
    // A deleted app counts as well.
    world.execute("UPDATE apps SET deleted_at = 1");
    assert_eq!(installation(world).fill(&first()).unwrap(), None);
    assert_eq!(world.count("apps", "1 = 1"), 1);
    assert_eq!(world.count("api_keys", "1 = 1") + world.count("admins", "1 = 1"), 0);
}

pub(crate) fn a_database_with_an_admin_is_left_alone(world: &World) {
    world.execute(
        "INSERT INTO admins (email_lower, password_hash, role, created_at, disabled_at) \
         VALUES ('gone@example.com', 'hash', 'member', 1, 2)",
    );
    assert_eq!(installation(world).fill(&first()).unwrap(), None);
    assert_eq!(world.count("apps", "1 = 1"), 0);
}

pub(crate) fn all_is_stored_or_nothing(world: &World) {
    let mut twice = first();
    twice.keys[1].0 = twice.keys[0].0;
    assert!(installation(world).fill(&twice).is_err());
    assert_eq!(world.count("apps", "1 = 1") + world.count("api_keys", "1 = 1"), 0);
    assert!(installation(world).fill(&first()).unwrap().is_some());
}

pub(crate) fn of_several_that_start_at_once_one_fills_the_database(world: &World) {
    let together = Barrier::new(4);
    let filled = thread::scope(|scope| {
        let starts: Vec<_> = (0..4)
            .map(|n| {
                // Nothing that a unique rule would refuse.
                let mut first = first();
                first.app.slug = Slug::parse(&format!("first{n}")).unwrap();
                first.owner = AdminEmail::parse(&format!("owner{n}@example.com")).unwrap();
                for key in &mut first.keys {
                    key.0.0[1] = n;
                }
                let (start, together) = (installation(world), &together);
                scope.spawn(move || {
                    together.wait();
                    start.fill(&first).unwrap().is_some()
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).filter(|filled| *filled).count()
    });
    assert_eq!(filled, 1);
    assert_eq!(world.count("apps", "1 = 1"), 1);
}
