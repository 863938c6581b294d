//! Runs in the background: started before anyone asks for them, so that they are done when asked
//! for. Called by `schedule`.

use std::{collections::VecDeque, future::Future};

use tokio::task::{JoinError, JoinSet};

use super::{backend::Ended, error::RunError, job::Job, outcome::Outcome};

/// The number of a run in the background.
pub(super) type RunId = u64;

/// Jobs that were begun and have not been asked for.
#[derive(Default)]
pub(super) struct Background {
    waiting: VecDeque<(Job, Priority)>,
    running: Vec<(RunId, Job)>,
    runs: JoinSet<(RunId, Ended)>,
    ended: Vec<(Job, Outcome)>,
    next: RunId,
}

/// When a run in the background starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Before the runs that are asked for, one such run at a time.
    High,
    /// When they leave a place free.
    Low,
}

/// The state of a job that is asked for.
pub(super) enum Begun {
    /// It was begun and has ended.
    Ended(Box<Outcome>),
    /// It was begun and is running.
    Running(RunId),
    /// It was not begun, or has not started.
    No,
}

impl Background {
    /// Queues a job, unless an equal one was begun.
    pub(super) fn begin(&mut self, job: Job, priority: Priority) {
        // Equal jobs are one question: a second run would only take a place from others.
        let waiting = self.waiting.iter().map(|(job, _)| job);
        let running = self.running.iter().map(|(_, job)| job);
        let ended = self.ended.iter().map(|(job, _)| job);
        if waiting
            .chain(running)
            .chain(ended)
            .any(|begun| *begun == job)
        {
            return;
        }
        match priority {
            Priority::High => self.waiting.push_front((job, priority)),
            Priority::Low => self.waiting.push_back((job, priority)),
        }
    }

    /// Whether a run must start before those that are asked for. Never more than one: background
    /// runs must not take all places from runs that someone waits for.
    pub(super) fn is_pressing(&self) -> bool {
        self.runs.is_empty()
            && self
                .waiting
                .front()
                .is_some_and(|(_, priority)| *priority == Priority::High)
    }

    /// Hands over a job that is asked for: an equal one that is asked for later is another run.
    pub(super) fn ask(&mut self, job: &Job) -> Begun {
        if let Some(at) = self.ended.iter().position(|(ended, _)| ended == job) {
            return Begun::Ended(Box::new(self.ended.swap_remove(at).1));
        }
        if let Some(at) = self.running.iter().position(|(_, running)| running == job) {
            return Begun::Running(self.running.swap_remove(at).0);
        }
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == job) {
            self.waiting.remove(at);
        }
        Begun::No
    }

    /// How many are running, those that were asked for included.
    pub(super) fn running(&self) -> usize {
        self.runs.len()
    }

    /// Starts the next job, if there is one.
    pub(super) fn start<R>(&mut self, run: impl FnOnce(Job) -> R) -> bool
    where
        R: Future<Output = Ended> + Send + 'static,
    {
        let Some((job, _)) = self.waiting.pop_front() else {
            return false;
        };
        // A number, not the job: two equal jobs run at once when one of them was asked for.
        let id = self.next;
        self.next += 1;
        let run = run(job.clone());
        self.running.push((id, job));
        self.runs.spawn(async move { (id, run.await) });
        true
    }

    /// Waits for the next run to end, if any is running; returns its result if it was asked for.
    pub(super) async fn next(
        &mut self,
    ) -> Option<Result<Option<(RunId, Option<Outcome>)>, RunError>> {
        let ended = self.runs.join_next().await?;
        Some(ended.map_err(broken).and_then(|(id, ended)| {
            let outcome = ended?;
            let Some(at) = self.running.iter().position(|(running, _)| *running == id) else {
                // It was asked for while it ran: `ask` has removed it.
                return Ok(Some((id, outcome)));
            };
            let (_, job) = self.running.swap_remove(at);
            self.ended.extend(outcome.map(|outcome| (job, outcome)));
            Ok(None)
        }))
    }

    /// Drops the jobs that have not started.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// A task that panicked or was aborted.
pub(super) fn broken(error: JoinError) -> RunError {
    RunError::Supervisor(std::io::Error::other(error))
}
