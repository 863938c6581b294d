//! The warm runner: zygotes, and runs forked from them. A zygote stands for a plan: which modules
//! are imported ahead, and with which variables set. A run that needs another plan says so before
//! it has done anything, and gets another zygote. Whatever can not be had warm is had cold; why is
//! remembered. Called by the runner in `cold`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::unix::{OwnedWriteHalf, pipe},
    process::Child,
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{
    Command, Job,
    capture::until_end,
    cold::{Shared, oversubscription},
    error::RunError,
    nursery::Fork,
    outcome::Outcome,
    python,
    sandbox::{self, Nesting},
    scratch::Scratch,
    supervise::{Answer, Order, send},
};

/// Zygotes kept at a time, beside the one that has imported nothing.
const KEPT: usize = 3;
/// Zygotes that may be lost before the rest is run cold.
const LOSSES: u32 = 3;
/// How long a zygote may take to import everything.
const IMPORTS: Duration = Duration::from_mins(3);

/// A script with one of these asks for what a fork answers otherwise than a fresh interpreter.
const TELLING: &[&str] = &[
    "object.__subclasses__",
    "Exception.__subclasses__",
    "type.__subclasses__",
    "get_freeze_count",
];

const GONE: &str = "its supervisor is gone";

/// Variables, with what they are set to; nothing for those that are removed.
type Change = BTreeMap<String, Option<String>>;

/// What a zygote is to import.
#[derive(Clone, Debug, Default, Serialize)]
struct Plan {
    /// Modules in the order of their first import, each with the environment it was imported in.
    modules: Vec<(String, usize)>,
    /// Environments, as changes of the run's own; the first is none.
    environments: Vec<Change>,
}

/// What a zygote is to import.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Imports {
    Planned(Plan),
    /// What a run imports that is only running now.
    Followed {
        /// Where that is written down, line by line; an empty line is the last.
        followed: PathBuf,
        /// Modules that lie beside the script, which are left to each run.
        beside: BTreeSet<String>,
    },
}

/// What a zygote is told when it starts.
#[derive(Debug, Serialize)]
struct Brief<'a> {
    #[serde(flatten)]
    imports: &'a Imports,
    confinement: Nesting,
}

/// The zygotes of a session.
#[derive(Debug, Default)]
pub(super) struct Warm {
    state: tokio::sync::Mutex<State>,
    /// Why nothing is run warm any more.
    cold: Mutex<Option<String>>,
    runs: AtomicU64,
    /// The milliseconds that a zygote took at most to import what its runs need not import any
    /// more.
    imports: AtomicU64,
    /// Runs that were warm to their end.
    pub(super) forked: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Plans that were recorded; the place is the plan's name.
    plans: Vec<Plan>,
    /// Running zygotes, the latest used last; the one without a plan has imported nothing.
    zygotes: Vec<(Option<usize>, Arc<Zygote>)>,
    started: u64,
    lost: u32,
}

/// A zygote that is ready.
#[derive(Debug)]
struct Zygote {
    orders: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Arc<Mutex<BTreeMap<u64, mpsc::UnboundedSender<Answer>>>>,
    /// Its supervisor; ended when its socket closes.
    _supervisor: Child,
}

/// A zygote that is being started; given up where nobody waits for it.
struct Starting(JoinHandle<Result<Zygote, String>>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How a run that was to be warm ended.
enum Warmly {
    /// It ran.
    Ran(Box<Outcome>),
    /// It was stopped.
    Stopped,
    /// It needs a zygote with these changes of the environment.
    Stale(Change),
    /// It is to be run cold.
    Unfit,
    /// The zygote is gone.
    Lost(String),
}

/// What a child writes down instead of running.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    /// The environment is not as it was when a module was imported.
    Stale(Change),
    /// This run is to be cold.
    Unfit,
    Broken(String),
}

impl Plan {
    /// Whether something is imported in this environment.
    fn fits(&self, wanted: &Change) -> bool {
        self.modules
            .iter()
            .any(|(_, moment)| self.environments[*moment] == *wanted)
    }

    /// The same modules, all imported in one environment.
    fn within(&self, environment: Change) -> Self {
        let mut plan = self.clone();
        plan.environments = vec![Change::new()];
        let moment = usize::from(!environment.is_empty());
        if moment == 1 {
            plan.environments.push(environment);
        }
        plan.modules.iter_mut().for_each(|(_, of)| *of = moment);
        plan
    }
}

