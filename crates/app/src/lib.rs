//! Signpost, the service: API, redirects and click statistics in one binary.
//!
//! The library exists for the binary and for the black-box tests, which start the same service on
//! a free port.

mod admin_api;
mod auth;
mod blocking;
pub mod command;
pub mod config;
mod cors;
mod endpoint;
mod extract;
mod fields;
mod front;
mod health;
mod hosts;
mod inspection;
mod metrics;
mod openapi;
mod pages;
mod private_file;
mod problem;
mod proxies;
mod public_api;
mod rate_limit;
mod request;
pub mod server;
mod visit;
pub mod wiring;
