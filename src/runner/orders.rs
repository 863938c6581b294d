//! The messages between minrepro, its helper processes and zygotes: one line of JSON each. Owns
//! only their format; `helpers`, `supervise` and `zygote` send and serve them.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use rustix::stdio;
use serde::{Deserialize, Serialize};

use super::{
    bounds::Bounds,
    outcome::{End, Timing},
};

/// A helper process's task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Watch over one run.
    Run(Box<RunOrder>),
    /// Watch over a zygote and the runs forked from it, which further lines name.
    Zygote(Box<RunOrder>),
    /// Try whether a run can be confined so.
    Try(Bounds),
    /// From a supervisor: be the first process of a run, confine it, then start the program if
    /// there is one.
    Init {
        bounds: Bounds,
        program: Option<Launch>,
    },
    /// Wait for the end of minrepro, then remove these.
    Guard(PathBuf),
    /// Remove this, too.
    Also(PathBuf),
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunOrder {
    pub(super) program: Launch,
    pub(super) bounds: Bounds,
    pub(super) limits: RunLimits,
}

/// A program to start, with the limits of the kernel's own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) work: PathBuf,
    /// The file that its standard input is read from, if it is not empty.
    pub(super) input: Option<PathBuf>,
    pub(super) file_size: u64,
    /// A file that it inherits open, besides its streams.
    pub(super) inherited: Option<u32>,
}

/// The limits of a session on disk, in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DiskLimits {
    /// The folder of the session.
    pub(super) session: PathBuf,
    /// All that is below it.
    pub(super) all: u64,
    /// The cache below it, and how much of all it may take.
    pub(super) cache: PathBuf,
    pub(super) cached: u64,
    /// How much a run may take while the session has passed its limit: where it has, one run has
    /// more, or the cache has.
    pub(super) share: u64,
}

/// Limits on a whole run; the supervisor watches them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunLimits {
    pub(super) timeout: Duration,
    /// For how long all of it may wait at once, if that is limited.
    pub(super) idle: Option<Duration>,
    /// The named pipe by which the program is asked, before it is aborted, to note where it hangs.
    pub(super) question: Option<PathBuf>,
    pub(super) memory: u64,
    pub(super) processes: u32,
    /// The folder whose size is limited.
    pub(super) scratch: PathBuf,
    pub(super) disk: DiskLimits,
    /// Whether the program shows its stack when it is aborted: an interpreter does, a test of the
    /// user's may not like it.
    pub(super) shows_stack: bool,
}

/// One run, forked from a zygote. Limits other than time are the zygote's.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fork {
    pub(super) id: u64,
    /// The interpreter, the script, its arguments.
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) work: PathBuf,
    /// The file that its standard input is read from, if it is not empty.
    pub(super) input: Option<PathBuf>,
    /// The folder whose size is limited.
    pub(super) scratch: PathBuf,
    /// Named pipes.
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    /// Unix sockets outside that have to be covered one by one, those since the zygote's start
    /// included.
    pub(super) sockets: Vec<PathBuf>,
    /// Where a run that is not for this zygote says so.
    pub(super) note: PathBuf,
    /// Where imports are noted, if they are.
    pub(super) record: Option<PathBuf>,
    pub(super) timeout: Duration,
    pub(super) idle: Option<Duration>,
}

/// A helper's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// How the run ended.
    Ended { end: End, timing: Timing },
    /// The command could not be started or confined.
    NotStarted(String),
    /// Confined as ordered.
    Confined,
    /// The zygote has imported everything, in so many seconds; or why nothing may be forked from
    /// it.
    Ready { unfit: Option<String>, seconds: f64 },
    /// A run forked from the zygote has ended, and nothing of it is left.
    Gone { id: u64, end: End, timing: Timing },
    /// A child of the zygote could not become a run; the program was not started.
    Broken { id: u64, reason: String },
    /// The zygote ended or had to be ended, and all its runs with it.
    Lost(String),
}

/// Writes an order to a socket.
pub(super) fn send(mut socket: impl Write, order: &Order) -> io::Result<()> {
    let line = serde_json::to_string(order).map_err(io::Error::other)?;
    socket.write_all(format!("{line}\n").as_bytes())
}

/// Replies on the socket that is its standard input, which works in both directions. Nobody reads
/// it any more if minrepro has died.
pub(super) fn reply(reply: &Reply) {
    let Ok(text) = serde_json::to_string(reply) else {
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

/// Closes the output that this process was given: it belongs to the program alone.
pub(super) fn silence() -> io::Result<()> {
    let null = OpenOptions::new().write(true).open("/dev/null")?;
    stdio::dup2_stdout(&null)?;
    Ok(stdio::dup2_stderr(&null)?)
}
