//! Systems other than Linux: a run is a process group with a limit on its time and one on the files
//! that it leaves on disk. Nothing confines runs, limits their memory or sees what they wait for.
//! Called only through `platform`.

use std::{
    io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::fs::Mode;

use super::{NO_CONFINEMENT, process_group::ProcessGroup};
use crate::runner::{
    bounds::{Bounds, Confinement},
    launch,
    orders::{Order, Reply, RunOrder, reply, silence},
};

/// Carries out the order of a run's helper.
pub(in crate::runner) fn carry_out(order: Order, _: Vec<u8>) {
    match order {
        Order::Run(order) => reply(&watch(&order)),
        Order::Zygote(_) | Order::Try(_) | Order::Init { .. } => {
            reply(&Reply::NotStarted(NO_CONFINEMENT.to_owned()));
        }
        Order::Guard(_) | Order::Also(_) => {}
    }
}

/// None.
pub(in crate::runner) fn confinements() -> Vec<Confinement> {
    Vec::new()
}

/// Nothing is covered.
pub(in crate::runner) fn reachable_sockets(_: &Bounds) -> Vec<PathBuf> {
    Vec::new()
}

/// Nothing is forked, so nothing has to be confined within a confinement.
pub(in crate::runner) fn nesting(_: &Bounds, _: PathBuf, _: PathBuf) -> Option<Confinement> {
    None
}

/// Orphans are not to be had here: process groups take their place.
pub(in crate::runner) fn adopt_orphans() {}

/// Processes that a killed supervisor has left behind are not children of this process.
pub(in crate::runner) fn end_strays(_: impl Fn(u32) -> bool) {}

/// Named pipes are for warm runs.
pub(in crate::runner) fn make_pipe(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The bits that new files of this process do not get.
pub(in crate::runner) fn umask() -> u32 {
    // It can be read by setting it alone.
    let mask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(mask);
    u32::from(mask.bits())
}

/// Not known.
pub fn machine_memory() -> Option<u64> {
    None
}

/// Runs one program to its end.
fn watch(order: &RunOrder) -> Reply {
    let mut run = match launch::start(&order.program) {
        Ok(program) => ProcessGroup::of(program),
        Err(reason) => return Reply::NotStarted(reason),
    };
    // The output belongs to the program alone, which may close it before its end.
    if let Err(error) = silence() {
        run.end(std::time::Duration::ZERO);
        return Reply::NotStarted(error.to_string());
    }
    run.watch(&order.limits, io::stdin().as_fd())
}
