//! Apps and their settings.

use std::sync::Arc;

use crate::access::Admin;
use crate::app::{App, AppDraft, AppId, AppName, AppPatch, AppSettings, Slug};
use crate::ports::{AppRepository, Clock, SaveAppError, StoreError};

/// Creates, lists and changes apps.
#[derive(Clone)]
pub struct Apps {
    store: Arc<dyn AppRepository>,
    clock: Arc<dyn Clock>,
}

/// Why an app was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateAppError {
    /// The name suggests no slug: it has no Latin letter or digit.
    #[error("the name suggests no slug; name one")]
    SlugNeeded,
    /// Another app has the slug.
    #[error("the slug is taken")]
    SlugTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SaveAppError> for CreateAppError {
    fn from(error: SaveAppError) -> Self {
        match error {
            SaveAppError::SlugTaken => Self::SlugTaken,
            SaveAppError::Store(error) => Self::Store(error),
        }
    }
}

impl Apps {
    /// The service over a store.
    pub fn new(store: Arc<dyn AppRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Creates an app from a name and everything else a patch may say; without a slug, one is made
    /// from the name.
    pub fn create(&self, name: AppName, patch: AppPatch) -> Result<App, CreateAppError> {
        let slug = match patch.slug.clone() {
            Some(slug) => slug,
            None => Slug::from_name(name.as_str()).ok_or(CreateAppError::SlugNeeded)?,
        };
        let now = self.clock.now();
        let blank = App {
            id: AppId(0),
            slug,
            name,
            hosts: Vec::new(),
            shares_host: false,
            settings: AppSettings::default(),
            created_at: now,
            updated_at: now,
        };
        let (slug, name, hosts, settings) = AppPatch { name: None, ..patch }.apply(&blank);
        Ok(self.store.insert(&AppDraft { slug, name, hosts, settings, created_at: now })?)
    }

    /// The app with this number.
    pub fn find(&self, id: AppId) -> Result<Option<App>, StoreError> {
        self.store.find(id)
    }

    /// The app with this slug.
    pub fn find_by_slug(&self, slug: &Slug) -> Result<Option<App>, StoreError> {
        self.store.find_by_slug(slug)
    }

    /// All apps.
    pub fn list(&self) -> Result<Vec<App>, StoreError> {
        self.store.list()
    }

    /// The apps that an admin may see.
    pub fn list_for(&self, admin: &Admin) -> Result<Vec<App>, StoreError> {
        Ok(self.store.list()?.into_iter().filter(|app| admin.sees(app.id)).collect())
    }

    /// Changes an app; `None` without one of this number.
    pub fn update(&self, id: AppId, patch: AppPatch) -> Result<Option<App>, SaveAppError> {
        self.store.update(id, patch, self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockAppRepository;
    use crate::service::setup::tests::FixedClock;

    fn insert_answering(slug: &'static str) -> Apps {
        let mut store = MockAppRepository::new();
        store.expect_insert().withf(move |draft| draft.slug.as_str() == slug).once().returning(
            |draft| Ok(App { slug: draft.slug.clone(), ..App::for_tests(draft.settings.clone()) }),
        );
        Apps::new(Arc::new(store), Arc::new(FixedClock))
    }

    #[test]
    fn the_slug_is_made_from_the_name_unless_given() {
        let name = AppName::parse("My Shop").unwrap();
        assert!(insert_answering("my-shop").create(name.clone(), AppPatch::default()).is_ok());
        let patch = AppPatch { slug: Some(Slug::parse("other").unwrap()), ..AppPatch::default() };
        assert!(insert_answering("other").create(name, patch).is_ok());
    }

    #[test]
    fn a_name_without_latin_letters_needs_a_slug() {
        let apps = Apps::new(Arc::new(MockAppRepository::new()), Arc::new(FixedClock));
        let refused = apps.create(AppName::parse("日本").unwrap(), AppPatch::default());
        assert!(matches!(refused, Err(CreateAppError::SlugNeeded)));
    }
}
