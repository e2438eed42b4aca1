//! Managing links.

use std::sync::Arc;

use crate::app::AppId;
use crate::link::{
    CodeChoice, Link, LinkContent, LinkDraft, LinkEdit, LinkFilter, LinkVersion, ShortCode,
};
use crate::page::{Page, PageRequest};
use crate::ports::{
    BodyHash, Clock, CodeSource, IdempotencyKey, Idempotent, Insertion, LinkRepository, Outcome,
    StoreError, UpdateError,
};

/// How many codes are tried for one link. With a billion links a code is taken once in 2,200
/// tries, so five in a row fail less than once in 10^16.
const CANDIDATES: usize = 5;

/// Creates, lists, changes and deletes the links of an app.
#[derive(Clone)]
pub struct Links {
    store: Arc<dyn LinkRepository>,
    codes: Arc<dyn CodeSource>,
    clock: Arc<dyn Clock>,
}

/// A link as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLink {
    /// The code, if the client chose one.
    pub code: Option<ShortCode>,
    /// What it holds.
    pub content: LinkContent,
}

/// Why a link was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Another link has, or had, this code.
    #[error("the short code is taken")]
    CodeTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Links {
    /// The service over a store.
    pub fn new(
        store: Arc<dyn LinkRepository>,
        codes: Arc<dyn CodeSource>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, codes, clock }
    }

    /// Creates one link.
    pub fn create(&self, app: AppId, link: NewLink) -> Result<Link, CreateError> {
        match self.create_all(app, vec![link], None)? {
            Insertion::Fresh(outcomes) => match outcomes.into_iter().next() {
                Some(Outcome::Stored(link)) => Ok(*link),
                Some(Outcome::CodeTaken) | None => Err(CreateError::CodeTaken),
            },
            Insertion::Replayed(_) | Insertion::Mismatch | Insertion::InProgress => {
                Err(StoreError::failed("an answer of a request that had no key").into())
            }
        }
    }

    /// Creates several links at once, each on its own merits; with `once`, at most one time.
    pub fn create_all(
        &self,
        app: AppId,
        links: Vec<NewLink>,
        once: Option<Idempotent>,
    ) -> Result<Insertion, StoreError> {
        let created_at = self.clock.now();
        let drafts: Vec<LinkDraft> = links
            .into_iter()
            .map(|link| LinkDraft {
                app_id: app,
                code: link.code.map_or_else(|| self.generated(), CodeChoice::Own),
                content: link.content,
                created_at,
            })
            .collect();
        self.store.insert(&drafts, once)
    }

    /// The answer to a request that was sent before.
    pub fn earlier_answer(
        &self,
        key: &IdempotencyKey,
        body: BodyHash,
    ) -> Result<Option<Insertion>, StoreError> {
        self.store.find_answer(key, body, self.clock.now())
    }

    /// The app's link with this code.
    pub fn find(&self, app: AppId, code: &ShortCode) -> Result<Option<Link>, StoreError> {
        self.store.find(app, code)
    }

    /// One page of the app's links.
    pub fn page(
        &self,
        app: AppId,
        filter: &LinkFilter,
        page: PageRequest,
    ) -> Result<Page<Link>, StoreError> {
        self.store.page(app, filter, page)
    }

    /// Changes the app's link; `None` without such a link.
    pub fn update(
        &self,
        app: AppId,
        code: &ShortCode,
        edit: LinkEdit,
        expected: Option<Vec<LinkVersion>>,
    ) -> Result<Option<Link>, UpdateError> {
        self.store.update(app, code, edit, expected, self.clock.now())
    }

    /// Deletes the app's link; false without such a link.
    pub fn remove(&self, app: AppId, code: &ShortCode) -> Result<bool, StoreError> {
        self.store.remove(app, code, self.clock.now())
    }

    /// Erases answers that are kept no longer, and says how many.
    pub fn forget_answers(&self) -> Result<usize, StoreError> {
        self.store.forget_answers(self.clock.now())
    }

    fn generated(&self) -> CodeChoice {
        CodeChoice::Generated((0..CANDIDATES).map(|_| self.codes.candidate()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LinkId, Payload};
    use crate::ports::MockLinkRepository;
    use crate::service::setup::tests::FixedClock;

    struct ListedCodes;
    impl CodeSource for ListedCodes {
        fn candidate(&self) -> ShortCode {
            ShortCode::parse("abcdefg").unwrap()
        }
    }

    fn service(store: MockLinkRepository) -> Links {
        Links::new(Arc::new(store), Arc::new(ListedCodes), Arc::new(FixedClock))
    }

    fn content() -> LinkContent {
        LinkContent::new(Payload::parse("{}").unwrap())
    }

    fn stored(draft: &LinkDraft) -> Outcome {
        Outcome::Stored(Box::new(Link {
            id: LinkId(7),
            app_id: draft.app_id,
            code: draft.code.candidates()[0].clone(),
            content: draft.content.clone(),
            version: LinkVersion(1),
            created_at: draft.created_at,
            updated_at: draft.created_at,
        }))
    }

    #[test]
    fn a_link_without_a_code_gets_several_candidates() {
        let mut store = MockLinkRepository::new();
        store
            .expect_insert()
            .withf(|drafts, once| drafts[0].code.candidates().len() == CANDIDATES && once.is_none())
            .once()
            .returning(|drafts, _| Ok(Insertion::Fresh(vec![stored(&drafts[0])])));
        let link =
            service(store).create(AppId(1), NewLink { code: None, content: content() }).unwrap();
        assert_eq!((link.id, link.code.as_str()), (LinkId(7), "abcdefg"));
    }

    #[test]
    fn an_own_code_is_the_only_candidate_and_a_taken_one_is_refused() {
        let mut store = MockLinkRepository::new();
        store
            .expect_insert()
            .withf(|drafts, _| matches!(&drafts[0].code, CodeChoice::Own(code) if code.as_str() == "mine"))
            .once()
            .returning(|_, _| Ok(Insertion::Fresh(vec![Outcome::CodeTaken])));
        let own = Some(ShortCode::parse_own("mine").unwrap());
        let refused = service(store).create(AppId(1), NewLink { code: own, content: content() });
        assert!(matches!(refused, Err(CreateError::CodeTaken)));
    }
}
