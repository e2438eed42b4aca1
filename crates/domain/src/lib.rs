//! The rules of Signpost, free of I/O: what a link is, where a visitor goes, what a click means,
//! who may do what, and the ports through which these rules reach the outside world.
//!
//! Everything here is a pure function or works through a port (a trait in [`ports`]). There is no
//! clock, no randomness, no database and no async runtime, so every rule is tested with plain
//! `#[test]` functions, either without mocks or with the mocks of the ports.

pub mod access;
pub mod app;
pub mod change;
pub mod click;
pub mod invalid;
pub mod link;
pub mod page;
pub mod ports;
pub mod service;
pub mod time;

pub use change::Change;
pub use invalid::{Invalid, InvalidCode};
