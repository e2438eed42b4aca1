//! Opening and migrating.

use signpost_adapters::db::{Databases, PoolSizes, SchemaState};
use signpost_domain::ports::StoreError;

use crate::world::World;

pub(crate) fn nothing_is_answered_before_the_schema_was_checked(world: &World) {
    let again = Databases::open(world.databases.url(), PoolSizes::default());
    assert!(matches!(again.ping(), Err(StoreError::Unavailable(_))));
    assert_eq!(again.check().unwrap(), SchemaState::Current);
    again.ping().unwrap();
}

pub(crate) fn a_second_migration_finds_nothing_to_do(world: &World) {
    assert_eq!(world.databases.migrate().unwrap(), 0);
}
