//! The limits of a run that the kernel does not keep by itself: how often they are looked at, which
//! of them is passed, and the time that what is ended has. Called by the supervisors.

use std::{fs, path::Path, time::Duration};

use rustix::event::Timespec;

use super::{orders::RunLimits, outcome::Resource, process_tree};

/// How long a run that passed its time limit has between TERM and KILL.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long what a run has left behind has.
pub(super) const GRACE_FOR_LEFTOVERS: Duration = Duration::from_millis(50);
/// Between two looks at a run.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// The scratch folder is walked at every so many looks: that costs more than the rest of a look.
const LOOKS_A_WALK: u32 = 5;

/// Which limit some processes and their scratch folder pass.
pub(super) fn exceeded(
    limits: &RunLimits,
    pids: &[u32],
    scratch: &Path,
    looks: u32,
) -> Option<Resource> {
    if pids.len() > limits.processes as usize {
        return Some(Resource::Processes);
    }
    // Anonymous memory alone: pages of files are shared by all runs and cost nothing more.
    if process_tree::memory(pids) > limits.memory {
        return Some(Resource::Memory);
    }
    (looks % LOOKS_A_WALK == 1 && size_of(scratch, limits.scratch_size) > limits.scratch_size)
        .then_some(Resource::Scratch)
}

/// Bytes on disk below a folder, counted until they pass `enough`.
fn size_of(folder: &Path, enough: u64) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.path().symlink_metadata() else {
            continue;
        };
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

/// A duration as `poll` takes it.
pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
