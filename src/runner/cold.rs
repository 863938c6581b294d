//! The cold runner: a fresh process for every run, each under a supervisor of its own, and a guard
//! over the session. Owns the session's scratch root and the handling of signals. Called by the
//! oracle's judge and the commands.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinSet,
};

use super::{
    Command, Job, Sandbox, Setup, Start,
    aside::{Aside, Asked, Id, Room, broken},
    capture::until_end,
    environment::{compiler_folder, environment},
    error::RunError,
    outcome::{End, Outcome},
    python,
    sandbox::{self, Bounds, Confinement},
    scratch::{Scratch, Siblings},
    supervise::{Answer, Order, Program, RunLimits, RunOrder, remove, send},
    tree,
    warm::Warm,
};

/// The folder within the session's cache for headers that PyTorch's compiler has compiled.
const HEADERS: &str = "headers";

/// Runs programs, each in a fresh process. Dropping it removes all that is left of the session.
pub struct Runner {
    shared: Arc<Shared>,
    runtime: Runtime,
    signals: Mutex<Vec<(i32, Signal)>>,
    interrupted: Mutex<Option<i32>>,
    deadline: Mutex<Option<Instant>>,
    stop: watch::Sender<bool>,
    aside: Mutex<Aside>,
    guard: UnixStream,
}

/// Process ids of all supervisors and guards of this process, which is one reaper for all its
/// runners.
static HELPERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// What all runs of a session share.
pub(super) struct Shared {
    pub(super) setup: Setup,
    pub(super) root: PathBuf,
    pub(super) siblings: Siblings,
    pub(super) runs: AtomicU64,
    pub(super) warm: Warm,
    confinement: Confinement,
    /// Variables for every run from now on, besides those of the setup.
    variables: Mutex<Vec<(String, String)>>,
    user_environment: Vec<(String, String)>,
    /// The name of the folder for temporary files in which PyTorch's compiler keeps what it finds
    /// again.
    compiler_folder: Option<String>,
}

