//! The resources that a run uses, compared with its limits. Called by the supervisors.

use std::path::Path;

use super::{held, process_tree};
use crate::runner::{
    limits::{is_walk, passes_disk_limits},
    orders::RunLimits,
    outcome::Resource,
};

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
    let memory = process_tree::memory(pids);
    if memory > limits.memory {
        return Some(Resource::Memory);
    }
    if !is_walk(looks) {
        return None;
    }
    let held = held::by(pids);
    if memory + held.memory > limits.memory {
        return Some(Resource::Memory);
    }
    passes_disk_limits(&limits.disk, scratch, held.disk, looks).then_some(Resource::Scratch)
}
