//! Runs beside those that are asked for: begun ahead, and there when they are asked for. Called by
//! the cold runner.

use std::{collections::VecDeque, future::Future};

use tokio::task::{JoinError, JoinSet};

use super::{Job, error::RunError, outcome::Outcome};

/// What came of a run; nothing if it was ended before it was done.
pub(super) type Ended = Result<Option<Outcome>, RunError>;

/// Tells begun runs apart.
pub(super) type Id = u64;

/// What was begun and has not been asked for.
#[derive(Default)]
pub(super) struct Aside {
    waiting: VecDeque<(Job, Room)>,
    running: Vec<(Id, Job)>,
    runs: JoinSet<(Id, Ended)>,
    ended: Vec<(Job, Outcome)>,
    next: Id,
}

/// Where a begun run finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It takes a place of those that are asked for, one such run at a time.
    Among,
    /// It takes a place that they leave free.
    Left,
}

/// How a job stands that is asked for.
pub(super) enum Asked {
    /// It was begun and has ended.
    Ended(Box<Outcome>),
    /// It was begun and is running.
    Running(Id),
    /// It has not been started.
    Open,
}

impl Aside {
    /// Has a job run when there is room, unless an equal one is there.
    pub(super) fn begin(&mut self, job: Job, room: Room) {
        let waiting = self.waiting.iter().map(|(job, _)| job);
        let running = self.running.iter().map(|(_, job)| job);
        let ended = self.ended.iter().map(|(job, _)| job);
        if waiting.chain(running).chain(ended).any(|it| *it == job) {
            return;
        }
        match room {
            Room::Among => self.waiting.push_front((job, room)),
            Room::Left => self.waiting.push_back((job, room)),
        }
    }

    /// Whether a run is to be started before those that are asked for.
    pub(super) fn is_pressing(&self) -> bool {
        self.runs.is_empty()
            && self
                .waiting
                .front()
                .is_some_and(|(_, room)| *room == Room::Among)
    }

    /// Hands over a job that is asked for, so that no other one that equals it is taken for it.
    pub(super) fn ask(&mut self, job: &Job) -> Asked {
        if let Some(at) = self.ended.iter().position(|(it, _)| it == job) {
            return Asked::Ended(Box::new(self.ended.swap_remove(at).1));
        }
        if let Some(at) = self.running.iter().position(|(_, it)| it == job) {
            return Asked::Running(self.running.swap_remove(at).0);
        }
        if let Some(at) = self.waiting.iter().position(|(it, _)| it == job) {
            self.waiting.remove(at);
        }
        Asked::Open
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
        let id = self.next;
        self.next += 1;
        let run = run(job.clone());
        self.running.push((id, job));
        self.runs.spawn(async move { (id, run.await) });
        true
    }

    /// Waits for the next run to end, if any is running; returns what came of it if it was asked
    /// for.
    pub(super) async fn next(&mut self) -> Option<Result<Option<(Id, Option<Outcome>)>, RunError>> {
        let ended = self.runs.join_next().await?;
        Some(ended.map_err(broken).and_then(|(id, ended)| {
            let outcome = ended?;
            let Some(at) = self.running.iter().position(|(it, _)| *it == id) else {
                return Ok(Some((id, outcome)));
            };
            let (_, job) = self.running.swap_remove(at);
            self.ended.extend(outcome.map(|it| (job, it)));
            Ok(None)
        }))
    }

    /// Nothing that waits is started any more.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// A task of ours that did not come to its end.
pub(super) fn broken(error: JoinError) -> RunError {
    RunError::Supervisor(std::io::Error::other(error))
}
