//! The guard, a helper process that outlives minrepro and removes the leftovers of a session: all
//! of them after a `kill -9`, and those whose removal took too long at the normal end. Called by
//! `supervise`.

use std::{
    io::BufRead,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::{orders::Order, removal::remove_until};

/// How long the guard goes on removing files if somebody may still add some, or if the removal
/// takes long.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two tries, after the first few.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits until minrepro has ended, and removes what minrepro would have removed.
pub(super) fn guard(root: PathBuf, input: impl BufRead) {
    let mut left = vec![root];
    for line in input.lines() {
        match line.map(|line| serde_json::from_str(&line)) {
            Ok(Ok(Order::Also(path))) => left.push(path),
            _ => break,
        }
    }
    // The supervisors see the same end and kill their runs; until they have, a folder may fill
    // again.
    let until = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(20);
    while Instant::now() < until {
        // The root last: once it is removed, everything is.
        for path in left.iter().rev() {
            remove_until(path, Some(until));
        }
        if left.iter().all(|path| path.symlink_metadata().is_err()) {
            break;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}
