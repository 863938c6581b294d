//! The process that watches over one run, or over a whole session: `minrepro supervise`. It is this program once more,
//! with one thread and a socket on its standard input; when the other end of the socket closes, however minrepro died,
//! it ends what it watches over. Started by `cold`; owns the limits.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Write},
    os::{fd::BorrowedFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{
        Pid, PidfdFlags, Resource as Rlimited, Rlimit, WaitStatus, getpid, pidfd_open, set_child_subreaper,
        setrlimit,
    },
    stdio,
};
use serde::{Deserialize, Serialize};

use super::{
    outcome::{End, Resource},
    sandbox, tree,
};

/// What a supervisor is told, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Watch over one run.
    Run(Box<RunOrder>),
    /// Wait for the end of minrepro, then remove these.
    Guard(PathBuf),
    /// Remove this, too.
    Also(PathBuf),
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunOrder {
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) work: PathBuf,
    /// The folder whose size is limited.
    pub(super) scratch: PathBuf,
    /// Folders that may be written; `None` leaves the run unconfined.
    pub(super) writable: Option<Vec<PathBuf>>,
    pub(super) timeout: Duration,
    pub(super) memory: u64,
    pub(super) processes: u32,
    pub(super) file_size: u64,
    pub(super) scratch_size: u64,
}

/// What a supervisor answers, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// How the run ended.
    Ended { end: End, wall: Duration, cpu: Duration },
    /// The command could not be started.
    NotStarted(String),
}

/// How long a run that passed its time limit has between TERM and KILL.
const GRACE: Duration = Duration::from_millis(500);
/// How long what a run has left behind has.
const GRACE_FOR_LEFTOVERS: Duration = Duration::from_millis(50);
const TICK: Duration = Duration::from_millis(50);

/// Serves the hidden verb: reads an order from standard input and carries it out.
pub fn supervise() -> ExitCode {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    if input.read_line(&mut line).is_err() {
        return ExitCode::FAILURE;
    }
    match serde_json::from_str(&line) {
        Ok(Order::Run(order)) => {
            let answer = watch(&order);
            if let Ok(text) = serde_json::to_string(&answer) {
                // The socket on standard input goes both ways. Nobody reads it any more if minrepro is gone.
                let _ = answer_on_socket(&text);
            }
            ExitCode::SUCCESS
        }
        Ok(Order::Guard(root)) => {
            guard(root, input);
            ExitCode::SUCCESS
        }
        Ok(Order::Also(_)) | Err(_) => ExitCode::FAILURE,
    }
}

fn answer_on_socket(text: &str) -> rustix::io::Result<()> {
    let mut bytes = format!("{text}\n").into_bytes();
    while !bytes.is_empty() {
        let written = rustix::io::write(stdio::stdin(), &bytes)?;
        bytes.drain(..written);
    }
    Ok(())
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
    // The supervisors see the same end and kill their runs; until they have, a folder may fill again.
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
    let Ok(metadata) = path.symlink_metadata() else { return };
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
fn watch(order: &RunOrder) -> Answer {
    let started = Instant::now();
    let child = match start(order) {
        Ok(child) => child,
        Err(reason) => return Answer::NotStarted(reason),
    };
    let (mut status, limit) = observe(order, child, started);
    let wall = started.elapsed();
    let grace = match limit {
        None => GRACE_FOR_LEFTOVERS,
        Some(End::Timeout) => GRACE,
        Some(_) => Duration::ZERO,
    };
    tree::end_all(grace, |pid, ended| {
        if pid == child.as_raw_nonzero().get() && status.is_none() {
            status = Some(ended);
        }
    });
    let end = limit.or_else(|| status.map(end_of)).unwrap_or(End::Signal(9));
    Answer::Ended { end, wall, cpu: cpu_of_children() }
}

/// Confines and limits this process, becomes the reaper of all below it, starts the program and lets go of its output.
#[expect(clippy::disallowed_methods, reason = "the supervisor is the runner's hand")]
fn start(order: &RunOrder) -> Result<Pid, String> {
    set_child_subreaper(Some(getpid())).map_err(|error| format!("subreaper: {error}"))?;
    let cap =
        |resource, limit: u64| setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    cap(Rlimited::Core, 0).map_err(|error| format!("core limit: {error}"))?;
    cap(Rlimited::Fsize, order.file_size).map_err(|error| format!("file size limit: {error}"))?;
    if let Some(writable) = &order.writable {
        sandbox::confine(writable)?;
    }
    let (program, args) = order.argv.split_first().ok_or("the command is empty")?;
    let child = std::process::Command::new(program)
        .args(args)
        .env_clear()
        .envs(&order.env)
        .current_dir(&order.work)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let null = OpenOptions::new().write(true).open("/dev/null").map_err(|error| error.to_string())?;
    for dup in [stdio::dup2_stdout(&null), stdio::dup2_stderr(&null)] {
        dup.map_err(|error| error.to_string())?;
    }
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| "no process id".to_owned())
}

