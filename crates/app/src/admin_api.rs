//! The Admin API: what the dashboard asks.

pub(crate) mod app_body;
pub(crate) mod app_view;
pub(crate) mod apps;
pub(crate) mod clicks;
mod cookie;
pub(crate) mod sessions;
pub(crate) mod stats;

pub(crate) use apps::{create_app, get_app, list_apps, patch_app};
pub(crate) use clicks::link_clicks;
pub(crate) use sessions::{
    PasswordGate, end_current, end_session, list_sessions, refresh, sign_in,
};
pub(crate) use stats::link_stats;

use signpost_domain::access::Admin;
use signpost_domain::link::Link;
use signpost_domain::service::LinkRef;

use crate::problem::ApiError;
use crate::wiring::Services;

/// The link that a path names, if the admin may see it; blocks.
fn visible_link(services: &Services, admin: &Admin, named: &str) -> Result<Link, ApiError> {
    let named = LinkRef::parse(named).ok_or_else(ApiError::link_not_found)?;
    services.analytics.link(admin, &named)?.ok_or_else(ApiError::link_not_found)
}
