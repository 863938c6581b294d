//! The process that watches over one run, or over a whole session: `minrepro supervise`. It is this
//! program once more, with one thread and a socket on its standard input; when the other end of the
//! socket closes, however minrepro died, it ends what it watches over. Started by `cold` and
//! `warm`; owns the limits.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, ExitCode},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{getpid, set_child_subreaper},
    stdio,
};
use serde::{Deserialize, Serialize};

use super::{
    inside, nursery,
    outcome::{End, Resource},
    sandbox::{self, Bounds},
    tree::{self, Idleness},
};

/// What a helper process is told, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Watch over one run.
    Run(Box<RunOrder>),
    /// Watch over a zygote and the runs forked from it, which further lines name.
    Zygote(Box<RunOrder>),
    /// Try whether a run can be confined so.
    Try(Bounds),
    /// From a supervisor: be confined, then start the program if there is one.
    Inside {
        bounds: Bounds,
        program: Option<Program>,
    },
    /// Wait for the end of minrepro, then remove these.
    Guard(PathBuf),
    /// Remove this, too.
    Also(PathBuf),
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunOrder {
    pub(super) program: Program,
    pub(super) bounds: Bounds,
    pub(super) limits: RunLimits,
}

/// What is started, and with which limits of the kernel's own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Program {
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) work: PathBuf,
    pub(super) file_size: u64,
    /// A file that it inherits open, beside its streams.
    pub(super) inherited: Option<u32>,
}

/// What the whole run may use; the supervisor watches it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunLimits {
    pub(super) timeout: Duration,
    /// For how long all of it may wait at once, if that is limited.
    pub(super) idle: Option<Duration>,
    pub(super) memory: u64,
    pub(super) processes: u32,
    /// The folder whose size is limited.
    pub(super) scratch: PathBuf,
    pub(super) scratch_size: u64,
    /// Whether the program shows its stack when it is aborted: an interpreter does, a test of the
    /// user's may not like it.
    pub(super) shows_stack: bool,
}

/// What a helper answers, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// How the run ended.
    Ended {
        end: End,
        wall: Duration,
        cpu: Duration,
    },
    /// The command could not be started, or not be confined.
    NotStarted(String),
    /// Confined as it was asked for.
    Confined,
    /// The zygote has imported everything, in so many seconds; or why nothing may be forked from
    /// it.
    Ready { unfit: Option<String>, seconds: f64 },
    /// A run forked from the zygote has ended, and nothing of it is left.
    Gone {
        id: u64,
        end: End,
        wall: Duration,
        cpu: Duration,
    },
    /// The zygote ended or had to be ended, and all its runs with it.
    Lost(String),
}

/// How long a run that passed its time limit has between TERM and KILL.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long the process inside has to collect what was killed.
const COLLECTION: Duration = Duration::from_secs(1);
/// How long what a run has left behind has.
pub(super) const GRACE_FOR_LEFTOVERS: Duration = Duration::from_millis(50);
pub(super) const TICK: Duration = Duration::from_millis(50);

