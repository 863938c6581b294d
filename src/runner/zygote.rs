//! Zygotes, seen from minrepro: an interpreter that has imported what a script imports, and runs
//! forked from it. Its supervisor's socket carries orders one way and replies the other. Called by
//! `warm`; the other side is `python/minrepro_zygote`.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
    process::Child,
    sync::mpsc,
};

use super::{
    backend::Stop,
    capture::until_end,
    error::RunError,
    helpers,
    import_plan::{EnvironmentChange, Imports},
    job::Job,
    orders::{Fork, Order, Reply, RunOrder, send},
    outcome::Outcome,
    platform, python,
    scratch::Scratch,
    setup::Command,
    streams::Streams,
    workspace::Workspace,
};
use crate::files::{Links, read_regular};

const NO_SUPERVISOR: &str = "its supervisor has ended";

/// Replies that name a run go to its listener.
type Listeners = Arc<Mutex<BTreeMap<u64, mpsc::UnboundedSender<Reply>>>>;
/// Replies of a zygote's supervisor.
type Replies = Lines<BufReader<OwnedReadHalf>>;

/// A zygote that is ready.
#[derive(Debug)]
pub(super) struct Zygote {
    orders: tokio::sync::Mutex<OwnedWriteHalf>,
    listeners: Listeners,
    /// How long it took for the imports that its runs need not make again.
    pub(super) imports: Duration,
    /// Ends when its socket closes.
    _supervisor: Child,
}

/// How a run that was to be warm ended.
pub(super) enum ForkEnd {
    /// It ran.
    Ran(Box<Outcome>),
    /// It was stopped.
    Stopped,
    /// It needs a zygote with these changes of the environment.
    Stale(EnvironmentChange),
    /// It must run cold.
    Unfit,
    /// The child could not become a run.
    Broken(String),
    /// The zygote has ended.
    Lost(String),
}

/// A child writes this instead of continuing. The program could write it, too: a note only decides
/// how its own run is repeated.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChildNote {
    /// The environment is not as it was when a module was imported.
    Stale(EnvironmentChange),
    /// This run must be cold.
    Unfit,
}

/// The longest note, in bytes.
const NOTE: u64 = 1 << 20;

/// The input that a zygote reads when it starts.
#[derive(Debug, Serialize)]
struct Brief<'a, C> {
    #[serde(flatten)]
    imports: &'a Imports,
    confinement: C,
}

impl Zygote {
    /// Starts a zygote and waits until it has imported everything.
    ///
    /// # Errors
    ///
    /// Why nothing can be run warm.
    pub(super) async fn start(
        workspace: &Workspace,
        number: u64,
        imports: &Imports,
        limit: Duration,
    ) -> Result<Self, String> {
        let failed =
            |error: io::Error| format!("could not start the process to fork from: {error}");
        let order = order(workspace, number, imports, limit)?;
        let (mut supervisor, socket) =
            helpers::spawn(&workspace.setup.supervisor, std::process::Stdio::piped)
                .map_err(failed)?;
        send(&socket, &Order::Zygote(Box::new(order))).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let (replies, orders) = tokio::net::UnixStream::from_std(socket)
            .map_err(failed)?
            .into_split();
        let mut replies = BufReader::new(replies).lines();
        let streams = (supervisor.stdout.take(), supervisor.stderr.take());
        let mut imports = Duration::ZERO;
        // Nothing is reported of a zygote that is ready: its output stays open.
        let report = async {
            let ready = ready(&mut replies, limit).await;
            ready.map(|time| imports = time).err()
        };
        let output = workspace.setup.limits.output;
        let (unfit, _, stderr) = until_end(output, streams.0, streams.1, report).await;
        if let Some(reason) = unfit {
            return Err(match stderr.text().lines().last() {
                Some(line) => format!("{reason}: {line}"),
                None => reason,
            });
        }
        let listeners = Listeners::default();
        tokio::spawn(hand_out(replies, Arc::clone(&listeners)));
        Ok(Self {
            orders: tokio::sync::Mutex::new(orders),
            listeners,
            imports,
            _supervisor: supervisor,
        })
    }

