//! The init process of a run: the first one inside. It confines itself, starts the program, and
//! reaps every process that loses its parent. Within namespaces it is process 1, so that the
//! program has an ordinary process id and dies of signals as usual. Supervisors start it and
//! enforce limits from outside.

use std::{
    io::{self, BufRead, BufReader},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Child,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{
        DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper,
        set_parent_process_death_signal, setsid, wait,
    },
};

use super::{
    process_tree,
    sandbox::{self, reachable_sockets},
};
use crate::runner::{
    bounds::Bounds,
    launch,
    limits::timespec,
    orders::{Launch, Order, Reply, reply, send, silence},
    outcome::{End, Timing},
};

/// How long the init process has to reap killed processes.
const COLLECTION: Duration = Duration::from_secs(1);

/// An init process, seen from its supervisor. With its end everything within its namespaces ends.
pub(super) struct Init {
    pub(super) child: Child,
    /// Becomes readable, or closes, when the program has ended.
    pub(super) socket: BufReader<UnixStream>,
}

impl Init {
    /// Starts this executable once more, within new namespaces where there are any.
    #[expect(
        clippy::disallowed_methods,
        reason = "the supervisor is the runner's hand"
    )]
    pub(super) fn start(mut bounds: Bounds, program: Option<Launch>) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        // Whatever loses its parent turns up here.
        set_child_subreaper(Some(getpid())).map_err(|error| format!("subreaper: {error}"))?;
        let (ours, theirs) = UnixStream::pair().map_err(text)?;
        if bounds.confinement.is_whole() {
            bounds.sockets = reachable_sockets(&bounds);
            sandbox::enter(bounds.network)?;
        }
        let child = std::process::Command::new("/proc/self/exe")
            .arg("supervise")
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .spawn()
            .map_err(text)?;
        silence().map_err(text)?;
        send(&ours, &Order::Init { bounds, program }).map_err(text)?;
        Ok(Self {
            child,
            socket: BufReader::new(ours),
        })
    }

    /// Its reply; nothing if it ends without one.
    pub(super) fn reply(&mut self) -> Option<Reply> {
        let mut line = String::new();
        self.socket.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Waits until its end of the socket closes, which is when nothing is left of the run.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let mut fds = [PollFd::new(self.socket.get_ref(), PollFlags::empty())];
        matches!(poll(&mut fds, Some(&timespec(time))), Ok(1..))
    }

    /// Ends everything that is left of the run: politely if there is a grace period, then by force.
    pub(super) fn end(mut self, grace: Duration) {
        if !self.wait(Duration::ZERO) {
            if !grace.is_zero() {
                process_tree::terminate_below(self.child.id());
                self.wait(grace);
            }
            // The processor time of reaped processes counts towards the run. Processes that die
            // together with the init process are not counted.
            let until = Instant::now() + COLLECTION;
            while !self.wait(Duration::ZERO) && Instant::now() < until {
                process_tree::kill_below(self.child.id());
                self.wait(Duration::from_millis(20));
            }
            let _ = self.child.kill();
        }
        process_tree::end_all();
    }
}

/// Carries out an order of the supervisor and replies; then stays as long as anything of the run
/// is left.
pub(super) fn serve(bounds: &Bounds, program: Option<&Launch>) {
    let (program, started) =
        match prepare(bounds, program).and_then(|()| program.map(start).transpose()) {
            Ok(Some(program)) => (program, Instant::now()),
            Ok(None) => return reply(&Reply::Confined),
            Err(reason) => return reply(&Reply::NotStarted(reason)),
        };
    while let Ok(Some((pid, status))) = wait(WaitOptions::empty()) {
        if pid == program {
            reply(&Reply::Ended {
                end: end_of(status),
                timing: Timing {
                    wall: started.elapsed(),
                    ..Timing::default()
                },
            });
        }
    }
}

/// Confines this process and all it will start.
fn prepare(bounds: &Bounds, program: Option<&Launch>) -> Result<(), String> {
    let text = |error: rustix::io::Errno| error.to_string();
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(text)?;
    set_child_subreaper(Some(getpid())).map_err(text)?;
    // No terminal: text typed into it would be typed into the user's shell.
    setsid().map_err(|error| format!("session: {error}"))?;
    // If memory runs out before the supervisor checks it, the kernel must choose this run.
    let _ = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/oom_score_adj")
        .and_then(|mut file| io::Write::write_all(&mut file, b"1000"));
    // The program has the same user and could trace this process if it were dumpable. It still
    // has access to itself.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(text)?;
    sandbox::confine(bounds, program.and_then(|program| program.inherited))
}

fn start(program: &Launch) -> Result<Pid, String> {
    let child = launch::start(program)?;
    silence().map_err(|error| error.to_string())?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| "no process id".to_owned())
}

fn end_of(status: WaitStatus) -> End {
    status
        .terminating_signal()
        .map_or_else(|| End::Exit(status.exit_status().unwrap_or(0)), End::Signal)
}
