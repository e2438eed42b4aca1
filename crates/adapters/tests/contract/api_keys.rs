//! API keys.

use chrono::{DateTime, TimeDelta, Utc};
use signpost_adapters::api_keys::SqlApiKeys;
use signpost_domain::access::{ApiKeyDraft, ApiKeyId, KeyName, Scope, Scopes, SecretHash};
use signpost_domain::app::AppId;
use signpost_domain::ports::{ApiKeyRepository, StoreError};

use crate::world::World;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_767_603_600_123_456).unwrap()
}

fn keys(world: &World) -> SqlApiKeys {
    world.insert_apps(2);
    SqlApiKeys::new(world.databases.api.clone())
}

fn draft(app: i64, hash: u8) -> ApiKeyDraft {
    ApiKeyDraft {
        app_id: AppId(app),
        hash: SecretHash([hash; 32]),
        prefix: "sp_live_1234".to_owned(),
        name: KeyName::parse("Bäckend ☃").unwrap(),
        scopes: Scopes::new([Scope::LinksWrite, Scope::LinksRead]).unwrap(),
        created_at: now(),
        expires_at: Some(now() + TimeDelta::days(1)),
    }
}

pub(crate) fn a_stored_key_is_returned_with_its_number(world: &World) {
    let keys = keys(world);
    let draft = draft(1, 1);
    let key = keys.insert(&draft).unwrap();
    assert!(key.id.0 > 0);
    assert_eq!((key.app_id, &key.prefix, &key.name), (draft.app_id, &draft.prefix, &draft.name));
    assert_eq!((&key.scopes, key.created_at), (&draft.scopes, draft.created_at));
    assert_eq!((key.expires_at, key.revoked_at, key.last_used_at), (draft.expires_at, None, None));
    assert_eq!(keys.find_by_hash(draft.hash).unwrap(), Some(key));
}

pub(crate) fn a_publishable_key_that_never_expires_reads_back(world: &World) {
    let keys = keys(world);
    let scopes = Scopes::new([Scope::SdkResolve]).unwrap();
    let key = keys.insert(&ApiKeyDraft { scopes, expires_at: None, ..draft(1, 1) }).unwrap();
    assert_eq!(keys.find_by_hash(SecretHash([1; 32])).unwrap(), Some(key));
}

pub(crate) fn an_unknown_hash_is_none(world: &World) {
    let keys = keys(world);
    keys.insert(&draft(1, 1)).unwrap();
    assert_eq!(keys.find_by_hash(SecretHash([2; 32])).unwrap(), None);
}

pub(crate) fn revoked_and_expired_keys_are_returned_too(world: &World) {
    let keys = keys(world);
    let expired = ApiKeyDraft { expires_at: Some(now() - TimeDelta::days(1)), ..draft(1, 1) };
    keys.insert(&expired).unwrap();
    assert!(keys.find_by_hash(SecretHash([1; 32])).unwrap().is_some());
    let revoked = keys.insert(&draft(1, 2)).unwrap();
    keys.revoke(revoked.id, now()).unwrap();
    let found = keys.find_by_hash(SecretHash([2; 32])).unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(now()));
    assert_eq!(keys.list(Some(AppId(1))).unwrap().len(), 2);
}

pub(crate) fn keys_are_listed_newest_first_of_one_app_or_of_all(world: &World) {
    let keys = keys(world);
    let id = |app, hash, minutes| {
        let created_at = now() + TimeDelta::minutes(minutes);
        keys.insert(&ApiKeyDraft { created_at, ..draft(app, hash) }).unwrap().id
    };
    let (a, b, c, d) = (id(1, 1, 0), id(2, 2, 5), id(1, 3, 1), id(1, 4, 1));
    let listed =
        |app| -> Vec<ApiKeyId> { keys.list(app).unwrap().into_iter().map(|key| key.id).collect() };
    assert_eq!(listed(Some(AppId(1))), [d, c, a]);
    assert_eq!(listed(Some(AppId(2))), [b]);
    assert_eq!(listed(Some(AppId(3))), []);
    assert_eq!(listed(None), [b, d, c, a]);
}

pub(crate) fn revoking_answers_false_without_a_key_of_this_number(world: &World) {
    let keys = keys(world);
    let key = keys.insert(&draft(1, 1)).unwrap();
    assert!(!keys.revoke(ApiKeyId(key.id.0 + 1), now()).unwrap());
    assert!(keys.revoke(key.id, now()).unwrap());
    assert!(keys.revoke(key.id, now()).unwrap());
}

pub(crate) fn the_moment_of_the_first_revocation_stays(world: &World) {
    let keys = keys(world);
    let key = keys.insert(&draft(1, 1)).unwrap();
    keys.revoke(key.id, now()).unwrap();
    keys.revoke(key.id, now() + TimeDelta::days(1)).unwrap();
    assert_eq!(keys.list(None).unwrap()[0].revoked_at, Some(now()));
}

pub(crate) fn a_use_is_noted(world: &World) {
    let keys = keys(world);
    let key = keys.insert(&draft(1, 1)).unwrap();
    let other = keys.insert(&draft(1, 2)).unwrap();
    let later = now() + TimeDelta::minutes(1);
    keys.touch(key.id, now()).unwrap();
    keys.touch(key.id, later).unwrap();
    keys.touch(key.id, now()).unwrap();
    let last_use = |hash| keys.find_by_hash(SecretHash([hash; 32])).unwrap().unwrap().last_used_at;
    assert_eq!((last_use(1), last_use(2)), (Some(later), None));
    keys.touch(ApiKeyId(other.id.0 + 1), now()).unwrap();
}

pub(crate) fn an_impossible_row_is_an_error(world: &World) {
    let keys = keys(world);
    keys.insert(&draft(1, 1)).unwrap();
    for damage in
        ["scopes = 'links:read sdk:resolve'", "scopes = ''", "kind = 'publishable'", "name = ''"]
    {
        world.execute("UPDATE api_keys SET scopes = 'links:read', kind = 'secret', name = 'x'");
        assert!(keys.list(None).is_ok());
        world.execute(&format!("UPDATE api_keys SET {damage}"));
        assert!(matches!(keys.list(None), Err(StoreError::Failed(_))), "{damage}");
    }
}
