//! The ports of Signpost implemented: `SQLite` and Postgres through diesel, caches, clocks,
//! classification of user agents, keys and tokens.

pub mod access_tokens;
pub mod admins;
pub mod api_keys;
pub mod app_directory;
pub mod apps;
pub mod changes;
pub mod classify;
pub mod click_journal;
pub mod clicks;
pub mod db;
mod flight;
pub mod installation;
pub mod journal_files;
pub mod link_cache;
pub mod links;
pub mod loader;
mod parse;
pub mod passwords;
pub mod secrets;
pub mod system;
#[cfg(feature = "testing")]
pub mod testing;
pub mod token_mac;
