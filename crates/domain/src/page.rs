//! Pages of a list.

use crate::{Invalid, InvalidCode};

/// Which page of a list, and how long a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    page: u32,
    limit: u32,
}

impl PageRequest {
    /// The last page number that can be asked for; its offset still fits every database's integer.
    pub const MAX_PAGE: u32 = i32::MAX as u32;

    /// A page of a list whose pages hold at most `max_limit` entries.
    pub fn new(page: u32, limit: u32, max_limit: u32) -> Result<Self, PageError> {
        if page == 0 || page > Self::MAX_PAGE {
            return Err(PageError::Page);
        }
        if limit == 0 || limit > max_limit {
            return Err(PageError::Limit { max: max_limit });
        }
        Ok(Self { page, limit })
    }

    /// The page's number, from 1.
    pub fn page(self) -> u32 {
        self.page
    }

    /// How many entries a page holds.
    pub fn limit(self) -> u32 {
        self.limit
    }

    /// How many entries stand before this page.
    pub fn offset(self) -> i64 {
        (i64::from(self.page) - 1) * i64::from(self.limit)
    }

    /// The number of pages of a list with `total` entries.
    pub fn total_pages(self, total: u64) -> u64 {
        total.div_ceil(u64::from(self.limit))
    }
}

/// Which half of a page request is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The page's number.
    #[error("page must be from 1 to {}", PageRequest::MAX_PAGE)]
    Page,
    /// The page's length.
    #[error("limit must be from 1 to {max}")]
    Limit {
        /// The longest page of this list.
        max: u32,
    },
}

impl From<PageError> for Invalid {
    fn from(error: PageError) -> Self {
        Self::new(InvalidCode::OutOfRange, error.to_string())
    }
}

/// One page of a list, with the size of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries of this page.
    pub items: Vec<T>,
    /// How many entries the list has.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_start_at_one_and_limits_are_bounded() {
        assert_eq!(PageRequest::new(0, 20, 100), Err(PageError::Page));
        assert_eq!(PageRequest::new(u32::MAX, 20, 100), Err(PageError::Page));
        assert_eq!(PageRequest::new(1, 0, 100), Err(PageError::Limit { max: 100 }));
        assert_eq!(PageRequest::new(1, 101, 100), Err(PageError::Limit { max: 100 }));
        assert_eq!(PageRequest::new(3, 20, 100).map(PageRequest::offset), Ok(40));
    }

    #[test]
    fn the_last_page_may_be_partly_filled() {
        let page = PageRequest::new(1, 20, 100).unwrap();
        assert_eq!(page.total_pages(0), 0);
        assert_eq!(page.total_pages(57), 3);
        assert_eq!(page.total_pages(60), 3);
    }
}
