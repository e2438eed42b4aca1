//! All apps in memory, in front of their store.

#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use chrono::{DateTime, Utc};
use signpost_domain::app::{App, AppDraft, AppId, AppPatch, AppSet, Slug};
use signpost_domain::ports::{AppDirectory, AppRepository, SaveAppError, StoreError};

use crate::changes::Trust;
use crate::flight::{Flight, shared};

type AppsFlight = Flight<Arc<AppSet>>;

/// A store of apps that keeps all of them at hand.
///
/// A change through this process is asked for at once, one by another process when the feed of
/// changes tells of it; without a feed, memory is asked again after a second.
pub struct CachedApps {
    store: Arc<dyn AppRepository>,
    memory: RwLock<Memory>,
    trust: Arc<Trust>,
}

#[derive(Default)]
struct Memory {
    apps: Option<Arc<AppSet>>,
    /// `None` when there is reason to doubt the apps.
    checked_at: Option<Instant>,
    /// A flight that is no longer in here was begun before a change: its answer is not kept.
    flight: Option<Arc<AppsFlight>>,
}

impl CachedApps {
    /// A memory in front of `store`, trusted as `trust` says.
    pub fn new(store: Arc<dyn AppRepository>, trust: Arc<Trust>) -> Self {
        Self { store, memory: RwLock::default(), trust }
    }

    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        // The memory is whole between any two statements, so a panic elsewhere did it no harm.
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the apps asked for again after a change that happened, or may have.
    ///
    /// The old ones stay for the time of an outage: without any app no link leads anywhere.
    pub(crate) fn doubt(&self) {
        let mut memory = self.write();
        memory.checked_at = None;
        memory.flight = None;
    }

    /// Ends a flight: keeps its answer, unless it was begun before a change.
    fn land(
        &self,
        flight: &Arc<AppsFlight>,
        answer: Result<&Arc<AppSet>, Arc<StoreError>>,
    ) -> Result<Arc<AppSet>, StoreError> {
        let mut memory = self.write();
        let is_current = memory.flight.as_ref().is_some_and(|now| Arc::ptr_eq(now, flight));
        if is_current {
            memory.flight = None;
        }
        let (apps, checked_at) = match (answer, &memory.apps) {
            (Ok(apps), _) => (apps.clone(), flight.begun()),
            // Trusted again for a while, or every visit during an outage would wait for the
            // store's silence.
            (Err(error), Some(apps)) if matches!(*error, StoreError::Unavailable(_)) => {
                (apps.clone(), Instant::now())
            }
            (Err(error), _) => return Err(shared(error)),
        };
        if is_current {
            memory.apps = Some(apps.clone());
            memory.checked_at = Some(checked_at);
        }
        Ok(apps)
    }
}

impl AppDirectory for CachedApps {
    fn in_memory(&self) -> Option<Arc<AppSet>> {
        let memory = self.read();
        let is_fresh = memory.checked_at.is_some_and(|at| self.trust.holds(at));
        memory.apps.clone().filter(|_| is_fresh)
    }

    fn load(&self) -> Result<Arc<AppSet>, StoreError> {
        // Somebody else's flight may have landed since the caller looked.
        if let Some(apps) = self.in_memory() {
            return Ok(apps);
        }
        let flight = self.write().flight.get_or_insert_with(|| Arc::new(AppsFlight::new())).clone();
        let answer = flight.answer(|| Ok(Arc::new(AppSet::new(self.store.list()?))));
        self.land(&flight, answer)
    }
}

impl AppRepository for CachedApps {
    fn insert(&self, draft: &AppDraft) -> Result<App, SaveAppError> {
        let inserted = self.store.insert(draft);
        if !matches!(inserted, Err(SaveAppError::SlugTaken)) {
            self.doubt();
        }
        inserted
    }

    fn find(&self, id: AppId) -> Result<Option<App>, StoreError> {
        self.store.find(id)
    }

    fn find_by_slug(&self, slug: &Slug) -> Result<Option<App>, StoreError> {
        self.store.find_by_slug(slug)
    }

    fn list(&self) -> Result<Vec<App>, StoreError> {
        self.store.list()
    }

    fn update(
        &self,
        id: AppId,
        patch: AppPatch,
        now: DateTime<Utc>,
    ) -> Result<Option<App>, SaveAppError> {
        let updated = self.store.update(id, patch, now);
        if !matches!(updated, Ok(None) | Err(SaveAppError::SlugTaken)) {
            self.doubt();
        }
        updated
    }
}
