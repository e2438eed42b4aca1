//! Links in memory, in front of their store.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::{DateTime, Utc};
use quick_cache::sync::Cache;
use signpost_domain::app::AppId;
use signpost_domain::link::{
    Link, LinkDraft, LinkEdit, LinkFilter, LinkId, LinkVersion, Route, ShortCode,
};
use signpost_domain::page::{Page, PageRequest};
use signpost_domain::ports::{
    BodyHash, Cached, IdempotencyKey, Idempotent, Insertion, LinkLookup, LinkRepository, Outcome,
    StoreError, UpdateError,
};

use crate::changes::Trust;
use crate::flight::{Flight, shared};
use crate::links::SqlLinks;

/// Where routes come from when memory has none.
pub trait RouteSource: Send + Sync {
    /// The route of a code, or `None` when no link has it.
    fn route(&self, code: &ShortCode) -> Result<Option<Route>, StoreError>;
}

impl RouteSource for SqlLinks {
    fn route(&self, code: &ShortCode) -> Result<Option<Route>, StoreError> {
        SqlLinks::route(self, code)
    }
}

type RouteFlight = Flight<Option<Arc<Route>>>;

/// A store of links that remembers what visits need of them.
///
/// It is the store's decorator, so that every change through this process passes by here and is
/// forgotten at once. A change by another process is forgotten when the feed of changes tells of it;
/// without a feed, memory is asked again after a second.
pub struct CachedLinks {
    store: Arc<dyn LinkRepository>,
    routes: Arc<dyn RouteSource>,
    entries: Cache<ShortCode, Entry>,
    // A flight that is no longer in here was begun before a change: its answer is not kept.
    flights: Mutex<HashMap<ShortCode, Arc<RouteFlight>>>,
    trust: Arc<Trust>,
}

#[derive(Clone)]
struct Entry {
    route: Option<Arc<Route>>,
    /// `None` when there is reason to doubt the entry.
    checked_at: Option<Instant>,
}

impl CachedLinks {
    /// A memory of at most `capacity` codes in front of `store`, filled from `routes` and trusted
    /// as `trust` says.
    pub fn new(
        store: Arc<dyn LinkRepository>,
        routes: Arc<dyn RouteSource>,
        capacity: usize,
        trust: Arc<Trust>,
    ) -> Self {
        let (entries, flights) = (Cache::new(capacity), Mutex::default());
        Self { store, routes, entries, flights, trust }
    }

    /// Forgets a code that another process has changed.
    pub(crate) fn forget_code(&self, code: &ShortCode) {
        self.forget([code]);
    }

    /// Forgets everything, because changes were missed.
    pub(crate) fn forget_all(&self) {
        let mut flights = self.flights();
        flights.clear();
        self.entries.clear();
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<ShortCode, Arc<RouteFlight>>> {
        // The map is whole between any two statements, so a panic elsewhere did it no harm.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets codes after a change.
    fn forget<'a>(&self, codes: impl IntoIterator<Item = &'a ShortCode>) {
        let mut flights = self.flights();
        for code in codes {
            flights.remove(code);
            self.entries.remove(code);
        }
    }

    /// Has codes checked again after a change that may or may not have happened.
    ///
    /// What memory knows stays for the time of an outage, which is when nobody can tell.
    fn doubt<'a>(&self, codes: impl IntoIterator<Item = &'a ShortCode>) {
        let mut flights = self.flights();
        for code in codes {
            flights.remove(code);
            if let Some(entry) = self.entries.peek(code) {
                self.entries.insert(code.clone(), Entry { checked_at: None, ..entry });
            }
        }
    }

    /// Ends a flight: keeps its answer, unless it was begun before a change.
    fn land(
        &self,
        code: &ShortCode,
        flight: &Arc<RouteFlight>,
        answer: Result<&Option<Arc<Route>>, Arc<StoreError>>,
    ) -> Result<Option<Arc<Route>>, StoreError> {
        let mut flights = self.flights();
        let is_current = flights.get(code).is_some_and(|current| Arc::ptr_eq(current, flight));
        if is_current {
            flights.remove(code);
        }
        let (route, checked_at) = match answer {
            Ok(route) => (route.clone(), flight.begun()),
            Err(error) => match self.entries.peek(code).and_then(|entry| entry.route) {
                // Trusted again for a while, or every visit during an outage would wait for the
                // store's silence.
                Some(route) if matches!(*error, StoreError::Unavailable(_)) => {
                    (Some(route), Instant::now())
                }
                _ => return Err(shared(error)),
            },
        };
        if is_current {
            let entry = Entry { route: route.clone(), checked_at: Some(checked_at) };
            self.entries.insert(code.clone(), entry);
        }
        Ok(route)
    }
}

