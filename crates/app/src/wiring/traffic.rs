//! What only the running service has: visits, the click journal and its loader.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use signpost_adapters::classify::UserAgents;
use signpost_adapters::click_journal::{JournalCounts, SegmentJournal};
use signpost_adapters::journal_files::{Journal, JournalOptions, OpenError, Status};
use signpost_adapters::loader::{DeadLetters, Loader, LoaderOptions, LoaderStatus};
use signpost_adapters::system::UuidV7Ids;
use signpost_domain::service::Visits;

use super::Services;
use crate::config::Config;

/// Visits, and the way of their clicks into the database.
pub struct Traffic {
    /// Following links.
    pub(crate) visits: Visits,
    clicks: Arc<SegmentJournal>,
    journal: Arc<Journal>,
    loader: Loader,
}

/// The state of the way that clicks take, for metrics and signs of life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClickFlow {
    pub(crate) counts: JournalCounts,
    pub(crate) is_refusing: bool,
    pub(crate) journal: Status,
    pub(crate) loader: LoaderStatus,
}

impl ClickFlow {
    /// Clicks that are in the journal and not yet in the database.
    pub(crate) fn backlog(&self) -> u64 {
        self.journal.durable.saturating_sub(self.loader.position)
    }
}

/// Where the click journal is.
pub(crate) fn journal_dir(config: &Config) -> PathBuf {
    config.data_dir.join("journal")
}

/// The records that could not be loaded.
pub(crate) fn dead_letters(config: &Config) -> DeadLetters {
    DeadLetters::at(journal_dir(config).join("dead-letters.jsonl"))
}

impl Traffic {
    /// Opens the journal and starts loading it.
    ///
    /// Fails when another process has the journal, when its directory is a copy, or when the disk
    /// takes no files.
    pub fn open(config: &Config, services: &Services) -> Result<Self, OpenError> {
        let options = JournalOptions {
            durability: config.durability,
            max_bytes: config.journal_max_bytes,
            ..JournalOptions::default()
        };
        let dir = journal_dir(config);
        let journal = Arc::new(Journal::open(&dir, options)?);
        let clicks = Arc::new(SegmentJournal::new(journal.clone(), config.click_max_wait));
        let loader = Loader::start(
            journal.clone(),
            services.clicks.clone(),
            Arc::new(UserAgents::new()),
            services.clock.clone(),
            dead_letters(config),
            LoaderOptions::of(config.listen.to_string()),
        )
        .map_err(|source| OpenError::Io { dir, source })?;
        let visits = Visits::new(
            services.lookup.clone(),
            services.directory.clone(),
            clicks.clone(),
            Arc::new(UuidV7Ids),
            services.macs.clone(),
            services.clock.clone(),
            config.address_mode,
        );
        Ok(Self { visits, clicks, journal, loader })
    }

    /// Prepares the calling web worker; the future is to be spawned on its thread.
    pub(crate) fn join_thread(&self) -> impl Future<Output = ()> + use<> {
        self.clicks.join_thread()
    }

    /// How the clicks are flowing.
    pub(crate) fn flow(&self) -> ClickFlow {
        ClickFlow {
            counts: self.clicks.counts(),
            is_refusing: self.clicks.is_refusing(),
            journal: self.journal.status(),
            loader: self.loader.status(),
        }
    }

    /// Waits until all clicks are in the database.
    #[doc(hidden)]
    pub fn settle_for_tests(&self) {
        for _ in 0..6000 {
            if self.flow().backlog() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the clicks did not arrive within a minute");
    }

    /// Brings what waits to the disk, and as much of it as `limit` allows into the database. What
    /// is left is loaded after the next start.
    pub fn stop(&self, limit: Duration) {
        // The loader first takes what is durable; closing before makes all of it durable.
        let is_closed = self.journal.close(limit);
        let is_loaded = self.loader.stop(limit);
        let flow = self.flow();
        tracing::info!(
            is_closed,
            is_loaded,
            backlog = flow.backlog(),
            "the click journal is closed"
        );
    }
}
