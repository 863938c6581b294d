//! The handle on the runs of a session: starts the session, hands jobs to the schedule, and ends
//! it. Owns the handling of signals and the removal of the session's folder. Called by the judge
//! and the commands.

use std::{
    collections::BTreeMap,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, sync::watch};

use super::{
    backend::{Backend, run_by},
    background::{Background, Priority},
    bounds::Confinement,
    cold::Cold,
    confinement,
    environment::EnvironmentDifference,
    error::RunError,
    helpers,
    interrupts::Signals,
    job::Job,
    orders::{Order, send},
    outcome::Outcome,
    platform,
    recording::Recording,
    removal::remove_until,
    schedule::Schedule,
    setup::{Allowed, Setup},
    warm::Warm,
    workspace::Workspace,
};

/// How long the files of a session are removed at its end.
const REMOVAL: Duration = Duration::from_secs(1);

/// Runs programs. Dropping it removes everything that is left of the session.
pub struct Runner {
    workspace: Arc<Workspace>,
    warm: Arc<Warm>,
    /// Each job is run by the first one that takes it.
    backends: Arc<[Arc<dyn Backend>]>,
    runtime: Runtime,
    signals: Mutex<Signals>,
    interrupted: Mutex<Option<i32>>,
    deadline: Mutex<Option<Instant>>,
    stop: watch::Sender<bool>,
    background: Mutex<Background>,
    recording: Mutex<Option<Recording>>,
    guard: UnixStream,
}

