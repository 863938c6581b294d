//! Whether a run can go on at all: it cannot once every thread of all its processes waits for
//! another of these threads, without a time limit. Called by the supervisors. Reads `/proc`, and
//! decides nothing if the kernel does not say how a thread waits.

use std::{collections::BTreeMap, fs, time::Duration};

use crate::runner::limits::TICK;

/// For how long nothing of a run may have changed until that counts as a standstill. Two looks
/// would do: between them all threads slept at once, and none was left to wake another.
const ENOUGH: Duration = Duration::from_millis(300);

/// The bits of SIGALRM in the mask of caught signals. An alarm would wake waiting threads, and the
/// kernel does not say whether one is set.
const CATCHES_ALARM: u64 = 1 << (libc::SIGALRM - 1);

/// The system call that a thread waits in: its number and its arguments.
struct Wait {
    call: i64,
    arguments: Vec<u64>,
}

/// The waits of a run, as observed.
#[derive(Debug)]
pub(super) struct Standstill {
    /// Whether nothing but the run itself can write to its sockets.
    is_alone: bool,
    /// The pipes that its output is read from outside.
    outputs: Vec<String>,
    /// The system call in which each thread waits, and how often it has begun to wait.
    threads: BTreeMap<u32, String>,
    looks: u32,
}

impl Standstill {
    /// For a run whose output is this process's own, if it is read through pipes.
    pub(super) fn new(is_alone: bool) -> Self {
        let link = |fd: u32| fs::read_link(format!("/proc/self/fd/{fd}")).ok();
        Self {
            is_alone,
            outputs: [1, 2]
                .into_iter()
                .filter_map(link)
                .map(|link| link.to_string_lossy().into_owned())
                .collect(),
            threads: BTreeMap::new(),
            looks: 0,
        }
    }

    /// Whether the last look found that the run stands still.
    pub(super) fn is_one(&self) -> bool {
        self.looks * TICK >= ENOUGH
    }

    /// Looks at the processes of a run; tells whether it stands still.
    pub(super) fn look(&mut self, pids: &[u32]) -> bool {
        let threads = self.waiting(pids).unwrap_or_default();
        let is_same = !threads.is_empty() && threads == self.threads;
        self.looks = if is_same { self.looks + 1 } else { 0 };
        self.threads = threads;
        // Looked for last: few runs come that far.
        if self.is_one() && pids.iter().any(|pid| has_timer(*pid)) {
            self.looks = 0;
        }
        self.is_one()
    }

    /// The system call in which each thread waits; `None` if one does not wait, or waits until a
    /// time.
    fn waiting(&self, pids: &[u32]) -> Option<BTreeMap<u32, String>> {
        let mut found = BTreeMap::new();
        for pid in pids {
            // A thread that has ended in between is not missed: the next check finds other threads.
            let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
                continue;
            };
            for task in tasks.flatten() {
                let thread = task.path();
                let status = fs::read_to_string(thread.join("status")).ok()?;
                let field = |name: &str| {
                    let mut lines = status.lines();
                    lines.find_map(|line| {
                        Some(line.strip_prefix(name)?.trim_start_matches(':').trim())
                    })
                };
                let state = field("State")?;
                if state.starts_with('Z') {
                    continue;
                }
                let caught = u64::from_str_radix(field("SigCgt")?, 16).ok()?;
                if !state.starts_with('S') || caught & CATCHES_ALARM != 0 {
                    return None;
                }
                let call = fs::read_to_string(thread.join("syscall")).ok()?;
                if !self.is_endless(*pid, &Wait::parse(&call)?) {
                    return None;
                }
                let number = task.file_name().to_str()?.parse().ok()?;
                let switches = field("voluntary_ctxt_switches")?;
                found.insert(number, format!("{switches} {call}"));
            }
        }
        Some(found)
    }

    /// Whether nothing but another thread can end a wait.
    fn is_endless(&self, pid: u32, wait: &Wait) -> bool {
        let argument = |at: usize| wait.arguments.get(at).copied().unwrap_or_default();
        let is_negative = |at: usize| (argument(at) as u32).cast_signed() < 0;
        match wait.call {
            libc::SYS_futex => {
                let command = (argument(1) as u32).cast_signed() & libc::FUTEX_CMD_MASK;
                matches!(command, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) && argument(3) == 0
            }
            libc::SYS_wait4
            | libc::SYS_waitid
            | libc::SYS_rt_sigsuspend
            | libc::SYS_flock
            | libc::SYS_openat => true,
            libc::SYS_read | libc::SYS_readv => {
                self.is_alone || link(pid, argument(0)).starts_with("pipe:")
            }
            libc::SYS_write | libc::SYS_writev => {
                let link = link(pid, argument(0));
                link.starts_with("pipe:") && !self.outputs.contains(&link)
            }
            libc::SYS_recvfrom | libc::SYS_recvmsg | libc::SYS_accept | libc::SYS_accept4 => {
                self.is_alone
            }
            libc::SYS_epoll_pwait => self.is_alone && is_negative(3),
            libc::SYS_ppoll => self.is_alone && argument(2) == 0,
            libc::SYS_pselect6 => self.is_alone && argument(4) == 0,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => self.is_alone && is_negative(3),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => self.is_alone && is_negative(2),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => self.is_alone && argument(4) == 0,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_pause | libc::SYS_open => true,
            _ => false,
        }
    }
}

