//! Remembers whether the user was subscribed to an issue before the flow wrote to it, in a file of
//! the user's runtime folder that stays until the state is restored. Saving twice keeps the first
//! state.

use std::{
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    gh::{GhError, GitHub, Subscription},
    issue::{Issue, Repo},
};
use crate::report::write_atomically;

#[derive(Serialize, Deserialize)]
struct SavedSubscription {
    node_id: String,
    state: Subscription,
}

/// The file for an issue, its folder created; none if other users could write to the folder.
pub(super) fn file(repo: &Repo, number: u64) -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let user = rustix::process::getuid().as_raw();
    let root = runtime
        .filter(|path| path.is_absolute() && path.is_dir())
        .map_or_else(
            || std::env::temp_dir().join(format!("minrepro-{user}")),
            |runtime| runtime.join("minrepro"),
        );
    let folder = root.join("subscriptions");
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .ok()?;
    let is_own = root
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user);
    is_own.then(|| folder.join(format!("{}-{}-{number}.json", repo.owner, repo.name)))
}

/// The state before the first write, from the file or else from GitHub, whose answer is saved.
pub(super) fn save(
    file: Option<&Path>,
    issue: &Issue,
    github: &GitHub<'_>,
) -> Result<Subscription, GhError> {
    if let Some(saved) = file.and_then(read) {
        return Ok(saved);
    }
    let state = github.subscription(&issue.node_id)?;
    if let Some(file) = file {
        let text = serde_json::to_vec(&SavedSubscription {
            node_id: issue.node_id.clone(),
            state,
        })
        .unwrap_or_default();
        // Without the file only a killed scrub leaves the subscription changed.
        let _ = write_atomically(file, &text);
    }
    Ok(state)
}

/// The saved state.
pub(super) fn read(file: &Path) -> Option<Subscription> {
    let saved: SavedSubscription = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Some(saved.state)
}

/// Removes the file once the state is restored or no longer wanted.
pub(super) fn forget(file: Option<&Path>) {
    if let Some(file) = file {
        // A file that stays is restored once more, which changes nothing.
        let _ = std::fs::remove_file(file);
    }
}
