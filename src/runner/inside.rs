//! The process on the inside of a run: confines itself, starts the program, collects whatever loses
//! its parent. Within namespaces it is their first process, so that the program has an ordinary
//! process id and dies of signals as anywhere. Started by `supervise`, which watches over limits
//! from outside.

use std::{
    io,
    os::unix::process::CommandExt,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{
    DumpableBehavior, Pid, Resource as Rlimited, Rlimit, Signal, WaitOptions, WaitStatus, getpid,
    getrlimit, set_child_subreaper, set_parent_process_death_signal, setrlimit, setsid, wait,
};

use super::{
    outcome::End,
    sandbox::{self, Bounds},
    supervise::{Answer, Program, reply, silence},
};

/// Open files of one process.
const OPEN_FILES: u64 = 1 << 16;

/// Carries out an order of the supervisor and answers it; then stays as long as anything of the run
/// is left.
pub(super) fn serve(bounds: &Bounds, program: Option<&Program>) {
    let (program, started) =
        match prepare(bounds, program).and_then(|()| program.map(start).transpose()) {
            Ok(Some(program)) => (program, Instant::now()),
            Ok(None) => return reply(&Answer::Confined),
            Err(reason) => return reply(&Answer::NotStarted(reason)),
        };
    while let Ok(Some((pid, status))) = wait(WaitOptions::empty()) {
        if pid == program {
            reply(&Answer::Ended {
                end: end_of(status),
                wall: started.elapsed(),
                cpu: Duration::ZERO,
            });
        }
    }
}

/// Confines this process and all it will start.
fn prepare(bounds: &Bounds, program: Option<&Program>) -> Result<(), String> {
    let text = |error: rustix::io::Errno| error.to_string();
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(text)?;
    set_child_subreaper(Some(getpid())).map_err(text)?;
    // No terminal: what could be typed into it would be typed into the user's shell.
    setsid().map_err(|error| format!("session: {error}"))?;
    // If memory runs out before the supervisor looks, this run is what goes.
    let _ = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/oom_score_adj")
        .and_then(|mut file| io::Write::write_all(&mut file, b"1000"));
    // The program is of the same user, and could otherwise lay hands on this process. It is no
    // secret to itself.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(text)?;
    sandbox::confine(bounds, program.and_then(|program| program.inherited))
}

#[expect(clippy::disallowed_methods, reason = "the runner starts processes")]
fn start(program: &Program) -> Result<Pid, String> {
    limit(program).map_err(|error| format!("limits: {error}"))?;
    let (name, args) = program.argv.split_first().ok_or("the command is empty")?;
    let child = std::process::Command::new(name)
        .args(args)
        .env_clear()
        .envs(&program.env)
        .current_dir(&program.work)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    silence().map_err(|error| error.to_string())?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| "no process id".to_owned())
}

fn limit(program: &Program) -> rustix::io::Result<()> {
    let both = |limit: u64| Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    setrlimit(Rlimited::Core, both(0))?;
    setrlimit(Rlimited::Fsize, both(program.file_size))?;
    let lower = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(OPEN_FILES));
    let files = getrlimit(Rlimited::Nofile);
    setrlimit(
        Rlimited::Nofile,
        Rlimit {
            current: lower(files.current),
            maximum: lower(files.maximum),
        },
    )
}

fn end_of(status: WaitStatus) -> End {
    status
        .terminating_signal()
        .map_or_else(|| End::Exit(status.exit_status().unwrap_or(0)), End::Signal)
}
