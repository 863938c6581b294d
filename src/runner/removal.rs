//! The removal of files that a run may have left in any number, to any depth and with any
//! permissions. Called by the code that made their folder, and by the guard.

use std::{
    fs,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
    time::Instant,
};

use rustix::{
    fd::AsFd,
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fchmod, fstat, openat, renameat,
        statat, unlinkat,
    },
    io::{Errno, Result},
};

/// Removes a file or a folder with all in it.
pub(super) fn remove(path: &Path) {
    remove_until(path, None);
}

/// The same, as far as it gets until then. Returns whether everything was removed.
pub(super) fn remove_until(path: &Path, until: Option<Instant>) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return true;
    };
    if !metadata.is_dir() {
        return fs::remove_file(path).is_ok();
    }
    let is_empty = open(CWD, path).is_ok_and(|top| empty(top.as_fd(), until).unwrap_or(false));
    is_empty && fs::remove_dir(path).is_ok()
}

/// Makes a folder writable, whatever its rights: only such a folder can be moved elsewhere.
pub(super) fn open_up(folder: &Path) {
    // If this fails, so does the move that needs it.
    let _ = open(CWD, folder);
}

/// Removes everything in a folder. Entries two levels below are moved up to the first level, so
/// that any depth needs only two open files and no recursion.
fn empty(top: BorrowedFd<'_>, until: Option<Instant>) -> Result<bool> {
    let is_late = || until.is_some_and(|until| Instant::now() >= until);
    let mut moved = 0u64;
    loop {
        let (mut is_empty, mut has_changed) = (true, false);
        for entry in Dir::read_from(top)? {
            let name = entry?.file_name().to_owned();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            is_empty = false;
            if is_late() {
                return Ok(false);
            }
            if unlinkat(top, &*name, AtFlags::empty()).is_ok() {
                has_changed = true;
                continue;
            }
            let Ok(folder) = open(top, &*name) else {
                continue;
            };
            for entry in Dir::read_from(&folder)? {
                let inner = entry?.file_name().to_owned();
                if matches!(inner.to_bytes(), b"." | b"..") {
                    continue;
                }
                if is_late() {
                    return Ok(false);
                }
                let is_gone = [AtFlags::empty(), AtFlags::REMOVEDIR]
                    .into_iter()
                    .any(|flags| unlinkat(&folder, &*inner, flags).is_ok());
                if is_gone {
                    has_changed = true;
                    continue;
                }
                // A folder that is not empty; to be moved it must be writable itself.
                let _ = make_writable(&folder, &*inner);
                moved += 1;
                let place = format!(".minrepro-{moved}");
                has_changed |= renameat(&folder, &*inner, top, place).is_ok();
            }
            has_changed |= unlinkat(top, &*name, AtFlags::REMOVEDIR).is_ok();
        }
        if is_empty || !has_changed {
            return Ok(is_empty);
        }
    }
}

/// Opens a folder and makes it writable, whatever its rights.
fn open(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(&parent, name, flags, Mode::empty()).or_else(|_| {
        make_writable(&parent, name)?;
        openat(&parent, name, flags, Mode::empty())
    })?;
    if !Mode::from_raw_mode(fstat(&folder)?.st_mode).contains(Mode::RWXU) {
        // Where this fails, what is in it cannot be removed, which shows later.
        let _ = fchmod(&folder, Mode::RWXU);
    }
    Ok(folder)
}

/// Makes a folder writable, but nothing through a link, which leads elsewhere.
fn make_writable(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<()> {
    let found = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !FileType::from_raw_mode(found.st_mode).is_dir() {
        return Err(Errno::NOTDIR);
    }
    chmodat(&parent, name, Mode::RWXU, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::{PermissionsExt, symlink},
        time::Duration,
    };

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn whatever_a_run_leaves_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::File::create(kept.join("file")).unwrap();
        let left = folder.path().join("left");
        fs::create_dir(&left).unwrap();
        symlink(&kept, left.join("link")).unwrap();
        // Deeper than any path can be long.
        let mut at = open(CWD, &*left).unwrap();
        for _ in 0..3000 {
            mkdirat(&at, "deep", Mode::RWXU).unwrap();
            fs::File::create(format!(
                "/proc/self/fd/{}/file",
                std::os::fd::AsRawFd::as_raw_fd(&at)
            ))
            .unwrap();
            at = open(&at, "deep").unwrap();
        }
        let closed = left.join("closed");
        fs::create_dir_all(closed.join("below/far")).unwrap();
        for path in [closed.join("below"), closed.clone()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        assert!(!remove_until(&left, Some(Instant::now())));
        let begun = Instant::now();
        assert!(remove_until(&left, Some(begun + Duration::from_secs(60))));
        assert!(!left.exists() && kept.join("file").exists());
        assert!(remove_until(&left, None));
    }

    #[test]
    fn no_mode_is_changed_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, left) = (folder.path().join("kept"), folder.path().join("left"));
        fs::File::create(&kept).unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
        fs::create_dir_all(left.join("closed")).unwrap();
        symlink(&kept, left.join("closed/link")).unwrap();
        for path in [left.join("closed"), left.clone()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o500)).unwrap();
        }
        // Whose user is root may write to any folder and is not stopped by its mode.
        assert!(remove_until(&left, None));
        let mode = kept.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
