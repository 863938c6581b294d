//! The removal of a session's files: at its end by minrepro, after a `kill -9` by the guard, a
//! helper process that outlives it. Called by the runner and by `supervise`.

use std::{
    fs,
    io::BufRead,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::orders::Order;

/// How long the guard goes on removing what may still be filled.
const PATIENCE: Duration = Duration::from_secs(15);

/// Waits until minrepro has ended and removes what it would have removed.
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
    while Instant::now() < until {
        // The root last: once it is removed, everything is.
        for path in left.iter().rev() {
            remove(path);
        }
        if left.iter().all(|path| path.symlink_metadata().is_err()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Removes a file or a folder with all in it, folders that forbid it included.
pub(super) fn remove(path: &Path) {
    let Ok(metadata) = path.symlink_metadata() else {
        return;
    };
    if !metadata.is_dir() {
        let _ = fs::remove_file(path);
        return;
    }
    if fs::remove_dir_all(path).is_ok() {
        return;
    }
    open_up(path);
    let _ = fs::remove_dir_all(path);
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
