//! Rows of apps.

use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};
use signpost_domain::app::{App, AppId, AppName, Host, Slug};

use super::settings;
use crate::db::schema::apps;
use crate::db::{DbError, SEPARATOR, computed_column, moment};

computed_column!(
    /// The hosts of an app in their order.
    HostList of apps: Nullable<Text> =
    "(SELECT string_agg(host, '\n' ORDER BY position) FROM app_hosts WHERE app_id = apps.id)"
);

computed_column!(
    /// True when the app's first host is another app's too.
    SharesHost of apps: Bool =
    "EXISTS (SELECT 1 FROM app_hosts AS own \
     JOIN app_hosts AS theirs ON theirs.host = own.host AND theirs.app_id <> own.app_id \
     JOIN apps AS others ON others.id = theirs.app_id AND others.deleted_at IS NULL \
     WHERE own.app_id = apps.id AND own.position = 0)"
);

/// An app that was not deleted.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = apps)]
pub(crate) struct AppRow {
    id: i64,
    slug: String,
    name: String,
    #[diesel(select_expression = HostList, select_expression_type = HostList)]
    hosts: Option<String>,
    #[diesel(select_expression = SharesHost, select_expression_type = SharesHost)]
    shares_host: bool,
    settings: String,
    created_at: i64,
    updated_at: i64,
}

impl TryFrom<AppRow> for App {
    type Error = DbError;

    fn try_from(row: AppRow) -> Result<Self, DbError> {
        let hosts = row.hosts.iter().flat_map(|list| list.split(SEPARATOR)).map(Host::parse);
        Ok(Self {
            id: AppId(row.id),
            slug: Slug::parse(&row.slug).map_err(|e| DbError::corrupt("apps", "slug", e))?,
            name: AppName::parse(&row.name).map_err(|e| DbError::corrupt("apps", "name", e))?,
            hosts: hosts
                .collect::<Result<_, _>>()
                .map_err(|e| DbError::corrupt("app_hosts", "host", e))?,
            shares_host: row.shares_host,
            settings: settings::read(&row.settings)?,
            created_at: moment("apps", "created_at", row.created_at)?,
            updated_at: moment("apps", "updated_at", row.updated_at)?,
        })
    }
}
