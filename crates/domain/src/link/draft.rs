//! A link before it is stored.

use chrono::{DateTime, Utc};

use super::{LinkContent, ShortCode};
use crate::app::AppId;

/// How a new link gets its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeChoice {
    /// The client chose it: taken means refused, never silently replaced.
    Own(ShortCode),
    /// Made by us: the first of these that is free, in this order.
    Generated(Vec<ShortCode>),
}

impl CodeChoice {
    /// The codes to try, in order.
    pub fn candidates(&self) -> &[ShortCode] {
        match self {
            Self::Own(code) => std::slice::from_ref(code),
            Self::Generated(codes) => codes,
        }
    }
}

/// A link that is ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDraft {
    /// The app that will own it.
    pub app_id: AppId,
    /// Its code, or codes to choose from.
    pub code: CodeChoice,
    /// What it holds.
    pub content: LinkContent,
    /// When it is created.
    pub created_at: DateTime<Utc>,
}
