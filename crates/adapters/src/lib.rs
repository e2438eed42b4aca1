//! The ports of Signpost implemented: `SQLite` and Postgres through diesel, caches, clocks,
//! classification of user agents, keys and tokens.

pub mod db;
