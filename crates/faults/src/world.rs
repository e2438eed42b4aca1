//! A service with its database, its links and its visitors.

mod asking;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cleanup::{self, Litter};
use crate::cluster::Cluster;
use crate::disk::Mount;
use crate::ledger::Ledger;
use crate::load::{Extra, Load, Plan};
use crate::node::{Node, Setup, free_address};
use crate::stage::Stage;
use crate::{Result, fail};

/// How many links the visitors follow.
const LINKS: usize = 20;
/// How many links are there that nobody has followed yet, so that no memory knows them.
const COLD: usize = 60;
/// Longer than any start without a backlog takes on a busy machine.
const START: Duration = Duration::from_mins(1);

/// Where the clicks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// A service with its database, its links and its visitors; all of it goes away with this value.
#[derive(Debug)]
pub(crate) struct World {
    /// The nodes that run; `None` for one that was killed.
    pub(crate) nodes: Vec<Option<Node>>,
    pub(crate) setups: Vec<Setup>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) codes: Vec<String>,
    /// Codes that nobody has followed yet.
    pub(crate) cold: Vec<String>,
    pub(crate) cluster: Option<Cluster>,
    pub(crate) mount: Option<Mount>,
    secrets: Secrets,
    place: TempDir,
}

#[derive(Debug, Default)]
struct Secrets {
    key: String,
    admin: String,
    password: String,
}

impl World {
    /// A fresh world with one node.
    pub(crate) fn build(
        stage: &mut Stage<'_>,
        backend: Backend,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        Self::on(stage, backend, settings, &[], |_| Ok(None))
    }

    /// A fresh world whose first node has its data directory on a disk of its own and is run by a
    /// wrapper.
    pub(crate) fn on(
        stage: &mut Stage<'_>,
        backend: Backend,
        settings: &[(&str, &str)],
        wrapper: &[&str],
        disk: impl FnOnce(&Path) -> Result<Option<Mount>>,
    ) -> Result<Self> {
        let place = tempfile::Builder::new().prefix("signpost-faults.").tempdir()?;
        cleanup::note(Litter::Directory(place.path().to_owned()));
        let cluster = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(Cluster::start()?),
        };
        let run = format!("{:08x}", stage.random.next() >> 32);
        let ledger = Arc::new(Ledger::open(run, &place.path().join("ledger.txt"))?);
        let mut world = Self {
            nodes: Vec::new(),
            setups: Vec::new(),
            ledger,
            codes: (0..LINKS).map(|n| format!("hot-{n}")).collect(),
            cold: (0..COLD).map(|n| format!("cold-{n}")).collect(),
            cluster,
            mount: disk(&place.path().join("data-0"))?,
            secrets: Secrets::default(),
            place,
        };
        world.add_node(stage, settings, wrapper)?;
        world.secrets = world.read_secrets()?;
        for code in world.codes.iter().chain(&world.cold) {
            world.create(code)?;
        }
        Ok(world)
    }

    /// Starts another node with a data directory of its own, and waits until it is ready.
    pub(crate) fn add_node(
        &mut self,
        stage: &mut Stage<'_>,
        settings: &[(&str, &str)],
        wrapper: &[&str],
    ) -> Result<()> {
        let number = self.setups.len();
        let data_dir = self.path(&format!("data-{number}"));
        let database_url = match &self.cluster {
            Some(cluster) => cluster.url(),
            None => format!("sqlite://{}", data_dir.join("signpost.db").display()),
        };
        let mut settings: Vec<(String, String)> =
            settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        if let Some(sabotage) = stage.sabotage {
            settings.push(("SIGNPOST_SABOTAGE".to_owned(), sabotage.to_owned()));
        }
        std::fs::create_dir_all(&data_dir)?;
        self.setups.push(Setup {
            binary: stage.binary().to_owned(),
            data_dir,
            database_url,
            listen: free_address(&mut stage.random)?,
            metrics: free_address(&mut stage.random)?,
            settings,
            wrapper: wrapper.iter().map(|word| (*word).to_owned()).collect(),
            log: self.path(&format!("log-{number}")),
        });
        self.nodes.push(None);
        self.start(number).map(|_| ())
    }

    /// A path in the world's own directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The journal's directory of a node.
    pub(crate) fn journal(&self, number: usize) -> PathBuf {
        self.setups[number].data_dir.join("journal")
    }

    /// A node that runs.
    pub(crate) fn node(&self, number: usize) -> &Node {
        self.nodes[number].as_ref().expect("the scenario asks a node that runs")
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        self.cluster.as_ref().expect("the scenario has asked for Postgres")
    }

    /// Starts a node and waits until it is ready; answers how long that took.
    pub(crate) fn start(&mut self, number: usize) -> Result<Duration> {
        let mut node = Node::start(&self.setups[number])?;
        let took = node.wait_ready(START)?;
        self.nodes[number] = Some(node);
        Ok(took)
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self, number: usize) {
        if let Some(node) = self.nodes[number].take() {
            node.kill();
        }
    }

    /// Ends a node in order.
    pub(crate) fn stop(&mut self, number: usize) -> Result<()> {
        self.nodes[number].take().map_or(Ok(()), Node::stop)
    }

    /// Sends visitors to all nodes.
    pub(crate) fn load(&self, stage: &Stage<'_>, extra: Extra) -> Load {
        self.load_at(stage.settings.rate, extra)
    }

    pub(crate) fn load_at(&self, per_second: u64, extra: Extra) -> Load {
        let plan = Plan {
            targets: self.setups.iter().map(|setup| setup.listen).collect(),
            codes: self.codes.clone(),
            connections: 8,
            per_second,
            extra,
        };
        Load::start(&self.ledger, &plan)
    }

    fn read_secrets(&self) -> Result<Secrets> {
        let path = self.setups[0].data_dir.join("first-run.txt");
        // It is written right after the service has become ready.
        let begun = Instant::now();
        let text = loop {
            match std::fs::read_to_string(&path) {
                Ok(text) if text.contains("password ") => break text,
                Err(error) if begun.elapsed() > START => {
                    return fail(format!("{}: {error}", path.display()));
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
            line.map(|value| value.trim().to_owned())
                .ok_or_else(|| format!("{} names no {name}", path.display()))
        };
        Ok(Secrets {
            key: value("secret key ")?,
            admin: value("admin ")?,
            password: value("password ")?,
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.nodes.clear();
        self.mount = None;
        cleanup::forget(&Litter::Directory(self.place.path().to_owned()));
    }
}