impl Wait {
    /// As the kernel writes it: a number in decimal, then arguments, stack and place in
    /// hexadecimal; or `running`.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let call = words.next()?.parse().ok()?;
        let argument = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        Some(Self {
            call,
            arguments: words.map_while(argument).collect(),
        })
    }
}

/// The target of an open file of a process.
fn link(pid: u32, fd: u64) -> String {
    fs::read_link(format!("/proc/{pid}/fd/{fd}")).map_or_else(
        |_| String::new(),
        |link| link.to_string_lossy().into_owned(),
    )
}

/// Whether a process has a timer, or is not known to have none.
fn has_timer(pid: u32) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return fs::exists(format!("/proc/{pid}")).unwrap_or(true);
    };
    let timers = fs::read_to_string(format!("/proc/{pid}/timers"));
    let mut links = files.flatten().map(|file| fs::read_link(file.path()));
    timers.is_ok_and(|timers| !timers.is_empty())
        || links.any(|link| link.is_ok_and(|link| link.ends_with("anon_inode:[timerfd]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let standstill = Standstill {
            is_alone: true,
            outputs: Vec::new(),
            threads: BTreeMap::new(),
            looks: 0,
        };
        let found = Wait::parse(text).is_some_and(|wait| standstill.is_endless(0, &wait));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn only_a_wait_without_a_time_limit_is_endless() {
        let call = |call: i64, arguments: &str| format!("{call} {arguments} 0x7ffc 0x7f1b");
        check(
            &call(libc::SYS_futex, "0x55 0x189 0x0 0x0 0x0 0xffffffff"),
            true,
        );
        check(
            &call(libc::SYS_futex, "0x55 0x189 0x0 0x7f00 0x0 0xffffffff"),
            false,
        );
        check(&call(libc::SYS_futex, "0x55 0x81 0x1 0x0 0x0 0x0"), false);
        check(
            &call(libc::SYS_epoll_pwait, "0x4 0x7f00 0x2 0xffffffff 0x0 0x0"),
            true,
        );
        check(
            &call(libc::SYS_epoll_pwait, "0x4 0x7f00 0x2 0x64 0x0 0x0"),
            false,
        );
        check(
            &call(libc::SYS_pselect6, "0x0 0x0 0x0 0x0 0x7f00 0x0"),
            false,
        );
        check(
            &call(libc::SYS_clock_nanosleep, "0x1 0x1 0x7f00 0x0 0x0 0x0"),
            false,
        );
        check(
            &call(libc::SYS_wait4, "0xffffffff 0x0 0x0 0x0 0x0 0x0"),
            true,
        );
        check("running", false);
        check("-1 0x7ffc 0x7f1b", false);
        check("", false);
    }
}
