//! The warm backend: runs forked from zygotes. A zygote stands for a plan: which modules are
//! imported ahead, and with which variables set. A run that needs another plan says so before it
//! has done anything, and gets another zygote. A job that cannot run warm is declined, and the
//! reason is remembered.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinHandle;

use super::{
    backend::{Backend, Ended, Running, Stop},
    error::RunError,
    import_plan::{ImportPlan, Imports, next_plan},
    job::{Job, Start},
    scratch::Scratch,
    workspace::Workspace,
    zygote::{ForkEnd, Zygote},
};
use crate::files::{Links, read_regular};

/// Zygotes kept at a time, besides the one that has imported nothing.
const KEPT: usize = 3;
/// Zygotes that may be lost before all jobs are left to the next backend.
const LOSSES: u32 = 3;
/// Zygotes that one run may lose: the second time it is to blame.
const LOSSES_OF_A_RUN: u32 = 2;
/// How long a zygote may take to import everything.
const IMPORTS: Duration = Duration::from_mins(3);

/// The most bytes of a recorded run's imports that are read.
const RECORD: u64 = 8 << 20;

/// A script that contains one of these asks for something that differs between a fork and a fresh
/// interpreter.
const TELLTALES: &[&str] = &[
    "object.__subclasses__",
    "Exception.__subclasses__",
    "type.__subclasses__",
    "get_freeze_count",
];

/// Runs jobs in forks of zygotes.
pub(super) struct Warm {
    workspace: Arc<Workspace>,
    state: tokio::sync::Mutex<State>,
    /// Why nothing is run warm any more.
    why_cold: Mutex<Option<String>>,
    runs: AtomicU64,
    /// The most milliseconds that a zygote took for the imports that its runs need not make again.
    imports: AtomicU64,
    /// Runs that were warm to their end.
    forked: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// The files of modules that recorded runs imported.
    files: BTreeSet<PathBuf>,
    /// Plans that were recorded; the index is the plan's name.
    plans: Vec<ImportPlan>,
    /// Running zygotes, the latest used last; the one without a plan has imported nothing.
    zygotes: Vec<(Option<usize>, Arc<Zygote>)>,
    started: u64,
    lost: u32,
}