/// Serves the hidden verb: reads an order from standard input and carries it out.
pub fn supervise() -> ExitCode {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    if input.read_line(&mut line).is_err() {
        return ExitCode::FAILURE;
    }
    match serde_json::from_str(&line) {
        Ok(Order::Run(order)) => reply(&watch(*order)),
        Ok(Order::Zygote(order)) => nursery::tend(*order, input.buffer().to_vec()),
        Ok(Order::Try(bounds)) => reply(&attempt(bounds)),
        Ok(Order::Inside { bounds, program }) => inside::serve(&bounds, program.as_ref()),
        Ok(Order::Guard(root)) => guard(root, input),
        Ok(Order::Also(_)) | Err(_) => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

/// Answers on the socket that standard input is, which goes both ways. Nobody reads it any more if
/// minrepro is gone.
pub(super) fn reply(answer: &Answer) {
    let Ok(text) = serde_json::to_string(answer) else {
        return;
    };
    let mut bytes = format!("{text}\n").into_bytes();
    while !bytes.is_empty() {
        let Ok(written) = rustix::io::write(stdio::stdin(), &bytes) else {
            return;
        };
        bytes.drain(..written);
    }
}

/// Waits until minrepro is gone and removes what it would have removed.
fn guard(root: PathBuf, input: impl BufRead) {
    let mut doomed = vec![root];
    for line in input.lines() {
        match line.map(|line| serde_json::from_str(&line)) {
            Ok(Ok(Order::Also(path))) => doomed.push(path),
            _ => break,
        }
    }
    // The supervisors see the same end and kill their runs; until they have, a folder may fill
    // again.
    let until = Instant::now() + Duration::from_secs(15);
    while Instant::now() < until {
        // The root last: once it is gone, all is.
        for path in doomed.iter().rev() {
            remove(path);
        }
        if doomed.iter().all(|path| path.symlink_metadata().is_err()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Removes a file or a folder with all in it, folders that forbid it included.
pub(super) fn remove(path: &Path) {
    let Ok(metadata) = path.symlink_metadata() else {
        return;
    };
    if !metadata.is_dir() {
        let _ = fs::remove_file(path);
        return;
    }
    if fs::remove_dir_all(path).is_ok() {
        return;
    }
    open_up(path);
    let _ = fs::remove_dir_all(path);
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Runs one program to its end, whichever comes first.
fn watch(order: RunOrder) -> Answer {
    let started = Instant::now();
    let mut inside = match Inside::start(order.bounds, Some(order.program)) {
        Ok(inside) => inside,
        Err(reason) => return Answer::NotStarted(reason),
    };
    let (answer, limit) = observe(&mut inside, &order.limits, started);
    let wall = started.elapsed();
    let grace = match limit {
        None => GRACE_FOR_LEFTOVERS,
        Some(End::Timeout) => GRACE,
        Some(_) => Duration::ZERO,
    };
    if limit == Some(End::Timeout) && order.limits.shows_stack {
        tree::abort_child(inside.child.id());
        inside.wait(GRACE);
    }
    inside.end(grace);
    let ended = |end, wall| Answer::Ended {
        end,
        wall,
        cpu: cpu_of_children(),
    };
    match (limit, answer) {
        (Some(end), _) => ended(end, wall),
        (None, Some(Answer::Ended { end, wall, .. })) => ended(end, wall),
        (None, Some(answer)) => answer,
        // The program killed the process that started it, which nothing but a KILL does.
        (None, None) => ended(End::Signal(9), wall),
    }
}

/// Tries whether a run can be confined so.
fn attempt(bounds: Bounds) -> Answer {
    match Inside::start(bounds, None) {
        Ok(mut inside) => {
            let answer = inside.answer();
            inside.end(Duration::ZERO);
            answer.unwrap_or_else(|| {
                Answer::NotStarted("the first process inside was killed".to_owned())
            })
        }
        Err(reason) => Answer::NotStarted(reason),
    }
}

/// The process that starts the program: this program once more, the first one in the run's
/// namespaces where there are any. With its end all within them ends.
pub(super) struct Inside {
    child: Child,
    /// Speaks, or closes, when the program has ended.
    pub(super) socket: BufReader<UnixStream>,
}

impl Inside {
    #[expect(
        clippy::disallowed_methods,
        reason = "the supervisor is the runner's hand"
    )]
    pub(super) fn start(mut bounds: Bounds, program: Option<Program>) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        // Whatever loses its parent turns up here.
        set_child_subreaper(Some(getpid())).map_err(|error| format!("subreaper: {error}"))?;
        let (ours, theirs) = UnixStream::pair().map_err(text)?;
        if bounds.confinement.is_whole() {
            bounds.sockets = sandbox::sockets();
            sandbox::enter()?;
        }
        let child = std::process::Command::new("/proc/self/exe")
            .arg("supervise")
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .spawn()
            .map_err(text)?;
        // The output is the program's alone.
        silence().map_err(text)?;
        send(&ours, &Order::Inside { bounds, program }).map_err(text)?;
        Ok(Self {
            child,
            socket: BufReader::new(ours),
        })
    }

    /// What it answers; nothing if it ends without an answer.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.socket.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Waits until its end of the socket closes, which is when nothing is left of the run.
    fn wait(&self, time: Duration) -> bool {
        let mut fds = [PollFd::new(self.socket.get_ref(), PollFlags::empty())];
        matches!(poll(&mut fds, Some(&timespec(time))), Ok(1..))
    }

    /// Ends all that is left of the run: politely if there is grace, then not.
    pub(super) fn end(mut self, grace: Duration) {
        if !self.wait(Duration::ZERO) {
            if !grace.is_zero() {
                tree::terminate_below(self.child.id());
                self.wait(grace);
            }
            // What the process inside collects is counted to the run; what is gone with it is not.
            let until = Instant::now() + COLLECTION;
            while !self.wait(Duration::ZERO) && Instant::now() < until {
                tree::kill_below(self.child.id());
                self.wait(Duration::from_millis(20));
            }
            let _ = self.child.kill();
        }
        tree::end_all();
    }
}

/// Waits for the end of the program, of minrepro, or of what it may use. Returns the answer from
/// inside if there is one and the limit that was passed if one was.
fn observe(
    inside: &mut Inside,
    limits: &RunLimits,
    started: Instant,
) -> (Option<Answer>, Option<End>) {
    let mut next_look = Instant::now() + TICK;
    let mut looks = 0u32;
    let mut idleness = Idleness::default();
    loop {
        let now = Instant::now();
        if now.duration_since(started) >= limits.timeout {
            return (None, Some(End::Timeout));
        }
        if now >= next_look {
            looks += 1;
            let pids = tree::descendants(std::process::id());
            if let Some(resource) = exceeded(limits, &pids, &limits.scratch, looks) {
                return (None, Some(End::Limit(resource)));
            }
            if limits
                .idle
                .is_some_and(|most| idleness.look(&pids) * TICK >= most)
            {
                return (None, Some(End::Timeout));
            }
            next_look = Instant::now() + TICK;
        }
        let until = next_look
            .min(started + limits.timeout)
            .saturating_duration_since(now);
        let ours = stdio::stdin();
        let mut fds = [
            PollFd::from_borrowed_fd(ours, PollFlags::IN),
            PollFd::new(inside.socket.get_ref(), PollFlags::IN),
        ];
        let seen = poll(&mut fds, Some(&timespec(until + Duration::from_millis(1))));
        let [minrepro, program] = fds.map(|it| seen.is_ok() && !it.revents().is_empty());
        if program {
            return (inside.answer(), None);
        }
        if minrepro {
            return (None, Some(End::Signal(9)));
        }
    }
}

pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// Which limit some processes and their scratch folder pass. The folder is walked at every fifth
/// look.
pub(super) fn exceeded(
    limits: &RunLimits,
    pids: &[u32],
    scratch: &Path,
    looks: u32,
) -> Option<Resource> {
    if pids.len() > limits.processes as usize {
        return Some(Resource::Processes);
    }
    if tree::memory(pids) > limits.memory {
        return Some(Resource::Memory);
    }
    (looks % 5 == 1 && size_of(scratch, limits.scratch_size) > limits.scratch_size)
        .then_some(Resource::Scratch)
}

/// Bytes on disk below a folder, counted until they pass `enough`.
fn size_of(folder: &Path, enough: u64) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.path().symlink_metadata() else {
            continue;
        };
        total += metadata.blocks() * 512;
        if metadata.is_dir() && total <= enough {
            total += size_of(&entry.path(), enough - total);
        }
        if total > enough {
            break;
        }
    }
    total
}

/// User and system time of all children that were collected.
fn cpu_of_children() -> Duration {
    let ticks = || -> Option<u64> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(13);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    };
    Duration::from_secs_f64(
        ticks().unwrap_or(0) as f64 / rustix::param::clock_ticks_per_second() as f64,
    )
}

/// Lets go of the output that this process was given.
pub(super) fn silence() -> io::Result<()> {
    let null = OpenOptions::new().write(true).open("/dev/null")?;
    stdio::dup2_stdout(&null)?;
    Ok(stdio::dup2_stderr(&null)?)
}

/// Writes an order to a socket.
pub(super) fn send(mut socket: impl Write, order: &Order) -> std::io::Result<()> {
    let line = serde_json::to_string(order).map_err(std::io::Error::other)?;
    socket.write_all(format!("{line}\n").as_bytes())
}