/// Waits for the end of the program, of minrepro, or of what it may use. Returns the program's status if it ended and
/// the limit that was passed if one was.
fn observe(order: &RunOrder, child: Pid, started: Instant) -> (Option<WaitStatus>, Option<End>) {
    let process = pidfd_open(child, PidfdFlags::empty()).ok();
    let mut next_look = Instant::now() + TICK;
    let mut looks = 0u32;
    loop {
        for (pid, status) in tree::reap().unwrap_or_default() {
            if pid == child.as_raw_nonzero().get() {
                return (Some(status), None);
            }
        }
        let now = Instant::now();
        if now.duration_since(started) >= order.timeout {
            return (None, Some(End::Timeout));
        }
        if now >= next_look {
            looks += 1;
            if let Some(resource) = exceeded(order, looks) {
                return (None, Some(End::Limit(resource)));
            }
            next_look = Instant::now() + TICK;
        }
        let until = next_look.min(started + order.timeout).saturating_duration_since(now);
        // Without a pidfd (before Linux 5.3) the end is noticed by looking often.
        let until = if process.is_some() { until } else { until.min(Duration::from_millis(2)) };
        if wait_for(process.as_ref().map(std::os::fd::AsFd::as_fd), until) {
            return (None, Some(End::Signal(9)));
        }
    }
}

/// Sleeps until the program ends, the time is over, or minrepro closes the socket or dies: then true.
fn wait_for(process: Option<BorrowedFd<'_>>, time: Duration) -> bool {
    let socket = stdio::stdin();
    let mut fds = vec![PollFd::from_borrowed_fd(socket, PollFlags::IN | PollFlags::HUP)];
    fds.extend(process.map(|process| PollFd::from_borrowed_fd(process, PollFlags::IN)));
    let time = time + Duration::from_millis(1);
    let timeout = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: i64::from(time.subsec_nanos()) };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => !fds[0].revents().is_empty(),
        Err(_) => false,
    }
}

/// Which limit is passed. The scratch folder is walked at every fifth look.
fn exceeded(order: &RunOrder, looks: u32) -> Option<Resource> {
    let pids = tree::descendants(std::process::id());
    if pids.len() > order.processes as usize {
        return Some(Resource::Processes);
    }
    if tree::memory(&pids) > order.memory {
        return Some(Resource::Memory);
    }
    (looks % 5 == 1 && size_of(&order.scratch, order.scratch_size) > order.scratch_size)
        .then_some(Resource::Scratch)
}

/// Bytes on disk below a folder, counted until they pass `enough`.
fn size_of(folder: &Path, enough: u64) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
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

fn end_of(status: WaitStatus) -> End {
    status.terminating_signal().map_or_else(|| End::Exit(status.exit_status().unwrap_or(0)), End::Signal)
}

/// User and system time of all children that were collected.
fn cpu_of_children() -> Duration {
    let ticks = || -> Option<u64> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(13);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    };
    Duration::from_secs_f64(ticks().unwrap_or(0) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Writes an order to a socket.
pub(super) fn send(mut socket: impl Write, order: &Order) -> std::io::Result<()> {
    let line = serde_json::to_string(order).map_err(std::io::Error::other)?;
    socket.write_all(format!("{line}\n").as_bytes())
}
