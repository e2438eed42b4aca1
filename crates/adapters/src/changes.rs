//! What other processes change: a feed of forgotten links and apps, and how far memory is trusted.
//!
//! Every change of a link or app leaves a line in the table `changes`, in its own transaction. Each
//! process reads the new lines a few times a second and forgets what they name. Both databases work
//! alike; LISTEN/NOTIFY would know Postgres only, and its commits wait for each other.

mod feed;
mod statements;
mod trust;

pub use feed::follow;
pub(crate) use statements::{ChangeStatements, Changed};
pub use trust::Trust;
