//! The process tree below this process, read off /proc, and its end. Called by the supervisor and
//! the runner.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait, waitpid};

/// The direct children of a process.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => found.extend(
                text.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            ),
            // Kernels built without that file: look through all processes.
            Err(_) => return all_with_parent(pid),
        }
    }
    found
}

fn all_with_parent(parent: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name may hold anything, a closing parenthesis too.
    stat.rsplit_once(')')?
        .1
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// Whether a process has ended, collected or not.
pub(super) fn is_gone(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return true;
    };
    stat.rsplit_once(')')
        .is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// All processes below a process, parents before children.
pub(super) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

/// Anonymous resident memory of some processes, in bytes.
pub(super) fn memory(pids: &[u32]) -> u64 {
    let page = rustix::param::page_size() as u64;
    let of = |pid: &u32| -> Option<u64> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let mut fields = statm
            .split_ascii_whitespace()
            .skip(1)
            .map(str::parse::<u64>);
        let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
        Some(resident.saturating_sub(shared) * page)
    };
    pids.iter().filter_map(of).sum()
}

/// Processor time that some processes have used, in ticks; `None` while one of them runs or waits
/// for a disk.
fn blocked_at(pids: &[u32]) -> Option<u64> {
    let mut ticks = 0;
    for pid in pids {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
            continue;
        };
        let Some((_, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        if matches!(fields.first(), Some(&("R" | "D"))) {
            return None;
        }
        ticks += fields
            .get(11..13)?
            .iter()
            .filter_map(|it| it.parse::<u64>().ok())
            .sum::<u64>();
    }
    Some(ticks)
}

/// For how many looks in a row nothing of a run did anything.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    ticks: Option<u64>,
    looks: u32,
}

impl Idleness {
    /// Looks at the processes of a run; for how many looks they have been idle now.
    pub(super) fn look(&mut self, pids: &[u32]) -> u32 {
        let ticks = blocked_at(pids);
        self.looks = if ticks.is_some() && ticks == self.ticks {
            self.looks + 1
        } else {
            0
        };
        self.ticks = ticks;
        self.looks
    }
}

/// Sends a signal to some processes.
pub(super) fn signal(pids: &[u32], signal: Signal) {
    for pid in pids {
        if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            // A process that is gone already needs no signal.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Collects every child that has ended; `None` once there are no children at all.
pub(super) fn reap() -> Option<Vec<(i32, WaitStatus)>> {
    let mut ended = Vec::new();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended.push((pid.as_raw_nonzero().get(), status)),
            Err(_) if ended.is_empty() => return None,
            Ok(None) | Err(_) => return Some(ended),
        }
    }
}

/// Aborts the first child of a process, which makes an interpreter show its stack before it dies.
pub(super) fn abort_child(pid: u32) {
    signal(children(pid).get(..1).unwrap_or_default(), Signal::ABORT);
}

/// Asks everything below a process to end.
pub(super) fn terminate_below(pid: u32) {
    signal(&descendants(pid), Signal::TERM);
}

/// Kills everything below a process: all are stopped first, so that none can fork on.
pub(super) fn kill_below(pid: u32) {
    let mut stopped = BTreeSet::new();
    for _ in 0..20 {
        let now = descendants(pid);
        let fresh: Vec<u32> = now.into_iter().filter(|pid| stopped.insert(*pid)).collect();
        if fresh.is_empty() {
            break;
        }
        signal(&fresh, Signal::STOP);
    }
    let all: Vec<u32> = stopped.into_iter().collect();
    signal(&all, Signal::KILL);
}

/// Ends everything below this process, which is a subreaper, so that whatever loses its parent
/// turns up here. Gives up on what the kernel itself holds after ten seconds.
pub(super) fn end_all() {
    let until = Instant::now() + Duration::from_secs(10);
    while reap().is_some() && Instant::now() < until {
        kill_below(std::process::id());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills and collects the children of this process that are not `known`, and all below them: what a
/// supervisor that was itself killed has left behind.
pub(super) fn end_strays(known: impl Fn(u32) -> bool) {
    let own = std::process::id();
    for _ in 0..200 {
        let strays: Vec<u32> = children(own)
            .into_iter()
            .filter(|pid| !known(*pid))
            .collect();
        if strays.is_empty() {
            return;
        }
        for &stray in &strays {
            let mut all = vec![stray];
            all.extend(descendants(stray));
            signal(&all, Signal::STOP);
            signal(&all, Signal::KILL);
            if let Some(pid) = i32::try_from(stray).ok().and_then(Pid::from_raw) {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
