//! The way of a click: journal, loader, database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use signpost_adapters::classify::UserAgents;
use signpost_adapters::click_journal::SegmentJournal;
use signpost_adapters::clicks::SqlClicks;
use signpost_adapters::loader::{DeadLetters, Loader, LoaderOptions};
use signpost_adapters::system::{SystemClock, UuidV7Ids};
use signpost_domain::app::AppId;
use signpost_domain::click::{NewClick, Platform};
use signpost_domain::link::LinkId;
use signpost_domain::ports::{ClickJournal, ClickRepository, Clock, IdSource, Recorded};
use signpost_journal::{Journal, Options};

use crate::world::World;

/// A journal with its loader, as the service has them.
struct Way {
    journal: Arc<Journal>,
    clicks: SegmentJournal,
    store: Arc<dyn ClickRepository>,
    letters: DeadLetters,
}

impl Way {
    fn open(world: &World, dir: &Path) -> Self {
        let options = Options { segment_bytes: 1 << 16, ..Options::default() };
        let journal = Arc::new(Journal::open(dir, options).unwrap());
        Self {
            clicks: SegmentJournal::new(journal.clone(), None),
            journal,
            store: Arc::new(SqlClicks::new(
                world.databases.loader.clone(),
                world.databases.statistics.clone(),
            )),
            letters: DeadLetters::at(dir.join("dead-letters.jsonl")),
        }
    }

    fn loader(&self) -> Loader {
        let options = LoaderOptions {
            batch: 64,
            every: Duration::from_millis(5),
            first_pause: Duration::from_millis(5),
            node: "test".to_owned(),
        };
        let agents = Arc::new(UserAgents::new());
        let (journal, store) = (self.journal.clone(), self.store.clone());
        let (clock, letters) = (Arc::new(SystemClock), self.letters.clone());
        Loader::start(journal, store, agents, clock, letters, options).unwrap()
    }

    /// Visits a link some times, each visit awaited.
    fn visit(&self, link: i64, times: usize, agent: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for _ in 0..times {
            let click = click(link, agent);
            assert_eq!(runtime.block_on(self.clicks.append(click)), Recorded::Durable);
        }
    }

    /// Loads all there is and ends the loader.
    fn load(&self) {
        assert!(self.loader().stop(Duration::from_mins(1)));
    }
}

fn click(link: i64, agent: &str) -> NewClick {
    let at: DateTime<Utc> = SystemClock.now();
    NewClick {
        id: UuidV7Ids.click_id(at),
        link_id: LinkId(link),
        app_id: AppId(1),
        at,
        address: Some([198, 51, 100, 7].into()),
        user_agent: Some(agent.to_owned()),
        referrer: None,
        platform: Platform::Web,
    }
}

fn counted(way: &Way, link: i64) -> u64 {
    let now = SystemClock.now() + TimeDelta::minutes(1);
    let range = signpost_domain::click::DateRange::parse(None, None, now).unwrap();
    let days = way.store.days(LinkId(link), range).unwrap();
    // The short names that these cases send for user agents are those of robots.
    days.iter().map(|(_, day)| day.clicks() + day.bot_clicks()).sum()
}

pub(crate) fn every_click_of_the_journal_is_stored_and_counted_once(world: &World) {
    world.insert_links(2);
    let dir = tempfile::tempdir().unwrap();
    let way = Way::open(world, &dir.path().join("journal"));
    way.visit(1, 300, "Firefox");
    way.visit(2, 100, "Chrome");
    way.load();
    assert_eq!((world.count("clicks", "link_id = 1"), counted(&way, 1)), (300, 300));
    assert_eq!((world.count("clicks", "link_id = 2"), counted(&way, 2)), (100, 100));
    way.load();
    assert_eq!(world.count("clicks", "1 = 1"), 400);
}

pub(crate) fn what_was_left_behind_is_loaded_by_the_next_process(world: &World) {
    world.insert_links(1);
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("journal");
    let way = Way::open(world, &place);
    way.visit(1, 50, "Firefox");
    drop(way);
    let way = Way::open(world, &place);
    way.visit(1, 50, "Firefox");
    way.load();
    assert_eq!((world.count("clicks", "1 = 1"), counted(&way, 1)), (100, 100));
}

pub(crate) fn a_click_that_the_database_refuses_is_set_aside_and_the_rest_goes_on(world: &World) {
    world.insert_links(2);
    let dir = tempfile::tempdir().unwrap();
    let way = Way::open(world, &dir.path().join("journal"));
    world.refuse_clicks_of(2);
    way.visit(1, 40, "Firefox");
    way.visit(2, 1, "Firefox");
    way.visit(1, 40, "Firefox");
    way.load();
    assert_eq!((world.count("clicks", "1 = 1"), counted(&way, 1)), (80, 80));
    let letters = way.letters.read().unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].sequence, 41);
}

pub(crate) fn a_journal_that_went_back_in_time_loses_nothing_new(world: &World) {
    world.insert_links(1);
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("journal");
    let way = Way::open(world, &place);
    way.visit(1, 10, "Firefox");
    way.load();
    // As if a power cut had taken back what the disk had promised to keep.
    world.execute("UPDATE journals SET position = 1000");
    way.visit(1, 10, "Firefox");
    way.load();
    assert_eq!((world.count("clicks", "1 = 1"), counted(&way, 1)), (20, 20));
}

pub(crate) fn loaded_segments_are_deleted(world: &World) {
    world.insert_links(1);
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("journal");
    let way = Way::open(world, &place);
    let agent = "x".repeat(400);
    way.visit(1, 500, &agent);
    let segments = || {
        let files = std::fs::read_dir(&place).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|e| e == "seg")).count()
    };
    assert!(segments() > 3, "{}", segments());
    way.load();
    assert!(segments() <= 2, "{}", segments());
    assert_eq!(world.count("clicks", "1 = 1"), 500);
}
