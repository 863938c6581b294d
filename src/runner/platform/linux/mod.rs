//! Linux: runs in namespaces of their own, their processes as `/proc` shows them, and warm runs.
//! Called through `platform` alone.

mod held;
mod init;
mod process_tree;
mod run_clock;
mod sandbox;
mod standstill;
mod usage;
mod watch;
mod zygote_supervisor;

use std::{fs, io, path::Path};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{getpid, set_child_subreaper},
};

pub(in crate::runner) use process_tree::end_strays;
pub(in crate::runner) use sandbox::{confinements, nesting, reachable_sockets};

use crate::runner::orders::{Order, reply};

/// Carries out the order of a run's helper; `read` is the input that was already read after it.
pub(in crate::runner) fn carry_out(order: Order, read: Vec<u8>) {
    match order {
        Order::Run(order) => reply(&watch::watch(*order)),
        Order::Zygote(order) => zygote_supervisor::watch(*order, read),
        Order::Try(bounds) => reply(&watch::attempt(bounds)),
        Order::Init { bounds, program } => init::serve(&bounds, program.as_ref()),
        // The guard's, which needs nothing of Linux.
        Order::Guard(_) | Order::Also(_) => {}
    }
}

/// Makes this process the parent of all processes below it that lose their own.
pub(in crate::runner) fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Makes a named pipe.
pub(in crate::runner) fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(mknodat(
        CWD,
        path,
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )?)
}

/// The bits that new files of this process do not get.
pub(in crate::runner) fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok())
        .unwrap_or(0o022)
}

/// The memory of the machine in bytes, if it is known.
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
