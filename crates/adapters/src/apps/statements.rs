//! The statements on apps, once for both backends.

use diesel::prelude::*;
use signpost_domain::app::Host;

use super::row::AppRow;
use crate::changes::ChangeStatements;
use crate::db::schema::{app_hosts, apps};
use crate::db::{Backend, for_both};

/// The statements on apps.
pub(crate) trait AppStatements: Backend + ChangeStatements {
    fn app(&mut self, id: i64) -> QueryResult<Option<AppRow>>;

    fn app_with_slug(&mut self, slug: &str) -> QueryResult<Option<AppRow>>;

    fn apps(&mut self) -> QueryResult<Vec<AppRow>>;

    /// Stores an app and answers its number, or `None` when its slug is in use.
    fn insert_app(&mut self, row: &NewAppRow<'_>) -> QueryResult<Option<i64>>;

    /// Writes what may change of an app.
    fn update_app(&mut self, id: i64, row: &AppColumns<'_>) -> QueryResult<()>;

    /// Replaces the hosts of an app.
    fn set_hosts(&mut self, app: i64, hosts: &[Host]) -> QueryResult<()>;
}

/// What may change of an app.
#[derive(Debug, Insertable, AsChangeset)]
#[diesel(table_name = apps)]
pub(crate) struct AppColumns<'a> {
    pub(super) slug: &'a str,
    pub(super) name: &'a str,
    pub(super) settings: String,
    pub(super) updated_at: i64,
}

/// An app before it has a number.
#[derive(Debug, Insertable)]
#[diesel(table_name = apps)]
pub(crate) struct NewAppRow<'a> {
    #[diesel(embed)]
    pub(super) columns: AppColumns<'a>,
    pub(super) version: i64,
    pub(super) created_at: i64,
}

for_both! {
impl AppStatements {
    fn app(&mut self, id: i64) -> QueryResult<Option<AppRow>> {
        apps::table
            .find(id)
            .filter(apps::deleted_at.is_null())
            .select(AppRow::as_select())
            .first(self)
            .optional()
    }

    fn app_with_slug(&mut self, slug: &str) -> QueryResult<Option<AppRow>> {
        apps::table
            .filter(apps::slug.eq(slug))
            .filter(apps::deleted_at.is_null())
            .select(AppRow::as_select())
            .first(self)
            .optional()
    }

    fn apps(&mut self) -> QueryResult<Vec<AppRow>> {
        apps::table
            .filter(apps::deleted_at.is_null())
            .order(apps::id)
            .select(AppRow::as_select())
            .load(self)
    }

    fn insert_app(&mut self, row: &NewAppRow<'_>) -> QueryResult<Option<i64>> {
        diesel::insert_into(apps::table)
            .values(row)
            .on_conflict(apps::slug)
            .do_nothing()
            .returning(apps::id)
            .get_result(self)
            .optional()
    }

    fn update_app(&mut self, id: i64, row: &AppColumns<'_>) -> QueryResult<()> {
        diesel::update(apps::table.find(id))
            .set((row, apps::version.eq(apps::version + 1)))
            .execute(self)?;
        Ok(())
    }

    fn set_hosts(&mut self, app: i64, hosts: &[Host]) -> QueryResult<()> {
        diesel::delete(app_hosts::table.filter(app_hosts::app_id.eq(app))).execute(self)?;
        let rows: Vec<_> = (0_i64..)
            .zip(hosts)
            .map(|(position, host)| {
                (
                    app_hosts::host.eq(host.as_str()),
                    app_hosts::app_id.eq(app),
                    app_hosts::position.eq(position),
                )
            })
            .collect();
        if !rows.is_empty() {
            diesel::insert_into(app_hosts::table).values(&rows).execute(self)?;
        }
        Ok(())
    }
}
}
