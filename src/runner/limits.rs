//! The limits of a run that the kernel does not enforce: how often they are checked, whether the
//! disk limit is exceeded, and how much time a run gets to end. Called by the supervisors.

use std::{fs, path::Path, time::Duration};

use rustix::event::Timespec;

use super::orders::DiskLimits;

/// How long a run that passed its time limit has between TERM and KILL.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// The time that processes left behind by a run get to end.
pub(super) const GRACE_FOR_LEFTOVERS: Duration = Duration::from_millis(50);
/// Between two looks at a run.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// The scratch folder is walked at every so many looks, and the cache, which may be large, at every
/// so many walks: that costs more than the rest of a look.
const LOOKS_A_WALK: u32 = 5;
const WALKS_OF_CACHE: u32 = 2;

/// Files and folders below a scratch folder or the cache: as many as a walk can visit, and a
/// removal can remove, in a second.
pub const FILES: usize = 50_000;
/// Folders within each other, likewise.
const DEPTH: usize = 200;

/// Whether this check walks over the files on disk.
pub(super) fn is_walk(looks: u32) -> bool {
    looks % LOOKS_A_WALK == 1
}

/// Whether a run exceeds its limits on disk: the files in its scratch folder, the space that it
/// `held` besides, and the cache. Called at checks that walk.
pub(super) fn passes_disk_limits(disk: &DiskLimits, scratch: &Path, held: u64, looks: u32) -> bool {
    let own = held + size_of(scratch, disk.all);
    let has_share = held <= disk.share
        && (own <= disk.share || held + size_of(&disk.session, disk.all) <= disk.all);
    if own > disk.all || !has_share {
        return true;
    }
    let walks = looks / LOOKS_A_WALK;
    walks % WALKS_OF_CACHE == 1 && size_of(&disk.cache, disk.cached) > disk.cached
}

/// Bytes on disk below a folder, counted until they pass `enough`; more than that where there are
/// more than so many files, or folders are nested too deeply to be looked into.
pub(super) fn size_of(folder: &Path, enough: u64) -> u64 {
    let mut files = FILES;
    size_below(folder, enough, &mut files, DEPTH)
}

fn size_below(folder: &Path, enough: u64, files: &mut usize, depth: usize) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let too_much = enough.saturating_add(1);
    if depth == 0 {
        return too_much;
    }
    let mut total = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(left) = files.checked_sub(1) else {
            return too_much;
        };
        *files = left;
        // Of the entry, not by its path: where a script has a thousand siblings this is most of it.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        total += metadata.blocks() * 512;
        if metadata.is_dir() && total <= enough {
            total += size_below(&entry.path(), enough - total, files, depth - 1);
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

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: u64 = 1 << 20;

    fn limits(session: &Path, all: u64) -> DiskLimits {
        DiskLimits {
            session: session.to_owned(),
            all,
            cache: session.join("cache"),
            cached: all / 2,
            share: all / 4,
        }
    }

    #[test]
    fn where_a_session_has_too_much_the_run_with_more_than_its_share_is_ended() {
        let session = tempfile::tempdir().unwrap();
        for (folder, megabytes) in [("run-0", 1), ("run-1", 8), ("cache", 4)] {
            fs::create_dir(session.path().join(folder)).unwrap();
            let bytes = vec![1; megabytes << 20];
            let mut file = fs::File::create(session.path().join(folder).join("file")).unwrap();
            std::io::Write::write_all(&mut file, &bytes).unwrap();
        }
        // Every fifth look walks the scratch folder, every second walk the cache.
        let (walk, with_cache) = (1, LOOKS_A_WALK + 1);
        let ended = |all, run: &str, looks| {
            let limits = limits(session.path(), all * MEGABYTE);
            assert!(is_walk(looks));
            passes_disk_limits(&limits, &session.path().join(run), 0, looks)
        };
        assert!(!ended(10, "run-0", walk));
        assert!(ended(10, "run-1", walk));
        assert!(!ended(20, "run-1", with_cache));
        // Its own limit holds as well, and that of the cache for all runs.
        assert!(ended(7, "run-1", walk));
        assert!(ended(7, "run-0", with_cache));
    }

    #[test]
    fn folders_that_nobody_can_look_into_count_as_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let deep: std::path::PathBuf = (0..=DEPTH).map(|_| "d").collect();
        fs::create_dir_all(folder.path().join(&deep)).unwrap();
        assert!(size_of(folder.path(), MEGABYTE * 100) > MEGABYTE * 100);
        fs::remove_dir_all(folder.path().join("d")).unwrap();
        assert!(size_of(folder.path(), MEGABYTE) <= MEGABYTE);
    }
}