impl State {
    /// The plan that fits best: the one used last, or one made for an environment. Where there is
    /// none yet, the first one that did not fit is made anew for that; what does not fit then,
    /// either, is to be recorded.
    fn next_plan(&mut self, tried: &[usize], environment: Option<&Change>) -> Option<usize> {
        let latest = self.zygotes.iter().rev().filter_map(|(plan, _)| *plan);
        let mut plans = latest.chain(0..self.plans.len());
        let fits = |plan: &usize| environment.is_none_or(|wanted| self.plans[*plan].fits(wanted));
        let found = plans.find(|plan| !tried.contains(plan) && fits(plan));
        if let (None, [first], Some(wanted)) = (found, tried, environment) {
            let plan = self.plans[*first].within(wanted.clone());
            self.plans.push(plan);
            return Some(self.plans.len() - 1);
        }
        found
    }
}

impl Warm {
    /// Why nothing is run warm, if nothing is.
    pub(super) fn why_cold(&self) -> Option<String> {
        self.cold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How long it took to import what warm runs share.
    pub(super) fn imports(&self) -> Duration {
        Duration::from_millis(self.imports.load(Ordering::Relaxed))
    }

    /// Lets new zygotes be started in the place of those that run.
    pub(super) async fn forget_zygotes(&self) {
        self.state.lock().await.zygotes.clear();
    }

    /// From here on everything is run cold.
    pub(super) fn give_up(&self, reason: &str) {
        self.cold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| reason.to_owned());
    }
}