    /// Forks one run, the `id`th of its session, and waits for its end. With `record` its imports
    /// are noted there.
    pub(super) async fn run(
        &self,
        id: u64,
        workspace: &Workspace,
        job: &Job,
        scratch: &Scratch,
        record: Option<&Path>,
        mut stop: Stop,
    ) -> Result<ForkEnd, RunError> {
        let streams =
            Streams::make(&scratch.root).map_err(|source| workspace.unprepared(source))?;
        let order = workspace
            .run_order(scratch, job)
            .map_err(|source| workspace.unprepared(source))?;
        let fork = fork(id, order, &streams, scratch, record);
        let (listener, mut replies) = mpsc::unbounded_channel();
        // Before the order is sent: the reply may come at once.
        lock(&self.listeners).insert(id, listener);
        let line = serde_json::to_string(&fork)
            .map_err(|error| RunError::Supervisor(error.into()))?
            + "\n";
        let sent = self.orders.lock().await.write_all(line.as_bytes()).await;
        if sent.is_err() {
            return Ok(ForkEnd::Lost(NO_SUPERVISOR.to_owned()));
        }
        let Streams {
            stdout,
            stderr,
            holders,
            ..
        } = streams;
        let report = async {
            let reply = tokio::select! {
                reply = replies.recv() => Some(reply),
                _ = stop.wait_for(|stop| *stop) => None,
            };
            // The pipes end with the run, unless something it left behind holds them.
            drop(holders);
            reply
        };
        let limit = workspace.setup.limits.output;
        let (reply, stdout, stderr) = until_end(limit, Some(stdout), Some(stderr), report).await;
        lock(&self.listeners).remove(&id);
        let end = match reply {
            None => return Ok(ForkEnd::Stopped),
            Some(Some(Reply::Gone { end, timing, .. })) => {
                workspace.after(end);
                (end, timing)
            }
            Some(Some(Reply::Broken { reason, .. })) => return Ok(ForkEnd::Broken(reason)),
            Some(Some(Reply::Lost(reason))) => return Ok(ForkEnd::Lost(reason)),
            Some(_) => return Ok(ForkEnd::Lost(NO_SUPERVISOR.to_owned())),
        };
        // A run that leaves a note is run again from its beginning, so its output is dropped.
        let note = read_regular(&fork.note, Links::Refused, NOTE).ok();
        Ok(
            match note.and_then(|note| serde_json::from_slice(&note).ok()) {
                Some(ChildNote::Stale(change)) => ForkEnd::Stale(change),
                Some(ChildNote::Unfit) => ForkEnd::Unfit,
                None => ForkEnd::Ran(Box::new(scratch.outcome(job, end, stdout, stderr))),
            },
        )
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The order to start a zygote, with its folder prepared.
fn order(
    workspace: &Workspace,
    number: u64,
    imports: &Imports,
    limit: Duration,
) -> Result<RunOrder, String> {
    if !matches!(workspace.setup.command, Command::Python { .. }) {
        return Err("a test is a program of its own".to_owned());
    }
    let root = &workspace.root;
    let folder = root.join(format!("zygote-{number}"));
    let plan = folder.join("plan.json");
    let temporary = folder.join("tmp");
    // Longer than the path of any run's script, which is to be written over it.
    let name = workspace.setup.script.file_name().unwrap_or_default();
    let script = folder.join("x".repeat(64)).join(name);
    let argv = workspace.argv(&script);
    let folders = [folder.as_path(), &folder, &temporary];
    let mut order = workspace.order(argv, folders, vec![root.clone()], limit);
    // It confines each run further, to the run's own folders.
    order.bounds.nests = true;
    let brief = Brief {
        imports,
        confinement: platform::nesting(&order.bounds, root.clone(), workspace.cache()),
    };
    let prepare = || {
        fs::create_dir(&folder)?;
        fs::create_dir(&temporary)?;
        workspace.share_headers(&temporary)?;
        File::create_new(&plan)?.write_all(&serde_json::to_vec(&brief)?)
    };
    prepare()
        .map_err(|error: io::Error| format!("could not start the process to fork from: {error}"))?;
    // A fork cannot change the seed of its hashes, which its interpreter drew when it started.
    let env = &mut order.program.env;
    let seed = env.get("PYTHONHASHSEED");
    if seed.is_none_or(|seed| seed.parse::<u32>().is_err()) {
        return Err("each run is to have its own `PYTHONHASHSEED`".to_owned());
    }
    let mut path = python::folder(root).display().to_string();
    if let Some(own) = env.get("PYTHONPATH") {
        path = format!("{path}:{own}");
    }
    env.insert("PYTHONPATH".to_owned(), path);
    env.insert("MINREPRO_PLAN".to_owned(), plan.display().to_string());
    Ok(order)
}

/// The order to fork a run.
fn fork(
    id: u64,
    order: RunOrder,
    streams: &Streams,
    scratch: &Scratch,
    record: Option<&Path>,
) -> Fork {
    Fork {
        id,
        argv: order.program.argv,
        env: order.program.env,
        work: order.program.work,
        input: order.program.input,
        scratch: order.limits.scratch,
        stdout: streams.paths.0.clone(),
        stderr: streams.paths.1.clone(),
        // Looked up for each run: services start at any time.
        sockets: platform::reachable_sockets(&order.bounds),
        note: scratch.root.join("note"),
        record: record.map(Path::to_owned),
        timeout: order.limits.timeout,
        idle: order.limits.idle,
    }
}

/// Waits until a zygote is ready; returns how long it imported.
async fn ready(replies: &mut Replies, limit: Duration) -> Result<Duration, String> {
    let line = tokio::time::timeout(limit, replies.next_line()).await;
    let line = line.ok().and_then(Result::ok).flatten();
    match line.and_then(|line| serde_json::from_str(&line).ok()) {
        Some(Reply::Ready {
            unfit: None,
            seconds,
        }) => Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        Some(
            Reply::Ready {
                unfit: Some(reason),
                ..
            }
            | Reply::NotStarted(reason),
        ) => Err(reason),
        Some(_) => Err("it ended while it imported".to_owned()),
        None => Err("its imports take too long".to_owned()),
    }
}

/// Hands each reply to the run that it is about, until the supervisor has ended.
async fn hand_out(mut replies: Replies, listeners: Listeners) {
    while let Ok(Some(line)) = replies.next_line().await {
        match serde_json::from_str(&line) {
            Ok(reply @ (Reply::Gone { id, .. } | Reply::Broken { id, .. })) => {
                if let Some(listener) = lock(&listeners).get(&id) {
                    let _ = listener.send(reply);
                }
            }
            Ok(Reply::Lost(reason)) => {
                for listener in lock(&listeners).values() {
                    let _ = listener.send(Reply::Lost(reason.clone()));
                }
            }
            _ => {}
        }
    }
    // Whoever still waits sees the channel close.
    lock(&listeners).clear();
}