impl Runner {
    /// Makes the session's scratch root, starts its guard and begins to listen to signals.
    pub fn start(setup: Setup) -> Result<Self, RunError> {
        let temporary = std::env::temp_dir();
        let unprepared = |source| RunError::Scratch {
            folder: temporary.clone(),
            source,
        };
        let siblings = Siblings::of(&setup.script).map_err(unprepared)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunError::Supervisor)?;
        let prefix = format!("minrepro-{}-", std::process::id());
        // The guard removes the root, not this handle, so that it goes even after a kill -9.
        let root = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&temporary)
            .map_err(unprepared)?
            .keep();
        let root = root.canonicalize().map_err(unprepared)?;
        std::fs::create_dir_all(root.join("cache").join(HEADERS)).map_err(unprepared)?;
        if matches!(setup.command, Command::Python { .. }) {
            python::unpack(&root).map_err(unprepared)?;
        }
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let user_environment: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = user_environment.iter().chain(&setup.env).cloned().collect();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let compiler_folder = compiler_folder(&named, &users, rustix::process::getuid().as_raw());
        let mut shared = Shared {
            setup,
            root,
            siblings,
            confinement: Confinement::Off,
            variables: Mutex::default(),
            runs: AtomicU64::new(0),
            warm: Warm::default(),
            user_environment,
            compiler_folder,
        };
        let (guard, signals) = runtime
            .block_on(async {
                let mut signals = Vec::new();
                for kind in [
                    SignalKind::interrupt(),
                    SignalKind::terminate(),
                    SignalKind::hangup(),
                ] {
                    signals.push((kind.as_raw_value(), signal(kind)?));
                }
                Ok((shared.start_guard()?, signals))
            })
            .map_err(RunError::Supervisor)?;
        shared.confinement = runtime.block_on(shared.choose_confinement())?;
        Ok(Self {
            shared: Arc::new(shared),
            runtime,
            signals: Mutex::new(signals),
            interrupted: Mutex::new(None),
            deadline: Mutex::new(None),
            stop: watch::Sender::new(false),
            aside: Mutex::default(),
            guard,
        })
    }

    /// What keeps runs from doing harm.
    pub fn confinement(&self) -> Confinement {
        self.shared.confinement
    }

    /// The command of a run of the file `candidate`, and the folder it is run in.
    pub fn command_line(&self, candidate: &Path) -> Vec<String> {
        self.shared.argv(candidate)
    }

    /// How many runs were warm.
    pub fn forked(&self) -> u64 {
        self.shared
            .warm
            .forked
            .load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Why runs that were to be warm are cold, if they are.
    pub fn why_cold(&self) -> Option<String> {
        self.shared.warm.why_cold()
    }

    /// How long it took to import what warm runs need not import any more; nothing before the first
    /// of them.
    pub fn imports(&self) -> Duration {
        self.shared.warm.imports()
    }

    /// From here on all runs are cold.
    pub fn go_cold(&self, reason: &str) {
        self.shared.warm.give_up(reason);
    }

    /// From then on runs end with [`RunError::Deadline`].
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *lock(&self.deadline) = deadline;
    }

    /// Sets variables for every run from now on, besides those of the setup.
    pub fn set_variables(&self, variables: Vec<(String, String)>) {
        *lock(&self.shared.variables) = variables;
        // What an interpreter looks at when it starts, the warm ones have looked at.
        self.runtime.block_on(self.shared.warm.forget_zygotes());
    }

    /// A file that is to be removed if minrepro is killed.
    pub fn guard_file(&self, path: &Path) {
        // Without its guard a session goes on; only a kill -9 would leave that file.
        let _ = send(&self.guard, &Order::Also(path.to_owned()));
    }

    /// How many jobs run at a time.
    pub fn jobs(&self) -> usize {
        self.shared.setup.jobs.max(1)
    }

    /// Runs all jobs that were not begun, as many at a time as the setup says; `done` sees each
    /// outcome, under its job's index, as soon as it is there. Outcomes come back in the order of
    /// the jobs.
    ///
    /// # Errors
    ///
    /// A run could not be started, a signal came, or the deadline passed. What runs then is ended
    /// first.
    pub fn run_all(
        &self,
        jobs: &[Job],
        done: &mut dyn FnMut(usize, &Outcome),
    ) -> Result<Vec<Outcome>, RunError> {
        if let Some(signal) = *lock(&self.interrupted) {
            return Err(RunError::Interrupted(signal));
        }
        let deadline = *lock(&self.deadline);
        let mut signals = lock(&self.signals);
        let mut aside = lock(&self.aside);
        let result = self.runtime.block_on(async {
            let mut outcomes: Vec<Option<Outcome>> = vec![None; jobs.len()];
            let mut running = JoinSet::new();
            let mut waiting = VecDeque::new();
            let mut begun: HashMap<Id, usize> = HashMap::new();
            for (index, job) in jobs.iter().enumerate() {
                match aside.ask(job) {
                    Asked::Ended(outcome) => {
                        done(index, &outcome);
                        outcomes[index] = Some(*outcome);
                    }
                    Asked::Running(id) => {
                        begun.insert(id, index);
                    }
                    Asked::Open => waiting.push_back(index),
                }
            }
            let start = |job: Job| {
                let (shared, stop) = (Arc::clone(&self.shared), self.stop.subscribe());
                async move { shared.run(&job, stop).await }
            };
            let mut failure: Option<RunError> = None;
            loop {
                if failure.is_some() {
                    waiting.clear();
                    aside.clear();
                }
                if aside.is_pressing() && running.len() < self.jobs() {
                    aside.start(start);
                }
                while running.len() + aside.running() < self.jobs() {
                    let Some(index) = waiting.pop_front() else {
                        if aside.start(start) {
                            continue;
                        }
                        break;
                    };
                    let run = start(jobs[index].clone());
                    running.spawn(async move { (index, run.await) });
                }
                let is_done = match failure {
                    None => waiting.is_empty() && begun.is_empty(),
                    Some(_) => aside.running() == 0,
                };
                if is_done && running.is_empty() {
                    break;
                }
                let ended = tokio::select! {
                    biased;
                    signal = next_signal(&mut signals) => Err(RunError::Interrupted(signal)),
                    () = until(deadline), if failure.is_none() => Err(RunError::Deadline),
                    Some(ended) = running.join_next() => {
                        ended.map_err(broken).and_then(|(index, ended)| Ok(Some((index, ended?))))
                    }
                    Some(ended) = aside.next() => {
                        ended.map(|it| it.and_then(|(id, outcome)| Some((begun.remove(&id)?, outcome))))
                    }
                };
                match ended {
                    Ok(None) => {}
                    Ok(Some((index, outcome))) => {
                        if let Some(outcome) = &outcome {
                            done(index, outcome);
                        }
                        outcomes[index] = outcome;
                    }
                    Err(error) => {
                        if let (RunError::Interrupted(signal), Some(RunError::Interrupted(_))) =
                            (&error, &failure)
                        {
                            // The second signal: now. The guard and the supervisors see the sockets
                            // close and clean up.
                            quit(*signal);
                        }
                        self.stop.send_replace(true);
                        failure.get_or_insert(error);
                    }
                }
            }
            match failure {
                Some(error) => Err(error),
                None => Ok(outcomes.into_iter().flatten().collect()),
            }
        });
        self.stop.send_replace(false);
        if let Err(RunError::Interrupted(signal)) = &result {
            *lock(&self.interrupted) = Some(*signal);
        }
        result
    }

    /// Has a job run beside those that follow, until it is asked for by [`Runner::run_all`]. One
    /// that equals it is not begun again.
    pub fn begin(&self, job: Job, room: Room) {
        lock(&self.aside).begin(job, room);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        remove(&self.shared.root);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::exit, reason = "a second signal means at once")]
