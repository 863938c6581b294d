//! The process tree below a process, read from `/proc`, and its end. Called by the supervisors and
//! the runner; owns no limit and no order.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use procfs::process::Process;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait, waitpid};

/// A process, unless it has ended and was collected.
fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

/// The direct children of a process.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let Some(tasks) = process(pid).and_then(|process| process.tasks().ok()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for task in tasks.flatten() {
        match task.children() {
            Ok(children) => found.extend(children),
            // Kernels built without that file, or a thread that has just ended: look through all
            // processes.
            Err(_) => return all_with_parent(pid),
        }
    }
    found
}

fn all_with_parent(parent: u32) -> Vec<u32> {
    let stats = procfs::process::all_processes()
        .into_iter()
        .flatten()
        .filter_map(|process| process.ok()?.stat().ok());
    stats
        .filter(|stat| u32::try_from(stat.ppid) == Ok(parent))
        .filter_map(|stat| u32::try_from(stat.pid).ok())
        .collect()
}

/// Whether a process has ended, collected or not.
pub(super) fn has_ended(pid: u32) -> bool {
    !process(pid).is_some_and(|process| process.is_alive())
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
    let pages = pids
        .iter()
        .filter_map(|pid| process(*pid)?.statm().ok())
        .map(|memory| memory.resident.saturating_sub(memory.shared))
        .sum::<u64>();
    pages * procfs::page_size()
}

/// The time that the scheduler has given a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scheduled {
    /// For how long it ran.
    pub(super) ran: Duration,
    /// For how long it waited for a processor.
    pub(super) waited: Duration,
}

/// All threads of some processes by their numbers; none where the kernel does not count.
pub(super) fn threads(pids: &[u32]) -> impl Iterator<Item = (u32, Scheduled)> {
    let tasks = pids
        .iter()
        .filter_map(|pid| process(*pid)?.tasks().ok())
        .flat_map(Iterator::flatten);
    tasks.filter_map(|task| {
        let counted = task.schedstat().ok()?;
        let scheduled = Scheduled {
            ran: Duration::from_nanos(counted.sum_exec_runtime),
            waited: Duration::from_nanos(counted.run_delay),
        };
        Some((u32::try_from(task.tid).ok()?, scheduled))
    })
}

/// User and system time of all children of this process that were collected.
pub(super) fn cpu_of_children() -> Duration {
    let ticks = Process::myself()
        .and_then(|own| own.stat())
        .map_or(0, |stat| stat.cutime + stat.cstime);
    Duration::from_secs_f64(ticks.max(0) as f64 / procfs::ticks_per_second() as f64)
}

/// Processor time that some processes have used, in ticks; `None` while one of them runs or waits
/// for a disk.
fn blocked_at(pids: &[u32]) -> Option<u64> {
    let mut ticks = 0;
    for pid in pids {
        let Some(stat) = process(*pid).and_then(|process| process.stat().ok()) else {
            continue;
        };
        if matches!(stat.state, 'R' | 'D') {
            return None;
        }
        ticks += stat.utime + stat.stime;
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
    /// Looks at the processes of a run; returns for how many looks they have been idle now.
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
            // A process that has ended already needs no signal.
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

/// Aborts the first child of a process, then all below that: interpreters show their stacks before
/// they die.
pub(super) fn abort_child(pid: u32) {
    /// How long all of them have for that.
    const TIME: Duration = Duration::from_millis(500);
    let Some(&child) = children(pid).first() else {
        return;
    };
    let until = Instant::now() + TIME;
    // Stopped first: they would take note of its end, and be somewhere else.
    let others = descendants(child);
    signal(&others, Signal::STOP);
    // One after the other, or their stacks would mingle.
    for aborted in [child].into_iter().chain(others) {
        signal(&[aborted], Signal::ABORT);
        signal(&[aborted], Signal::CONT);
        while !has_ended(aborted) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Asks everything below a process to end.
pub(super) fn terminate_below(pid: u32) {
    signal(&descendants(pid), Signal::TERM);
}

/// Kills everything below a process: all are stopped first, so that none can fork on.
pub(super) fn kill_below(pid: u32) {
    // Processes that another forked before it was stopped turn up in the next round.
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

/// Ends everything below this process. This process is a subreaper, so processes that lose their
/// parent turn up here. Gives up after ten seconds on processes that the kernel itself holds.
pub(super) fn end_all() {
    let until = Instant::now() + Duration::from_secs(10);
    while reap().is_some() && Instant::now() < until {
        kill_below(std::process::id());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills and reaps the children of this process that are not `known`, and everything below them:
/// the processes that a killed supervisor has left behind.
pub(in crate::runner) fn end_strays(known: impl Fn(u32) -> bool) {
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
