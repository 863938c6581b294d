//! The schedule of a batch of jobs: which of them runs next, alongside the runs in the background,
//! and what happens when a signal or the deadline comes. Knows no process: the runner, which calls
//! this, starts jobs.

use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    time::Instant,
};

use tokio::{sync::watch, task::JoinSet};

use super::{
    backend::Ended,
    background::{Background, Begun, RunId, broken},
    error::RunError,
    interrupts::{Signals, quit, until},
    job::Job,
    outcome::Outcome,
};

/// The outcome of a job by its index; nothing if it was stopped.
type Indexed = (usize, Option<Outcome>);

/// A batch of jobs under way.
pub(super) struct Schedule<'a, S> {
    jobs: &'a [Job],
    /// How many may run at a time.
    capacity: usize,
    start: S,
    stop: &'a watch::Sender<bool>,
    background: &'a mut Background,
    outcomes: Vec<Option<Outcome>>,
    /// Indices of jobs that have not started.
    waiting: VecDeque<usize>,
    running: JoinSet<(usize, Ended)>,
    /// Jobs that were begun in the background and are running there.
    begun: HashMap<RunId, usize>,
    failure: Option<RunError>,
}

impl<'a, S, R> Schedule<'a, S>
where
    S: Fn(Job) -> R,
    R: Future<Output = Ended> + Send + 'static,
{
    /// Schedules jobs that `start` runs. All runs receive `stop`.
    pub(super) fn new(
        jobs: &'a [Job],
        capacity: usize,
        start: S,
        stop: &'a watch::Sender<bool>,
        background: &'a mut Background,
    ) -> Self {
        Self {
            jobs,
            capacity,
            start,
            stop,
            background,
            outcomes: vec![None; jobs.len()],
            waiting: VecDeque::new(),
            running: JoinSet::new(),
            begun: HashMap::new(),
            failure: None,
        }
    }

    /// Runs all jobs; `done` sees each outcome as soon as it is there.
    ///
    /// # Errors
    ///
    /// The first error, once nothing runs any more.
    pub(super) async fn run(
        mut self,
        signals: &mut Signals,
        deadline: Option<Instant>,
        done: &mut dyn FnMut(usize, &Outcome),
    ) -> Result<Vec<Outcome>, RunError> {
        self.claim(done);
        loop {
            // After a failure the loop only waits for runs to end: each has processes and folders
            // that are removed with it.
            if self.failure.is_some() {
                self.waiting.clear();
                self.background.clear();
            }
            self.fill();
            if self.is_done() {
                break;
            }
            match self.next(signals, deadline).await {
                Ok(None) => {}
                Ok(Some((index, outcome))) => {
                    if let Some(outcome) = &outcome {
                        done(index, outcome);
                    }
                    // A stopped run has no outcome; then there is a failure to report, too.
                    self.outcomes[index] = outcome;
                }
                Err(error) => self.fail(error),
            }
        }
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.outcomes.into_iter().flatten().collect()),
        }
    }

    /// Takes runs that were started in the background for jobs of this batch; queues the rest.
    fn claim(&mut self, done: &mut dyn FnMut(usize, &Outcome)) {
        for (index, job) in self.jobs.iter().enumerate() {
            match self.background.ask(job) {
                Begun::Ended(outcome) => {
                    done(index, &outcome);
                    self.outcomes[index] = Some(*outcome);
                }
                Begun::Running(id) => {
                    self.begun.insert(id, index);
                }
                Begun::No => self.waiting.push_back(index),
            }
        }
    }

    /// Starts jobs until no place is free or nothing waits. What runs in the background takes
    /// places, too: time limits hold for so many runs at a time and no more.
    fn fill(&mut self) {
        // First, or a batch as long as the capacity would keep it waiting to the end.
        if self.background.is_pressing() && self.running.len() < self.capacity {
            self.background.start(&self.start);
        }
        while self.running.len() + self.background.running() < self.capacity {
            let Some(index) = self.waiting.pop_front() else {
                // Nobody waits for the following runs, so they take only free places.
                if self.background.start(&self.start) {
                    continue;
                }
                break;
            };
            let run = (self.start)(self.jobs[index].clone());
            self.running.spawn(async move { (index, run.await) });
        }
    }

    /// Whether nothing of this batch runs or waits. After a failure nothing may run in the
    /// background, either: it would hear of the stop and end without an outcome.
    fn is_done(&self) -> bool {
        let is_alone = match self.failure {
            None => self.waiting.is_empty() && self.begun.is_empty(),
            Some(_) => self.background.running() == 0,
        };
        is_alone && self.running.is_empty()
    }

    /// Waits for whatever comes first: the end of a run, which may be one in the background that
    /// nobody asked for, a signal, or the deadline.
    async fn next(
        &mut self,
        signals: &mut Signals,
        deadline: Option<Instant>,
    ) -> Result<Option<Indexed>, RunError> {
        let has_failed = self.failure.is_some();
        tokio::select! {
            // A signal before all else, or many short runs could keep it from being seen.
            biased;
            signal = signals.next() => Err(RunError::Interrupted(signal)),
            () = until(deadline), if !has_failed => Err(RunError::Deadline),
            Some(ended) = self.running.join_next() => {
                let (index, ended) = ended.map_err(broken)?;
                Ok(Some((index, ended?)))
            }
            Some(ended) = self.background.next() => {
                Ok(ended?.and_then(|(id, outcome)| Some((self.begun.remove(&id)?, outcome))))
            }
        }
    }

    /// Stops all runs. A second signal ends minrepro without waiting for that.
    fn fail(&mut self, error: RunError) {
        if let (RunError::Interrupted(signal), Some(RunError::Interrupted(_))) =
            (&error, &self.failure)
        {
            quit(*signal);
        }
        self.stop.send_replace(true);
        // The first failure is the cause of those that follow it.
        self.failure.get_or_insert(error);
    }
}