fn quit(signal: i32) -> ! {
    std::process::exit(128 + signal)
}

async fn next_signal(signals: &mut [(i32, Signal)]) -> i32 {
    std::future::poll_fn(|context| {
        for (number, signal) in signals.iter_mut() {
            if signal.poll_recv(context).is_ready() {
                return std::task::Poll::Ready(*number);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

impl Shared {
    #[expect(clippy::disallowed_methods, reason = "the runner starts processes")]
    pub(super) fn spawn_helper(
        &self,
        output: impl Fn() -> Stdio,
    ) -> std::io::Result<(tokio::process::Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = tokio::process::Command::new(&self.setup.supervisor)
            .arg("supervise")
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(output())
            .stderr(output())
            // Its own group: a Ctrl-C at the terminal is for minrepro alone.
            .process_group(0)
            .spawn()?;
        lock(&HELPERS).extend(child.id());
        Ok((child, ours))
    }

    fn start_guard(&self) -> std::io::Result<UnixStream> {
        let (guard, socket) = self.spawn_helper(Stdio::null)?;
        send(&socket, &Order::Guard(self.root.clone()))?;
        // The guard outlives its handle on purpose.
        drop(guard);
        Ok(socket)
    }

    /// Tries what this system allows, the best first.
    async fn choose_confinement(&self) -> Result<Confinement, RunError> {
        if self.setup.sandbox == Sandbox::Off {
            return Ok(Confinement::Off);
        }
        let mut reasons = Vec::new();
        let landlock = sandbox::has_landlock();
        let alone = landlock.then_some(Confinement::Landlock);
        for confinement in [Confinement::Namespaces { landlock }]
            .into_iter()
            .chain(alone)
        {
            let bounds = Bounds {
                confinement,
                ..self.bounds(vec![self.root.clone()])
            };
            match self.attempt(bounds).await.map_err(RunError::Supervisor)? {
                Ok(()) => return Ok(confinement),
                Err(reason) => reasons.push(reason),
            }
            if self.setup.sandbox == Sandbox::Require {
                return Err(RunError::NoSandbox(reasons.concat()));
            }
        }
        Ok(Confinement::Unavailable)
    }

    /// Tries one confinement in a process of its own; the reason if it can not be had.
    async fn attempt(&self, bounds: Bounds) -> std::io::Result<Result<(), String>> {
        let (mut supervisor, socket) = self.spawn_helper(Stdio::null)?;
        send(&socket, &Order::Try(bounds))?;
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(socket), &mut answer)?;
        supervisor.wait().await?;
        Ok(match serde_json::from_str(&answer) {
            Ok(Answer::Confined) => Ok(()),
            Ok(Answer::NotStarted(reason)) => Err(reason),
            _ => Err("the process that tried it was killed".to_owned()),
        })
    }

    /// What a run may touch that may write to these folders.
    fn bounds(&self, writable: Vec<PathBuf>) -> Bounds {
        let program = match &self.setup.command {
            Command::Python { python, .. } => Some(python.clone()),
            Command::Test(_) => None,
        };
        let folder = self
            .setup
            .script
            .parent()
            .filter(|it| !it.as_os_str().is_empty());
        Bounds {
            confinement: self.confinement,
            writable,
            readable: program
                .into_iter()
                .chain(folder.map(Path::to_owned))
                .collect(),
            shared_memory: self.setup.limits.memory / 2,
            nests: false,
            sockets: Vec::new(),
        }
    }

    pub(super) fn argv(&self, candidate: &Path) -> Vec<String> {
        let candidate = candidate.to_string_lossy().into_owned();
        match &self.setup.command {
            Command::Python { python, args } => {
                let args = args.iter().map(|arg| arg.to_string_lossy().into_owned());
                [python.to_string_lossy().into_owned(), candidate]
                    .into_iter()
                    .chain(args)
                    .collect()
            }
            Command::Test(words) => words.iter().cloned().chain([candidate]).collect(),
        }
    }

    /// One run; `None` if it was stopped.
    async fn run(
        self: &Arc<Self>,
        job: &Job,
        stop: watch::Receiver<bool>,
    ) -> Result<Option<Outcome>, RunError> {
        let outcome = match job.start {
            // What a warm interpreter has read of its environment, it does not read again.
            _ if !job.variables.is_empty() => None,
            Start::Cold => None,
            Start::Recorded => self.run_recorded(job, &stop).await?,
            Start::Warm => self.run_warm(job, &stop).await?,
        };
        if outcome.is_some() || *stop.borrow() {
            Ok(outcome)
        } else {
            self.run_cold(job, stop).await
        }
    }

    async fn run_cold(
        &self,
        job: &Job,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Option<Outcome>, RunError> {
        let scratch = self.scratch(job)?;
        let order = self
            .run_order(&scratch, job)
            .map_err(|source| RunError::Scratch {
                folder: self.root.clone(),
                source,
            })?;
        let command = order.program.argv.join(" ");
        let (mut supervisor, socket) = self
            .spawn_helper(Stdio::piped)
            .map_err(RunError::Supervisor)?;
        let helper = supervisor.id();
        send(&socket, &Order::Run(Box::new(order))).map_err(RunError::Supervisor)?;
        socket.set_nonblocking(true).map_err(RunError::Supervisor)?;
        let mut socket =
            BufReader::new(tokio::net::UnixStream::from_std(socket).map_err(RunError::Supervisor)?);

        let mut answer = String::new();
        let report = async {
            tokio::select! {
                _ = socket.read_line(&mut answer) => Some(()),
                _ = stop.wait_for(|stop| *stop) => None,
            }
        };
        let streams = (supervisor.stdout.take(), supervisor.stderr.take());
        let (ended, stdout, stderr) =
            until_end(self.setup.limits.output, streams.0, streams.1, report).await;
        drop(socket);
        let _ = supervisor.wait().await;
        {
            let mut helpers = lock(&HELPERS);
            if answer.is_empty() && ended.is_some() {
                tree::end_strays(|pid| helpers.contains(&pid));
            }
            helper.map(|helper| helpers.remove(&helper));
        }
        if ended.is_none() {
            return Ok(None);
        }
        let (end, wall, cpu) = match serde_json::from_str(&answer) {
            Ok(Answer::Ended { end, wall, cpu }) => (end, wall, cpu),
            Ok(Answer::NotStarted(reason)) => return Err(RunError::NotStarted { command, reason }),
            // The program killed its supervisor, which nothing but a KILL does.
            Ok(_) | Err(_) => (End::Signal(9), Duration::ZERO, Duration::ZERO),
        };
        Ok(Some(scratch.outcome(job, (end, wall, cpu), stdout, stderr)))
    }

    /// The folders of one more run.
    pub(super) fn scratch(&self, job: &Job) -> Result<Scratch, RunError> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        Scratch::make(
            &self.root,
            number,
            &self.setup.script,
            &job.source,
            &self.siblings,
        )
        .and_then(|it| self.share_headers(&it.temporary).map(|()| it))
        .map_err(|source| RunError::Scratch {
            folder: self.root.clone(),
            source,
        })
    }

    /// Has a folder for temporary files lead on to the session's cache for what PyTorch's compiler
    /// keeps there.
    pub(super) fn share_headers(&self, temporary: &Path) -> std::io::Result<()> {
        let Some(folder) = &self.compiler_folder else {
            return Ok(());
        };
        std::os::unix::fs::symlink(self.cache().join(HEADERS), temporary.join(folder))
    }

    /// The order to run a job in its folders.
    pub(super) fn run_order(&self, scratch: &Scratch, job: &Job) -> std::io::Result<RunOrder> {
        let mut argv = self.argv(&scratch.candidate);
        if job.traced && matches!(self.setup.command, Command::Python { .. }) {
            let [tracer, out] = [python::tracer(&self.root), scratch.trace()]
                .map(|path| path.to_string_lossy().into_owned());
            let sought = serde_json::to_string(&*job.sought)?;
            let doomed = serde_json::to_string(&*job.doomed)?;
            argv.splice(1..1, [tracer, out, sought, doomed]);
        }
        let Scratch {
            root,
            work,
            temporary,
            ..
        } = scratch;
        let writable = [root.clone(), self.cache()];
        let mut order = self.order(argv, [root, work, temporary], writable.into(), job.timeout);
        order.limits.idle = job.idle;
        for (name, value) in &*job.variables {
            match value {
                Some(value) => order.program.env.insert(name.clone(), value.clone()),
                None => order.program.env.remove(name),
            };
        }
        Ok(order)
    }

    /// The session's cache folder, which all runs share.
    pub(super) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The order to run a command: in which folders (the one whose size is limited, the working
    /// folder, the one for temporary files), with which of all folders writable, for how long if it
    /// had a core to itself.
    pub(super) fn order(
        &self,
        argv: Vec<String>,
        [scratch, work, temporary]: [&Path; 3],
        writable: Vec<PathBuf>,
        timeout: Duration,
    ) -> RunOrder {
        let limits = &self.setup.limits;
        let user = self.user_environment.iter().cloned();
        let own: Vec<_> = self
            .setup
            .env
            .iter()
            .cloned()
            .chain(lock(&self.variables).clone())
            .collect();
        let env = environment(user, &own, work, temporary, &self.cache());
        RunOrder {
            program: Program {
                argv,
                env,
                work: work.to_owned(),
                file_size: limits.file_size,
                inherited: None,
            },
            bounds: self.bounds(writable),
            limits: RunLimits {
                timeout: timeout * oversubscription(self.setup.jobs),
                idle: None,
                memory: limits.memory,
                processes: limits.processes,
                scratch: scratch.to_owned(),
                scratch_size: limits.scratch,
                shows_stack: matches!(self.setup.command, Command::Python { .. }),
            },
        }
    }
}

/// How many runs share a core: time limits are meant for a run that has a core to itself, so that a
/// verdict does not depend on how many run at once.
pub(super) fn oversubscription(jobs: usize) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    jobs.div_ceil(cores).max(1) as u32
}
