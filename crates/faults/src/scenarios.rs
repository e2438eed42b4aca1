//! What can go wrong, one function each.

mod backlog;
mod control;
mod damage;
mod full;
mod kill;
mod nodes;
mod order;
mod outage;
mod poison;
mod power;
mod sabotage;
mod strangers;

use crate::Result;
use crate::stage::Stage;
use crate::world::Backend::{Postgres, Sqlite};

/// Something that can go wrong.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Stage<'_>) -> Result<()>,
}

/// All scenarios, in the order in which they run.
pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "control-sqlite",
        about: "nothing goes wrong; embedded database",
        run: |stage| control::run(stage, Sqlite),
    },
    Scenario {
        name: "control-postgres",
        about: "nothing goes wrong; Postgres",
        run: |stage| control::run(stage, Postgres),
    },
    Scenario {
        name: "kill-sqlite",
        about: "kill -9 at random moments under load; embedded database",
        run: |stage| kill::run(stage, Sqlite),
    },
    Scenario {
        name: "kill-postgres",
        about: "kill -9 at random moments under load; Postgres",
        run: |stage| kill::run(stage, Postgres),
    },
    Scenario {
        name: "outage",
        about: "Postgres crashes and comes back, ten times, once for long",
        run: outage::stopped,
    },
    Scenario {
        name: "hang",
        about: "every process of Postgres is frozen, and goes on later",
        run: outage::frozen,
    },
    Scenario {
        name: "nodes",
        about: "two nodes on one Postgres, each killed in turn; changes are seen by the other",
        run: nodes::run,
    },
    Scenario {
        name: "order",
        about: "traced: no redirect leaves before the fdatasync that covers its click",
        run: order::run,
    },
    Scenario {
        name: "power",
        about: "the disk keeps only what was synced, at random moments under load",
        run: power::run,
    },
    Scenario {
        name: "full",
        about: "the disk is full: redirects go on, the loss is counted, space heals it",
        run: full::run,
    },
    Scenario {
        name: "damage",
        about: "a torn tail and flipped bits in the journal cost the damaged records only",
        run: damage::run,
    },
    Scenario {
        name: "poison-sqlite",
        about: "the database refuses some clicks; embedded database",
        run: |stage| poison::run(stage, Sqlite),
    },
    Scenario {
        name: "poison-postgres",
        about: "the database refuses some clicks; Postgres",
        run: |stage| poison::run(stage, Postgres),
    },
    Scenario {
        name: "strangers",
        about: "a second process on the journal and a copy of it are refused",
        run: strangers::run,
    },
    Scenario {
        name: "backlog",
        about: "a restart with a large journal: ready at once, loading while serving",
        run: backlog::run,
    },
    Scenario {
        name: "sabotage-position",
        about: "must be caught: the position is committed before its clicks",
        run: sabotage::position_early,
    },
    Scenario {
        name: "sabotage-skip",
        about: "must be caught: some clicks are not handed to the journal",
        run: sabotage::journal_skipped,
    },
    Scenario {
        name: "sabotage-early",
        about: "must be caught: redirects leave before their clicks are written",
        run: sabotage::released_early,
    },
    Scenario {
        name: "sabotage-fdatasync",
        about: "must be caught: nothing is synced",
        run: sabotage::no_fdatasync,
    },
    Scenario {
        name: "sabotage-power",
        about: "must be caught: nothing is synced, and the power goes",
        run: sabotage::no_fdatasync_and_no_power,
    },
];
