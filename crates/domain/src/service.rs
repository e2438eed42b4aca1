//! The services: what can be done, each in terms of the ports alone.

mod analytics;
mod apps;
mod keys;
mod links;
mod sessions;
mod setup;
mod visits;

pub use analytics::{Analytics, LinkRef};
pub use apps::{Apps, CreateAppError};
pub use keys::{AuthenticateError, Keys};
pub use links::{CreateError, Links, NewLink};
pub use sessions::{Sessions, SessionsError, SignInFrom, Tokens};
pub use setup::{FirstSecrets, Setup};
pub use visits::{Found, Inspection, Lookup, Reply, Visit, Visitor, Visits};