/// A zygote that is being started; given up where nobody waits for it.
struct Starting(JoinHandle<Result<Zygote, String>>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl State {
    /// Takes the next zygote's number.
    fn number(&mut self) -> u64 {
        self.started += 1;
        self.started - 1
    }

    /// The running zygote of a plan, which counts as used now.
    fn running(&mut self, plan: Option<usize>) -> Option<Arc<Zygote>> {
        let at = self.zygotes.iter().position(|(of, _)| *of == plan)?;
        let entry = self.zygotes.remove(at);
        let zygote = Arc::clone(&entry.1);
        self.zygotes.push(entry);
        Some(zygote)
    }

    /// Adds a zygote. If there are too many, the least recently used one is removed.
    fn add(&mut self, plan: Option<usize>, zygote: Zygote) -> Arc<Zygote> {
        let zygote = Arc::new(zygote);
        self.zygotes.push((plan, Arc::clone(&zygote)));
        let has_plan = |(plan, _): &(Option<usize>, _)| plan.is_some();
        while self.zygotes.iter().filter(|entry| has_plan(entry)).count() > KEPT {
            let oldest = self.zygotes.iter().position(has_plan);
            // Its runs go on: they hold it, too.
            oldest.map(|at| self.zygotes.remove(at));
        }
        zygote
    }
}

impl Warm {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            workspace,
            state: tokio::sync::Mutex::default(),
            why_cold: Mutex::default(),
            runs: AtomicU64::new(0),
            imports: AtomicU64::new(0),
            forked: AtomicU64::new(0),
        }
    }

    /// Why nothing is run warm, if nothing is.
    pub(super) fn why_cold(&self) -> Option<String> {
        let reason = self.why_cold.lock().unwrap_or_else(PoisonError::into_inner);
        reason.clone()
    }

    /// From here on no job is taken.
    pub(super) fn give_up(&self, reason: &str) {
        self.why_cold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| reason.to_owned());
    }

    /// How long the imports that warm runs share took.
    pub(super) fn imports(&self) -> Duration {
        Duration::from_millis(self.imports.load(Ordering::Relaxed))
    }

    /// The files of modules that recorded runs imported, except those beside the script.
    pub(super) async fn imported_files(&self) -> Vec<PathBuf> {
        self.state.lock().await.files.iter().cloned().collect()
    }

    /// How many runs were warm to their end.
    pub(super) fn forked(&self) -> u64 {
        self.forked.load(Ordering::Relaxed)
    }

    /// Ends all zygotes; new ones are started when they are needed.
    pub(super) async fn forget_zygotes(&self) {
        self.state.lock().await.zygotes.clear();
    }

    /// One run that imports everything itself, forked from a zygote that has imported nothing. It
    /// yields the plan for the zygotes to come. If two processes may run at a time, the first of
    /// these follows the run and makes the same imports at the same time.
    async fn run_recorded(&self, job: &Job, stop: &Stop) -> Ended {
        // Even this run is forked: its imports are noted by the zygote's own import hook.
        let Some(zygote) = self.zygote(None, stop).await else {
            return Ok(None);
        };
        let scratch = self.workspace.scratch(job)?;
        let record = scratch.root.join("imports");
        let mut notes = File::options()
            .create_new(true)
            .append(true)
            .open(&record)
            .map_err(|source| self.workspace.unprepared(source))?;
        // Before the run, so that it misses nothing; the file is there already.
        let follower = self.follower(&record, job.timeout).await;
        let end = self
            .fork(&zygote, job, &scratch, Some(&record), stop)
            .await?;
        let ForkEnd::Ran(outcome) = end else {
            return Ok(None);
        };
        // A run that was killed may have left a line without its end; an empty line is the last.
        let is_closed = notes.write_all(b"\n\n").is_ok();
        let notes = read_regular(&record, Links::Refused, RECORD).unwrap_or_default();
        let notes = String::from_utf8_lossy(&notes);
        let plan = ImportPlan::read(&notes, &self.workspace.stock.modules());
        let place = {
            let mut state = self.state.lock().await;
            // Files beside the script are different files in each run.
            let is_outside = |file: &PathBuf| !file.starts_with(&self.workspace.root);
            state
                .files
                .extend(ImportPlan::files(&notes).filter(is_outside));
            state.plans.push(plan);
            state.plans.len() - 1
        };
        if let Some(follower) = follower.filter(|_| is_closed) {
            self.adopt(follower, place, stop.clone()).await;
        }
        Ok(Some(*outcome))
    }

    /// One run forked from a zygote that has imported the script's imports.
    async fn run_warm(&self, job: &Job, stop: &Stop) -> Ended {
        let text = String::from_utf8_lossy(&job.source);
        if TELLTALES.iter().any(|telltale| text.contains(telltale)) {
            return Ok(None);
        }
        let mut tried = Vec::new();
        let mut environment = None;
        let mut losses = 0;
        while losses < LOSSES_OF_A_RUN {
            // The lock is not held while a run is under way: others choose their plans meanwhile.
            let plan = {
                let mut state = self.state.lock().await;
                let State { plans, zygotes, .. } = &mut *state;
                let latest = zygotes.iter().rev().filter_map(|(plan, _)| *plan);
                next_plan(plans, latest, &tried, environment.as_ref())
            };
            let Some(plan) = plan else {
                return self.run_recorded(job, stop).await;
            };
            let Some(zygote) = self.zygote(Some(plan), stop).await else {
                return Ok(None);
            };
            let scratch = self.workspace.scratch(job)?;
            match self.fork(&zygote, job, &scratch, None, stop).await? {
                ForkEnd::Ran(outcome) => {
                    self.forked.fetch_add(1, Ordering::Relaxed);
                    return Ok(Some(*outcome));
                }
                ForkEnd::Stopped | ForkEnd::Unfit => return Ok(None),
                // The child has noted the environment that it found, so the next plan is chosen for
                // that.
                ForkEnd::Stale(change) => {
                    tried.push(plan);
                    environment = Some(change);
                }
                ForkEnd::Broken(_) | ForkEnd::Lost(_) => losses += 1,
            }
        }
        Ok(None)
    }

    /// One fork of a zygote, with the consequences of its end for the zygotes.
    async fn fork(
        &self,
        zygote: &Arc<Zygote>,
        job: &Job,
        scratch: &Scratch,
        record: Option<&Path>,
        stop: &Stop,
    ) -> Result<ForkEnd, RunError> {
        let id = self.runs.fetch_add(1, Ordering::Relaxed);
        let end = zygote
            .run(id, &self.workspace, job, scratch, record, stop.clone())
            .await?;
        match &end {
            // With its socket the zygote's supervisor, and so the run, comes to its end.
            ForkEnd::Stopped => self.forget_zygotes().await,
            ForkEnd::Broken(reason) => {
                self.give_up(&format!("a run could not be forked: {reason}"));
                self.lose(zygote, reason).await;
            }
            ForkEnd::Lost(reason) => self.lose(zygote, reason).await,
            ForkEnd::Ran(_) | ForkEnd::Stale(_) | ForkEnd::Unfit => {}
        }
        Ok(end)
    }

    /// The zygote of a plan, started if necessary. `None` if nothing can run warm, or all runs must
    /// stop: the imports take seconds.
    async fn zygote(&self, plan: Option<usize>, stop: &Stop) -> Option<Arc<Zygote>> {
        if self.why_cold().is_some() {
            return None;
        }
        // Held while a zygote starts: whoever else wants one waits for it instead of starting
        // another.
        let mut state = self.state.lock().await;
        if let Some(zygote) = state.running(plan) {
            return Some(zygote);
        }
        let number = state.number();
        let wanted = plan.map_or_else(ImportPlan::default, |plan| state.plans[plan].clone());
        let imports = Imports::Planned(wanted);
        let mut stop = stop.clone();
        let started = tokio::select! {
            started = Zygote::start(&self.workspace, number, &imports, IMPORTS) => started,
            _ = stop.wait_for(|stop| *stop) => return None,
        };
        match started {
            Ok(zygote) => {
                self.note_imports(&zygote);
                Some(state.add(plan, zygote))
            }
            Err(reason) => {
                self.give_up(&reason);
                None
            }
        }
    }

    /// Removes a zygote that has ended. After some of them nothing is run warm any more.
    async fn lose(&self, zygote: &Arc<Zygote>, reason: &str) {
        let mut state = self.state.lock().await;
        let before = state.zygotes.len();
        state.zygotes.retain(|(_, kept)| !Arc::ptr_eq(kept, zygote));
        // All runs of a zygote hear of its end; it counts once.
        if state.zygotes.len() < before {
            state.lost += 1;
            if state.lost >= LOSSES {
                self.give_up(&format!(
                    "the process to fork from was lost {LOSSES} times: {reason}"
                ));
            }
        }
    }

    /// Starts a zygote that makes the same imports as a run that is about to begin, if nothing is
    /// recorded yet and two processes may run at a time.
    async fn follower(&self, record: &Path, timeout: Duration) -> Option<Starting> {
        let mut state = self.state.lock().await;
        if self.workspace.setup.jobs < 2 || !state.plans.is_empty() {
            return None;
        }
        let number = state.number();
        let imports = Imports::Followed {
            followed: record.to_owned(),
            beside: self.workspace.stock.modules(),
        };
        let workspace = Arc::clone(&self.workspace);
        // It waits for the run between its imports.
        let limit = IMPORTS + timeout;
        Some(Starting(tokio::spawn(async move {
            Zygote::start(&workspace, number, &imports, limit).await
        })))
    }

    /// Waits for a zygote that followed a run and keeps it for the plan of that run.
    async fn adopt(&self, mut follower: Starting, plan: usize, mut stop: Stop) {
        let started = tokio::select! {
            started = &mut follower.0 => started.ok(),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        match started {
            Some(Ok(zygote)) => {
                self.note_imports(&zygote);
                self.state.lock().await.add(Some(plan), zygote);
            }
            Some(Err(reason)) => self.give_up(&reason),
            None => {}
        }
    }

    fn note_imports(&self, zygote: &Zygote) {
        let time = zygote.imports.as_millis() as u64;
        self.imports.fetch_max(time, Ordering::Relaxed);
    }

    async fn run_job(&self, job: &Job, stop: Stop) -> Ended {
        match job.start {
            // A warm interpreter has read its environment already and does not read it again.
            _ if !job.variables.is_empty()
                || job.artifacts.is_some()
                || job.interpreter.is_some() =>
            {
                Ok(None)
            }
            Start::Cold => Ok(None),
            Start::Recorded => self.run_recorded(job, &stop).await,
            Start::Warm => self.run_warm(job, &stop).await,
        }
    }
}

impl Backend for Warm {
    fn run<'a>(&'a self, job: &'a Job, stop: Stop) -> Running<'a> {
        Box::pin(self.run_job(job, stop))
    }
}