impl Runner {
    /// Makes the session's scratch root, starts its guard and begins to listen to signals.
    pub fn start(setup: Setup) -> Result<Self, RunError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunError::Supervisor)?;
        let mut workspace = Workspace::make(setup)?;
        // Whatever a killed supervisor leaves behind turns up here.
        platform::adopt_orphans();
        let (guard, signals) = runtime
            .block_on(async {
                let signals = Signals::listen()?;
                let guard = helpers::start_guard(&workspace.setup.supervisor, &workspace.root)?;
                Ok((guard, signals))
            })
            .map_err(RunError::Supervisor)?;
        workspace.confinement = runtime.block_on(confinement::choose(&workspace))?;
        let workspace = Arc::new(workspace);
        let warm = Arc::new(Warm::new(Arc::clone(&workspace)));
        if let Some(reason) = platform::ALWAYS_COLD {
            warm.give_up(reason);
        }
        let cold = Cold::new(Arc::clone(&workspace));
        Ok(Self {
            backends: Arc::new([Arc::clone(&warm) as Arc<dyn Backend>, Arc::new(cold)]),
            workspace,
            warm,
            runtime,
            signals: Mutex::new(signals),
            interrupted: Mutex::new(None),
            deadline: Mutex::new(None),
            stop: watch::Sender::new(false),
            background: Mutex::default(),
            recording: Mutex::default(),
            guard,
        })
    }

    /// How runs are kept from doing harm.
    pub fn confinement(&self) -> Confinement {
        self.workspace.confinement
    }

    /// The same in words for people.
    pub fn bounds(&self) -> String {
        self.confinement().describe(self.allowed())
    }

    /// The differences between the environment of runs and the user's.
    pub fn environment_difference(&self) -> EnvironmentDifference {
        self.workspace.difference()
    }

    /// The user's variables that runs get and that may change their behaviour.
    pub fn inherited_variables(&self) -> BTreeMap<String, String> {
        self.workspace.inherited_variables()
    }

    /// The user's script.
    pub fn script(&self) -> &Path {
        &self.workspace.setup.script
    }

    /// The standard input of every run.
    pub fn input(&self) -> Option<&[u8]> {
        self.workspace.setup.input.as_deref()
    }

    /// The additional permissions of confined runs.
    pub fn allowed(&self) -> &Allowed {
        &self.workspace.setup.allowed
    }

    /// The command that runs the file `candidate`.
    pub fn command_line(&self, candidate: &Path) -> Vec<String> {
        self.workspace.argv(candidate)
    }

    /// How many runs were warm.
    pub fn forked(&self) -> u64 {
        self.warm.forked()
    }

    /// The files outside the script's folder that recorded runs imported modules from.
    pub fn imported_files(&self) -> Vec<PathBuf> {
        self.runtime.block_on(self.warm.imported_files())
    }

    /// Why runs that were to be warm are cold, if they are.
    pub fn why_cold(&self) -> Option<String> {
        self.warm.why_cold()
    }

    /// How long the imports that warm runs share took; zero before the first of them.
    pub fn imports(&self) -> Duration {
        self.warm.imports()
    }

    /// From here on all runs are cold.
    pub fn go_cold(&self, reason: &str) {
        self.warm.give_up(reason);
    }

    /// From then on runs end with [`RunError::Deadline`].
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *lock(&self.deadline) = deadline;
    }

    /// When runs end with [`RunError::Deadline`].
    pub fn deadline(&self) -> Option<Instant> {
        *lock(&self.deadline)
    }

    /// Sets variables for every run from now on, besides those of the setup.
    pub fn set_variables(&self, variables: Vec<(String, String)>) {
        self.workspace.set_variables(variables);
        // Warm interpreters have already read the files that an interpreter reads when it starts.
        self.runtime.block_on(self.warm.forget_zygotes());
    }

    /// Registers a file to be removed if minrepro is killed.
    pub fn guard_file(&self, path: &Path) {
        // A session works without its guard. Only a `kill -9` would leave that file.
        let _ = send(&self.guard, &Order::Also(path.to_owned()));
    }

    /// How many jobs run at a time.
    pub fn jobs(&self) -> usize {
        self.workspace.jobs()
    }

    /// Runs all jobs that were not begun, as many at a time as the setup says; `done` sees each
    /// outcome, under its job's index, as soon as it is there. Outcomes come back in the order of
    /// the jobs.
    ///
    /// # Errors
    ///
    /// A run could not be started, a signal came, or the deadline passed. All runs under way are
    /// ended first.
    pub fn run_all(
        &self,
        jobs: &[Job],
        done: &mut dyn FnMut(usize, &Outcome),
    ) -> Result<Vec<Outcome>, RunError> {
        // Not held while others run: `done` may ask for runs of its own.
        let Some(mut recording) = lock(&self.recording).take() else {
            return self.run_anew(jobs, done);
        };
        let result = recording.run_all(jobs, done, |jobs, done| self.run_anew(jobs, done));
        *lock(&self.recording) = Some(recording);
        result
    }

    /// From here on, runs that were made since the last call stand for those of equal jobs, each
    /// once: whoever asks the same again gets the same answers.
    pub fn replay(&self) {
        lock(&self.recording).get_or_insert_default().rewind();
    }

    /// Runs all of these jobs.
    fn run_anew(
        &self,
        jobs: &[Job],
        done: &mut dyn FnMut(usize, &Outcome),
    ) -> Result<Vec<Outcome>, RunError> {
        if let Some(signal) = *lock(&self.interrupted) {
            return Err(RunError::Interrupted(signal));
        }
        let deadline = self.deadline();
        // Held to the end: one batch at a time, or two would share one capacity.
        let mut signals = lock(&self.signals);
        let mut background = lock(&self.background);
        let start = |job: Job| {
            let (backends, stop) = (Arc::clone(&self.backends), self.stop.subscribe());
            async move { run_by(&backends, &job, stop).await }
        };
        let schedule = Schedule::new(jobs, self.jobs(), start, &self.stop, &mut background);
        let result = self
            .runtime
            .block_on(schedule.run(&mut signals, deadline, done));
        // Everything has ended by now; the next batch may run.
        self.stop.send_replace(false);
        if let Err(RunError::Interrupted(signal)) = &result {
            *lock(&self.interrupted) = Some(*signal);
        }
        result
    }

    /// Runs a job in the background while others are run, until [`Runner::run_all`] asks for it.
    /// One that equals it is not begun again.
    pub fn begin(&self, job: Job, priority: Priority) {
        lock(&self.background).begin(job, priority);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // The guard continues removals that take longer.
        let until = Instant::now() + REMOVAL;
        remove_until(&self.workspace.root, Some(until));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
