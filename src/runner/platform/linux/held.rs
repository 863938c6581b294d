//! Resources that the processes of a run hold besides their own memory and visible files: files
//! that were removed while open, and memory that files stand for. Read from `/proc`. Called by
//! `limits`.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::statvfs;

/// The space that processes hold, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// On disk.
    pub(super) disk: u64,
    /// In memory: shared memory, and files in memory.
    pub(super) memory: u64,
}

/// The space that these processes hold together.
pub(super) fn by(pids: &[u32]) -> Held {
    let mut held = Held::default();
    let mut seen = BTreeSet::new();
    let mut mapped = 0;
    for pid in pids {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        mapped = mapped.max(shared_memory(&folder));
        for entry in fs::read_dir(folder.join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            let Some(is_memory) = removed(&path) else {
                continue;
            };
            let Ok(file) = fs::metadata(&path) else {
                continue;
            };
            if file.is_file() && seen.insert((file.dev(), file.ino())) {
                let bytes = file.blocks() * 512;
                if is_memory {
                    held.memory += bytes;
                } else {
                    held.disk += bytes;
                }
            }
        }
    }
    // Mapped memory is mostly in these files, too, and processes share it: the larger figure
    // counts.
    held.memory = mapped.max(held.memory + own_folder_in_memory(pids));
    held
}

/// Whether an open file that has no name any more is in memory; nothing for all others.
fn removed(link: &Path) -> Option<bool> {
    let target = fs::read_link(link).ok()?;
    let target = target.to_str()?;
    target.ends_with(" (deleted)").then(|| {
        ["/memfd:", "/dev/shm/", "/SYSV", "/dev/zero "]
            .iter()
            .any(|start| target.starts_with(start))
    })
}

/// The shared memory that a process has mapped, in bytes.
fn shared_memory(process: &Path) -> u64 {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssShmem:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes
        .and_then(|number| number.trim().parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// The size of the files in the run's own `/dev/shm`, if it has its own.
fn own_folder_in_memory(pids: &[u32]) -> u64 {
    let outside = fs::metadata("/dev/shm").map_or(0, |folder| folder.dev());
    let sizes = pids.iter().filter_map(|pid| {
        let folder = format!("/proc/{pid}/root/dev/shm");
        if fs::metadata(&folder).ok()?.dev() == outside {
            return None;
        }
        let system = statvfs(&folder).ok()?;
        Some(system.f_blocks.saturating_sub(system.f_bfree) * system.f_frsize)
    });
    sizes.max().unwrap_or(0)
}
