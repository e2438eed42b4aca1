//! What an admin learns about a link's clicks.

use std::sync::Arc;

use crate::access::Admin;
use crate::click::{DateRange, Interval, LinkStats, summarize_days};
use crate::link::{Link, LinkId, ShortCode};
use crate::ports::{ClickPage, ClickQuery, ClickRepository, LinkRepository, StoreError};

/// Statistics and clicks of links, for admins.
#[derive(Clone)]
pub struct Analytics {
    links: Arc<dyn LinkRepository>,
    clicks: Arc<dyn ClickRepository>,
    addresses_kept: bool,
}

/// How an admin names a link: by its number or its code. A code never consists of digits alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkRef {
    /// By number.
    Id(LinkId),
    /// By code.
    Code(ShortCode),
}

impl LinkRef {
    /// Reads a path segment; nothing for a text that is neither.
    pub fn parse(text: &str) -> Option<Self> {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().map(|id| Self::Id(LinkId(id)));
        }
        ShortCode::parse(text).ok().map(Self::Code)
    }
}

impl Analytics {
    /// The service over the stores; without kept addresses there are no visitors to tell.
    pub fn new(
        links: Arc<dyn LinkRepository>,
        clicks: Arc<dyn ClickRepository>,
        addresses_kept: bool,
    ) -> Self {
        Self { links, clicks, addresses_kept }
    }

    /// The link an admin names; `None` when it is not there or not for them to see.
    pub fn link(&self, admin: &Admin, named: &LinkRef) -> Result<Option<Link>, StoreError> {
        let link = match named {
            LinkRef::Id(id) => self.links.find_by_id(*id)?,
            LinkRef::Code(code) => self.links.find_by_code(code)?,
        };
        Ok(link.filter(|link| admin.sees(link.app_id)))
    }

    /// The statistics of a link.
    pub fn stats(
        &self,
        link: &Link,
        range: DateRange,
        interval: Interval,
        include_bots: bool,
    ) -> Result<LinkStats, StoreError> {
        let days = self.clicks.days(link.id, range)?.into_iter();
        Ok(summarize_days(days, range, interval, include_bots, self.addresses_kept))
    }

    /// The clicks of a link.
    pub fn clicks(&self, query: &ClickQuery) -> Result<ClickPage, StoreError> {
        self.clicks.page(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{AdminEmail, AdminId, Role};
    use crate::app::AppId;
    use crate::link::{LinkContent, LinkVersion, Payload};
    use crate::ports::{MockClickRepository, MockLinkRepository};
    use crate::service::setup::tests::now;

    #[test]
    fn a_link_is_named_by_number_or_code() {
        assert_eq!(LinkRef::parse("42"), Some(LinkRef::Id(LinkId(42))));
        assert!(matches!(LinkRef::parse("k7Qm2xT"), Some(LinkRef::Code(_))));
        for text in ["", "99999999999999999999", "a b", "-1"] {
            assert_eq!(LinkRef::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_member_does_not_find_the_link_of_an_app_that_is_not_theirs() {
        let mut links = MockLinkRepository::new();
        links.expect_find_by_id().returning(|id| {
            Ok(Some(Link {
                id,
                app_id: AppId(1),
                code: ShortCode::parse("abc").unwrap(),
                content: LinkContent::new(Payload::parse("{}").unwrap()),
                version: LinkVersion(1),
                created_at: now(),
                updated_at: now(),
            }))
        });
        let clicks = Arc::new(MockClickRepository::new());
        let analytics = Analytics::new(Arc::new(links), clicks, true);
        let member = |apps| Admin {
            id: AdminId(1),
            email: AdminEmail::parse("a@b").unwrap(),
            role: Role::Member,
            apps,
            created_at: now(),
        };
        let named = LinkRef::Id(LinkId(1));
        assert!(analytics.link(&member(vec![AppId(1)]), &named).unwrap().is_some());
        assert!(analytics.link(&member(vec![AppId(2)]), &named).unwrap().is_none());
    }
}
