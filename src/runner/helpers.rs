//! The helper processes of this process: supervisors and guards, and the processes left below one
//! that was killed. On every system, the only file besides `launch` that starts processes for runs.
//! Called by the handle, the cold backend and the zygotes.

use std::{
    collections::BTreeSet,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    process::Stdio,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::process::Child;

use super::{
    orders::{Order, send},
    platform,
};

/// Process ids of all supervisors and guards of this process, which is one reaper for all its
/// runners.
static HELPERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn helpers() -> MutexGuard<'static, BTreeSet<u32>> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a helper from minrepro's executable; returns our end of its socket, too.
#[expect(clippy::disallowed_methods, reason = "the runner starts processes")]
pub(super) fn spawn(
    minrepro: &Path,
    output: impl Fn() -> Stdio,
) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = tokio::process::Command::new(minrepro)
        .arg("supervise")
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(output())
        .stderr(output())
        // Its own group: a Ctrl-C at the terminal is for minrepro alone.
        .process_group(0)
        .spawn()?;
    helpers().extend(child.id());
    Ok((child, ours))
}

/// Starts the guard over a session's folder; it ends when its socket closes.
pub(super) fn start_guard(minrepro: &Path, root: &Path) -> io::Result<UnixStream> {
    let (guard, socket) = spawn(minrepro, Stdio::null)?;
    send(&socket, &Order::Guard(root.to_owned()))?;
    // The guard outlives its handle on purpose.
    drop(guard);
    Ok(socket)
}

/// Waits for a helper whose socket is closed. If it was killed, ends the processes that it has left
/// behind, which are now children of this process but not its helpers.
pub(super) async fn collect(mut helper: Child, was_killed: bool) {
    let pid = helper.id();
    let _ = helper.wait().await;
    let mut helpers = helpers();
    if was_killed {
        platform::end_strays(|pid| helpers.contains(&pid));
    }
    pid.map(|pid| helpers.remove(&pid));
}
