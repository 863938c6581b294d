//! The question to a traced program about where it hangs, by a named pipe that its tracer reads.
//! Called by the supervisors before they end a program that has reached its time limit.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rustix::fs::{Mode, OFlags, open};

/// Asks a traced program to note where it hangs, and waits until it has. One that holds its
/// interpreter up in native code cannot answer.
pub(super) fn ask(question: &Path) {
    const PATIENCE: Duration = Duration::from_secs(5);
    let Ok(pipe) = open(
        question,
        OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    ) else {
        return;
    };
    let until = Instant::now() + PATIENCE;
    if rustix::io::write(&pipe, b"?").is_ok() {
        // It removes the pipe when it is done.
        while question.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