impl Shared {
    /// One run that imports everything itself, forked from a zygote that has imported nothing, and
    /// with it the plan for the zygotes to come. The first of those follows the run, and imports
    /// what that does beside it, if runs may be beside each other. `None` if it was stopped, or if
    /// `job` has to be run cold.
    pub(super) async fn run_recorded(
        self: &Arc<Self>,
        job: &Job,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<Outcome>, RunError> {
        let Some(zygote) = self.zygote(None).await? else {
            return Ok(None);
        };
        let scratch = self.scratch(job)?;
        let record = scratch.root.join("imports");
        let unprepared = |source| RunError::Scratch {
            folder: self.root.clone(),
            source,
        };
        let mut written = File::options()
            .create_new(true)
            .append(true)
            .open(&record)
            .map_err(unprepared)?;
        let follower = self.follower(&record, job.timeout).await;
        let ended = self
            .run_in(&zygote, job, &scratch, Some(&record), stop.clone())
            .await?;
        // A line that was not ended, and the end.
        let told = written.write_all(b"\n\n");
        match ended {
            Warmly::Ran(outcome) => {
                let plan = self.plan(&fs::read_to_string(&record).unwrap_or_default());
                let place = {
                    let mut state = self.warm.state.lock().await;
                    state.plans.push(plan);
                    state.plans.len() - 1
                };
                if let Some(mut follower) = follower.filter(|_| told.is_ok()) {
                    let mut stop = stop.clone();
                    let started = tokio::select! {
                        started = &mut follower.0 => started.ok(),
                        _ = stop.wait_for(|stop| *stop) => None,
                    };
                    match started {
                        Some(Ok(zygote)) => {
                            self.warm
                                .state
                                .lock()
                                .await
                                .zygotes
                                .push((Some(place), Arc::new(zygote)));
                        }
                        Some(Err(reason)) => self.warm.give_up(&reason),
                        None => {}
                    }
                }
                Ok(Some(*outcome))
            }
            Warmly::Stopped | Warmly::Stale(_) | Warmly::Unfit => Ok(None),
            Warmly::Lost(reason) => {
                self.lost(&zygote, &reason).await;
                Ok(None)
            }
        }
    }

    /// One run forked from a zygote that has imported what the script imports. `None` if it was
    /// stopped, or if `job` has to be run cold.
    pub(super) async fn run_warm(
        self: &Arc<Self>,
        job: &Job,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<Outcome>, RunError> {
        let text = String::from_utf8_lossy(&job.source);
        if TELLING.iter().any(|it| text.contains(it)) {
            return Ok(None);
        }
        let mut tried = Vec::new();
        let mut environment = None;
        let mut losses = 0;
        // A run that loses two zygotes is to blame for it.
        while losses < 2 {
            let Some(plan) = self
                .warm
                .state
                .lock()
                .await
                .next_plan(&tried, environment.as_ref())
            else {
                return self.run_recorded(job, stop).await;
            };
            let Some(zygote) = self.zygote(Some(plan)).await? else {
                return Ok(None);
            };
            match self
                .run_in(&zygote, job, &self.scratch(job)?, None, stop.clone())
                .await?
            {
                Warmly::Ran(outcome) => {
                    self.warm.forked.fetch_add(1, Ordering::Relaxed);
                    return Ok(Some(*outcome));
                }
                Warmly::Stopped | Warmly::Unfit => return Ok(None),
                Warmly::Stale(change) => {
                    tried.push(plan);
                    environment = Some(change);
                }
                Warmly::Lost(reason) => {
                    self.lost(&zygote, &reason).await;
                    losses += 1;
                }
            }
        }
        Ok(None)
    }

    /// What was imported, as a plan. What lies beside the script is left to each run.
    fn plan(&self, record: &str) -> Plan {
        let mut plan = Plan {
            environments: vec![Change::new()],
            ..Plan::default()
        };
        let beside = self.siblings.modules();
        for line in record.lines() {
            let Ok((module, change)) = serde_json::from_str::<(String, Change)>(line) else {
                continue;
            };
            if module
                .split('.')
                .next()
                .is_some_and(|top| beside.contains(top))
            {
                continue;
            }
            if plan.modules.iter().any(|(name, _)| *name == module) {
                continue;
            }
            let known = plan.environments.iter().position(|it| *it == change);
            let moment = known.unwrap_or_else(|| {
                plan.environments.push(change);
                plan.environments.len() - 1
            });
            plan.modules.push((module, moment));
        }
        plan
    }

    /// The zygote of a plan, started if need be. `None` if nothing can be run warm.
    async fn zygote(
        self: &Arc<Self>,
        plan: Option<usize>,
    ) -> Result<Option<Arc<Zygote>>, RunError> {
        if self.warm.why_cold().is_some() {
            return Ok(None);
        }
        let mut state = self.warm.state.lock().await;
        if let Some(at) = state.zygotes.iter().position(|(of, _)| *of == plan) {
            let entry = state.zygotes.remove(at);
            let zygote = Arc::clone(&entry.1);
            state.zygotes.push(entry);
            return Ok(Some(zygote));
        }
        let number = state.started;
        state.started += 1;
        let blank = || Plan {
            environments: vec![Change::new()],
            ..Plan::default()
        };
        let wanted = plan.map_or_else(blank, |plan| state.plans[plan].clone());
        match self
            .start_zygote(number, &Imports::Planned(wanted), IMPORTS)
            .await
        {
            Ok(zygote) => {
                let zygote = Arc::new(zygote);
                state.zygotes.push((plan, Arc::clone(&zygote)));
                while state
                    .zygotes
                    .iter()
                    .filter(|(plan, _)| plan.is_some())
                    .count()
                    > KEPT
                {
                    let oldest = state.zygotes.iter().position(|(plan, _)| plan.is_some());
                    oldest.map(|at| state.zygotes.remove(at));
                }
                Ok(Some(zygote))
            }
            Err(reason) => {
                self.warm.give_up(&reason);
                Ok(None)
            }
        }
    }

    async fn lost(&self, zygote: &Arc<Zygote>, reason: &str) {
        let mut state = self.warm.state.lock().await;
        let before = state.zygotes.len();
        state.zygotes.retain(|(_, it)| !Arc::ptr_eq(it, zygote));
        if state.zygotes.len() < before {
            state.lost += 1;
            if state.lost >= LOSSES {
                self.warm.give_up(&format!(
                    "the process to fork from was lost {LOSSES} times: {reason}"
                ));
            }
        }
    }

    /// Begins to start a zygote that imports what a run does which is only about to begin, if
    /// nothing is recorded yet and runs may be beside each other.
    async fn follower(self: &Arc<Self>, record: &Path, timeout: Duration) -> Option<Starting> {
        let mut state = self.warm.state.lock().await;
        if self.setup.jobs < 2 || !state.plans.is_empty() {
            return None;
        }
        let number = state.started;
        state.started += 1;
        let imports = Imports::Followed {
            followed: record.to_owned(),
            beside: self.siblings.modules(),
        };
        let shared = Arc::clone(self);
        let limit = IMPORTS + timeout * oversubscription(self.setup.jobs);
        Some(Starting(tokio::spawn(async move {
            shared.start_zygote(number, &imports, limit).await
        })))
    }

    /// Starts a zygote and waits until it has imported everything.
    async fn start_zygote(
        &self,
        number: u64,
        imports: &Imports,
        limit: Duration,
    ) -> Result<Zygote, String> {
        let failed =
            |error: std::io::Error| format!("could not start the process to fork from: {error}");
        if !matches!(self.setup.command, Command::Python { .. }) {
            return Err("a test is a program of its own".to_owned());
        }
        let folder = self.root.join(format!("zygote-{number}"));
        let plan = folder.join("plan.json");
        let temporary = folder.join("tmp");
        // Longer than the path of any run's script, which is to be written over it.
        let name = self.setup.script.file_name().unwrap_or_default();
        let script = folder.join("x".repeat(64)).join(name);
        let argv = self.argv(&script);
        let mut order = self.order(
            argv,
            [&folder, &folder, &temporary],
            vec![self.root.clone()],
            limit,
        );
        order.bounds.nests = true;
        let confinement = order.bounds.nesting(self.root.clone(), self.cache());
        let prepared = || {
            fs::create_dir(&folder)?;
            fs::create_dir(&temporary)?;
            self.share_headers(&temporary)?;
            let brief = serde_json::to_vec(&Brief {
                imports,
                confinement,
            })?;
            File::create_new(&plan)?.write_all(&brief)
        };
        prepared().map_err(failed)?;
        let env = &mut order.program.env;
        if env
            .get("PYTHONHASHSEED")
            .is_none_or(|seed| seed.parse::<u32>().is_err())
        {
            return Err("each run is to have its own `PYTHONHASHSEED`".to_owned());
        }
        let own = env
            .get("PYTHONPATH")
            .map(|own| format!(":{own}"))
            .unwrap_or_default();
        let packages = python::folder(&self.root);
        env.insert(
            "PYTHONPATH".to_owned(),
            format!("{}{own}", packages.display()),
        );
        env.insert("MINREPRO_PLAN".to_owned(), plan.display().to_string());
        let (mut supervisor, socket) = self
            .spawn_helper(std::process::Stdio::piped)
            .map_err(failed)?;
        send(&socket, &Order::Zygote(Box::new(order))).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let (answers, orders) = tokio::net::UnixStream::from_std(socket)
            .map_err(failed)?
            .into_split();
        let mut answers = BufReader::new(answers).lines();
        let streams = (supervisor.stdout.take(), supervisor.stderr.take());
        let report = async {
            let line = tokio::time::timeout(limit, answers.next_line()).await;
            let line = line.ok().and_then(Result::ok).flatten();
            match line.and_then(|line| serde_json::from_str(&line).ok()) {
                Some(Answer::Ready {
                    unfit: None,
                    seconds,
                }) => {
                    self.warm
                        .imports
                        .fetch_max((seconds * 1e3) as u64, Ordering::Relaxed);
                    None
                }
                Some(
                    Answer::Ready {
                        unfit: Some(reason),
                        ..
                    }
                    | Answer::NotStarted(reason),
                ) => Some(reason),
                Some(_) => Some("it ended while it imported".to_owned()),
                None => Some("what it imports takes too long".to_owned()),
            }
        };
        let (unfit, _, said) =
            until_end(self.setup.limits.output, streams.0, streams.1, report).await;
        if let Some(reason) = unfit {
            let last = said
                .text()
                .lines()
                .last()
                .map(|line| format!(": {line}"))
                .unwrap_or_default();
            return Err(format!("{reason}{last}"));
        }
        let waiting: Arc<Mutex<BTreeMap<u64, mpsc::UnboundedSender<Answer>>>> = Arc::default();
        let listeners = Arc::clone(&waiting);
        tokio::spawn(async move {
            let lock = || listeners.lock().unwrap_or_else(PoisonError::into_inner);
            while let Ok(Some(line)) = answers.next_line().await {
                let Ok(answer) = serde_json::from_str(&line) else {
                    continue;
                };
                match answer {
                    Answer::Gone { id, .. } => {
                        if let Some(listener) = lock().get(&id) {
                            let _ = listener.send(answer);
                        }
                    }
                    Answer::Lost(reason) => {
                        for listener in lock().values() {
                            let _ = listener.send(Answer::Lost(reason.clone()));
                        }
                    }
                    _ => {}
                }
            }
            // Whoever still waits sees the channel close.
            lock().clear();
        });
        Ok(Zygote {
            orders: tokio::sync::Mutex::new(orders),
            waiting,
            _supervisor: supervisor,
        })
    }

    /// One run forked from a zygote.
    async fn run_in(
        &self,
        zygote: &Zygote,
        job: &Job,
        scratch: &Scratch,
        record: Option<&Path>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<Warmly, RunError> {
        let unprepared = |source| RunError::Scratch {
            folder: self.root.clone(),
            source,
        };
        let streams = Streams::make(&scratch.root).map_err(unprepared)?;
        let order = self.run_order(scratch, job).map_err(unprepared)?;
        let id = self.warm.runs.fetch_add(1, Ordering::Relaxed);
        let note = scratch.root.join("note");
        let fork = Fork {
            id,
            argv: order.program.argv,
            env: order.program.env,
            work: order.program.work,
            scratch: order.limits.scratch,
            stdout: streams.paths.0.clone(),
            stderr: streams.paths.1.clone(),
            sockets: if order.bounds.confinement.is_whole() {
                sandbox::sockets()
            } else {
                Vec::new()
            },
            note: note.clone(),
            record: record.map(Path::to_owned),
            timeout: order.limits.timeout,
            idle: order.limits.idle,
        };
        let (listener, mut answers) = mpsc::unbounded_channel();
        let waiting = || {
            zygote
                .waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        waiting().insert(id, listener);
        let line = serde_json::to_string(&fork)
            .map_err(|error| RunError::Supervisor(error.into()))?
            + "\n";
        if zygote
            .orders
            .lock()
            .await
            .write_all(line.as_bytes())
            .await
            .is_err()
        {
            return Ok(Warmly::Lost(GONE.to_owned()));
        }
        let Streams {
            stdout,
            stderr,
            holders,
            ..
        } = streams;
        let report = async {
            let answer = tokio::select! {
                answer = answers.recv() => Some(answer),
                _ = stop.wait_for(|stop| *stop) => None,
            };
            drop(holders);
            answer
        };
        let (answer, stdout, stderr) =
            until_end(self.setup.limits.output, Some(stdout), Some(stderr), report).await;
        waiting().remove(&id);
        let (end, wall, cpu) = match answer {
            None => {
                // With its socket the zygote's supervisor, and so the run, comes to its end.
                self.warm.forget_zygotes().await;
                return Ok(Warmly::Stopped);
            }
            Some(Some(Answer::Gone { end, wall, cpu, .. })) => (end, wall, cpu),
            Some(Some(Answer::Lost(reason))) => return Ok(Warmly::Lost(reason)),
            Some(_) => return Ok(Warmly::Lost(GONE.to_owned())),
        };
        match fs::read_to_string(&note)
            .ok()
            .and_then(|note| serde_json::from_str(&note).ok())
        {
            Some(Note::Stale(change)) => return Ok(Warmly::Stale(change)),
            Some(Note::Unfit) => return Ok(Warmly::Unfit),
            Some(Note::Broken(reason)) => {
                self.warm
                    .give_up(&format!("a run could not be forked: {reason}"));
                return Ok(Warmly::Lost(reason));
            }
            None => {}
        }
        Ok(Warmly::Ran(Box::new(scratch.outcome(
            job,
            (end, wall, cpu),
            stdout,
            stderr,
        ))))
    }
}

/// The named pipes of a run: read here, and held open until the run has ended, since nobody knows
/// when it opens them.
struct Streams {
    paths: (PathBuf, PathBuf),
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    holders: (pipe::Sender, pipe::Sender),
}

impl Streams {
    fn make(folder: &Path) -> std::io::Result<Self> {
        let make = |name: &str| {
            let path = folder.join(name);
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            let receiver = pipe::OpenOptions::new().open_receiver(&path)?;
            let holder = pipe::OpenOptions::new().open_sender(&path)?;
            std::io::Result::Ok((path, receiver, holder))
        };
        let (out, stdout, out_holder) = make("stdout")?;
        let (err, stderr, err_holder) = make("stderr")?;
        Ok(Self {
            paths: (out, err),
            stdout,
            stderr,
            holders: (out_holder, err_holder),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str) -> Change {
        Change::from([(name.to_owned(), Some("1".to_owned()))])
    }

    #[test]
    fn a_plan_is_made_anew_for_an_environment_once() {
        let modules = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        let environments = vec![Change::new(), change("A"), change("B")];
        let mut state = State::default();
        state.plans.push(Plan {
            modules,
            environments,
        });
        assert_eq!(state.next_plan(&[], None), Some(0));
        for _ in 0..2 {
            assert_eq!(state.next_plan(&[0], Some(&change("C"))), Some(1));
            assert_eq!(state.next_plan(&[0], Some(&Change::new())), Some(2));
        }
        assert_eq!(state.plans.len(), 3);
        for (plan, environment) in [(1, change("C")), (2, Change::new())] {
            let of_module =
                |(_, moment): &(String, usize)| &state.plans[plan].environments[*moment];
            assert!(
                state.plans[plan]
                    .modules
                    .iter()
                    .map(of_module)
                    .all(|it| *it == environment)
            );
            // Who is told of another environment there imports in several.
            assert_eq!(state.next_plan(&[0, plan], Some(&change("D"))), None);
        }
    }
}
