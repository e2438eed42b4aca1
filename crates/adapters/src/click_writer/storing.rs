//! The thread that stores clicks.

use std::sync::Arc;
use std::time::Duration;

use signpost_domain::click::{Classification, NewClick};
use signpost_domain::ports::{ClickRepository, Recorded, StoreError};
use tokio::sync::oneshot;

use super::Counters;
use super::queue::Queue;
use crate::classify::UserAgents;

pub(super) struct Storing {
    pub(super) store: Arc<dyn ClickRepository>,
    pub(super) agents: Arc<UserAgents>,
    pub(super) queue: Arc<Queue>,
    pub(super) counters: Arc<Counters>,
    pub(super) first_pause: Duration,
}

type Answers = Vec<Option<oneshot::Sender<Recorded>>>;

/// Ends the queue however the thread ends, so that nobody waits for a thread that panicked.
struct EndOnDrop<'a>(&'a Queue);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Storing {
    pub(super) fn run(&self) {
        let _end = EndOnDrop(&self.queue);
        // Not on the first visitor's time.
        self.agents.warm_up();
        while let Some(group) = self.queue.take() {
            let (clicks, mut answers): (Vec<_>, Answers) = group
                .into_iter()
                .map(|waiting| (self.classified(waiting.click), Some(waiting.answer)))
                .unzip();
            if !self.store(&clicks, &mut answers) {
                break;
            }
        }
    }

    fn classified(&self, click: NewClick) -> (NewClick, Classification) {
        let class = self.agents.classify(click.user_agent.as_deref());
        (click, class)
    }

    /// Stores a group, in halves where the whole is refused, so that a click which can't be stored
    /// takes no other with it. False when the time is over before all are settled.
    fn store(&self, clicks: &[(NewClick, Classification)], answers: &mut Answers) -> bool {
        let mut parts: Vec<_> = std::iter::once(0..clicks.len()).collect();
        while let Some(part) = parts.pop() {
            match self.append(&clicks[part.clone()]) {
                None => return false,
                Some(Ok(())) => {
                    Counters::add(&self.counters.recorded, part.len());
                    self.settle(&mut answers[part], Recorded::Durable);
                }
                Some(Err(error)) if part.len() == 1 => {
                    let (click, _) = &clicks[part.start];
                    // Neither address nor user agent belongs into a log.
                    tracing::error!(
                        click = %click.id.0,
                        link = click.link_id.0,
                        error = &error as &dyn std::error::Error,
                        "a click was dropped: the store refuses it"
                    );
                    Counters::add(&self.counters.dropped, 1);
                    self.settle(&mut answers[part], Recorded::Dropped);
                }
                Some(Err(_)) => {
                    let middle = part.start + part.len() / 2;
                    parts.push(middle..part.end);
                    parts.push(part.start..middle);
                }
            }
        }
        true
    }

    /// Tries until the store answers; nothing when the time is over.
    fn append(&self, clicks: &[(NewClick, Classification)]) -> Option<Result<(), StoreError>> {
        let mut pause = self.first_pause;
        loop {
            match self.store.append(clicks) {
                Ok(_) => return Some(Ok(())),
                Err(error @ StoreError::Failed(_)) => return Some(Err(error)),
                Err(error @ StoreError::Unavailable(_)) => {
                    tracing::warn!(
                        clicks = clicks.len(),
                        error = &error as &dyn std::error::Error,
                        "clicks wait in memory: the store is unavailable"
                    );
                }
            }
            if !self.queue.pause(pause) {
                return None;
            }
            pause = (pause * 2).min(self.first_pause * 20);
        }
    }

    fn settle(&self, answers: &mut [Option<oneshot::Sender<Recorded>>], recorded: Recorded) {
        self.queue.settle(answers.len());
        for answer in answers.iter_mut().filter_map(Option::take) {
            // Who stopped waiting has been answered.
            let _ = answer.send(recorded);
        }
    }
}