impl LinkLookup for CachedLinks {
    fn in_memory(&self, code: &ShortCode) -> Cached {
        let Some(entry) = self.entries.get(code) else { return Cached::Unknown };
        let Some(checked_at) = entry.checked_at else { return Cached::Unknown };
        match entry.route {
            Some(route) if self.trust.holds(checked_at) => Cached::Known(route),
            // Creations are in no feed, so that something is not there is never known for long.
            None if self.trust.is_recent(checked_at) => Cached::Absent,
            Some(_) | None => Cached::Unknown,
        }
    }

    fn load(&self, code: &ShortCode) -> Result<Option<Arc<Route>>, StoreError> {
        // Somebody else's flight may have landed since the caller looked.
        match self.in_memory(code) {
            Cached::Known(route) => return Ok(Some(route)),
            Cached::Absent => return Ok(None),
            Cached::Unknown => {}
        }
        let flight = self
            .flights()
            .entry(code.clone())
            .or_insert_with(|| Arc::new(RouteFlight::new()))
            .clone();
        let answer = flight.answer(|| Ok(self.routes.route(code)?.map(Arc::new)));
        self.land(code, &flight, answer)
    }
}

impl LinkRepository for CachedLinks {
    fn insert(
        &self,
        drafts: &[LinkDraft],
        once: Option<Idempotent>,
    ) -> Result<Insertion, StoreError> {
        let inserted = self.store.insert(drafts, once);
        match &inserted {
            Ok(Insertion::Fresh(outcomes)) => {
                self.forget(outcomes.iter().filter_map(|outcome| match outcome {
                    Outcome::Stored(link) => Some(&link.code),
                    Outcome::CodeTaken => None,
                }));
            }
            // Whoever stored something has seen to it.
            Ok(Insertion::Replayed(_) | Insertion::Mismatch | Insertion::InProgress) => {}
            Err(_) => self.doubt(drafts.iter().flat_map(|draft| draft.code.candidates())),
        }
        inserted
    }

    fn find_answer(
        &self,
        key: &IdempotencyKey,
        body: BodyHash,
        now: DateTime<Utc>,
    ) -> Result<Option<Insertion>, StoreError> {
        self.store.find_answer(key, body, now)
    }

    fn find(&self, app: AppId, code: &ShortCode) -> Result<Option<Link>, StoreError> {
        self.store.find(app, code)
    }

    fn find_by_id(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.store.find_by_id(id)
    }

    fn find_by_code(&self, code: &ShortCode) -> Result<Option<Link>, StoreError> {
        self.store.find_by_code(code)
    }

    fn page(
        &self,
        app: AppId,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> Result<Page<Link>, StoreError> {
        self.store.page(app, filter, page)
    }

    fn update(
        &self,
        app: AppId,
        code: &ShortCode,
        edit: LinkEdit,
        expected: Option<Vec<LinkVersion>>,
        now: DateTime<Utc>,
    ) -> Result<Option<Link>, UpdateError> {
        let updated = self.store.update(app, code, edit, expected, now);
        match &updated {
            Ok(Some(_)) => self.forget([code]),
            Ok(None) | Err(UpdateError::VersionMismatch) => {}
            Err(UpdateError::Store(_)) => self.doubt([code]),
        }
        updated
    }

    fn forget_answers(&self, now: DateTime<Utc>) -> Result<usize, StoreError> {
        self.store.forget_answers(now)
    }

    fn remove(&self, app: AppId, code: &ShortCode, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let removed = self.store.remove(app, code, now);
        match &removed {
            Ok(true) => self.forget([code]),
            Ok(false) => {}
            Err(_) => self.doubt([code]),
        }
        removed
    }
}
