//! A run as a process group: watched until its program ends, its time or disk limit is reached, or
//! minrepro ends, and then ended as a whole. Processes that leave the group are not found again.
//! Called by `plain`.

use std::{
    os::{fd::BorrowedFd, unix::process::ExitStatusExt},
    process::{Child, ExitStatus},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group},
};

use crate::runner::{
    limits::{GRACE, GRACE_FOR_LEFTOVERS, TICK, is_walk, passes_disk_limits, timespec},
    orders::{Reply, RunLimits},
    outcome::{End, Resource, Timing},
    question::ask,
};

/// Between two looks at whether a program has ended.
const STEP: Duration = Duration::from_millis(5);
/// How long the kernel may take to end a process group.
const END: Duration = Duration::from_secs(10);

/// A program and everything that it has started in its process group.
pub(super) struct ProcessGroup {
    program: Child,
    started: Instant,
    /// Once the program has ended and was collected.
    status: Option<ExitStatus>,
}

impl ProcessGroup {
    /// The group of a program that was just started as its first process.
    pub(super) fn of(program: Child) -> Self {
        Self {
            program,
            started: Instant::now(),
            status: None,
        }
    }

    /// Watches over it to its end, whichever comes first; `minrepro` becomes readable when that has
    /// died.
    pub(super) fn watch(&mut self, limits: &RunLimits, minrepro: BorrowedFd<'_>) -> Reply {
        let end = self.observe(limits, minrepro);
        let wall = self.started.elapsed();
        // A timeout says where it hung only if the interpreter prints its stack.
        if end == End::Timeout && limits.shows_stack {
            limits.question.as_deref().map(ask);
            self.abort();
        }
        self.end(match end {
            End::Exit(_) | End::Signal(_) => GRACE_FOR_LEFTOVERS,
            End::Timeout => GRACE,
            End::Limit(_) => Duration::ZERO,
        });
        let timing = Timing {
            wall,
            ..Timing::default()
        };
        Reply::Ended { end, timing }
    }

    /// Waits for the end of the program, the end of minrepro, or an exceeded limit.
    fn observe(&mut self, limits: &RunLimits, minrepro: BorrowedFd<'_>) -> End {
        let mut next_look = self.started + TICK;
        let mut looks = 0;
        loop {
            if let Some(status) = self.status() {
                return end_of(status);
            }
            let now = Instant::now();
            if now >= self.started + limits.timeout {
                return End::Timeout;
            }
            if now >= next_look {
                looks += 1;
                next_look = now + TICK;
                if is_walk(looks) && passes_disk_limits(&limits.disk, &limits.scratch, 0, looks) {
                    return End::Limit(Resource::Scratch);
                }
            }
            let mut fds = [PollFd::from_borrowed_fd(minrepro, PollFlags::IN)];
            if poll(&mut fds, Some(&timespec(STEP))).is_ok_and(|count| count > 0) {
                return End::Signal(9);
            }
        }
    }

    /// How the program ended, if it has.
    fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.program.try_wait().ok().flatten();
        }
        self.status
    }

    /// Aborts the program: interpreters show their stacks before they die.
    fn abort(&mut self) {
        if let Some(program) = self.id() {
            let _ = kill_process(program, Signal::ABORT);
        }
        let until = Instant::now() + GRACE;
        while self.status().is_none() && Instant::now() < until {
            std::thread::sleep(STEP);
        }
    }

    /// Ends all of it: politely if there is grace, then not.
    pub(super) fn end(&mut self, grace: Duration) {
        let begun = Instant::now();
        let mut signal = (!grace.is_zero()).then_some(Signal::TERM);
        while !self.has_ended() && begun.elapsed() < grace + END {
            if begun.elapsed() >= grace {
                signal = Some(Signal::KILL);
            }
            // Asked to end once, killed until nothing is left.
            if let Some(signal) = signal.take()
                && let Some(group) = self.id()
            {
                let _ = kill_process_group(group, signal);
            }
            std::thread::sleep(STEP);
        }
    }

    /// Whether nothing is left of it.
    fn has_ended(&mut self) -> bool {
        self.status().is_some()
            && self
                .id()
                .is_none_or(|id| test_kill_process_group(id).is_err())
    }

    /// The number of the program and of its group.
    fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.program.id()).ok()?)
    }
}

fn end_of(status: ExitStatus) -> End {
    status
        .signal()
        .map_or_else(|| End::Exit(status.code().unwrap_or_default()), End::Signal)
}

#[cfg(test)]
mod tests {
    use std::{
        os::{
            fd::AsFd,
            unix::{net::UnixStream, process::CommandExt},
        },
        process::{Command, Stdio},
    };

    use super::*;
    use crate::runner::orders::DiskLimits;

    /// How a shell script ends in a folder, with whether minrepro lives on. It is given so long,
    /// and its folder so many bytes; nothing of it may be left afterwards.
    #[expect(clippy::disallowed_methods, reason = "it tests what starts processes")]
    fn run(script: &str, lives: bool, timeout: Duration, bytes: u64) -> End {
        let folder = tempfile::tempdir().unwrap();
        let program = Command::new("/bin/sh")
            .args(["-c", script])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let limits = RunLimits {
            timeout,
            idle: None,
            question: None,
            memory: u64::MAX,
            processes: u32::MAX,
            scratch: folder.path().to_owned(),
            disk: DiskLimits {
                session: folder.path().to_owned(),
                all: bytes,
                cache: folder.path().join("cache"),
                cached: bytes,
                share: bytes,
            },
            shows_stack: true,
        };
        let mut run = ProcessGroup::of(program);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let _minrepro = lives.then_some(theirs);
        let Reply::Ended { end, .. } = run.watch(&limits, ours.as_fd()) else {
            panic!("{script}");
        };
        assert!(
            test_kill_process_group(run.id().unwrap()).is_err(),
            "{script}"
        );
        end
    }

    const LONG: Duration = Duration::from_secs(60);
    const MUCH: u64 = 1 << 30;

    #[test]
    fn a_run_ends_as_its_program_does_and_leaves_nothing_in_its_group() {
        assert_eq!(run("exit 3", true, LONG, MUCH), End::Exit(3));
        assert_eq!(run("kill -6 $$", true, LONG, MUCH), End::Signal(6));
        assert_eq!(run("sleep 600 & exit 0", true, LONG, MUCH), End::Exit(0));
        let deaf = "(trap '' TERM; while :; do sleep 1; done) & exit 0";
        assert_eq!(run(deaf, true, LONG, MUCH), End::Exit(0));
    }

    #[test]
    fn a_run_is_ended_by_its_limits_and_with_minrepro() {
        let short = Duration::from_millis(200);
        let end = run("trap '' TERM; sleep 600 & sleep 600", true, short, MUCH);
        assert_eq!(end, End::Timeout);
        let end = run(
            "head -c 9999999 /dev/zero > file; sleep 600",
            true,
            LONG,
            1 << 20,
        );
        assert_eq!(end, End::Limit(Resource::Scratch));
        assert_eq!(
            run("sleep 600 & sleep 600", false, LONG, MUCH),
            End::Signal(9)
        );
    }
}
