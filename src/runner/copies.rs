//! The folders of which each run may write to a copy of its own. Looks which of them exist. Called
//! by `workspace`.

use std::path::{Path, PathBuf};

/// The folders of which each run has a copy: those allowed and the caches, as far as they are
/// there, but none within another, and none within a session's own `root`.
pub(super) fn copied(allowed: &[PathBuf], caches: Vec<PathBuf>, root: &Path) -> Vec<PathBuf> {
    let all = allowed.iter().cloned().chain(caches);
    let mut found: Vec<PathBuf> = all
        .filter_map(|folder| folder.canonicalize().ok())
        .filter(|folder| folder.is_dir() && !folder.starts_with(root))
        .collect();
    found.sort();
    // Folders within a folder follow it.
    found.dedup_by(|next, kept| next.starts_with(&*kept));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_is_copied_within_another() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for folder in ["a/b", "ab", "root/c"] {
            std::fs::create_dir_all(place.join(folder)).unwrap();
        }
        let given = |names: &[&str]| {
            names
                .iter()
                .map(|name| place.join(name))
                .collect::<Vec<_>>()
        };
        let caches = given(&["a/b", "ab", "root/c", "gone", "a"]);
        assert_eq!(
            copied(&given(&["a"]), caches, &place.join("root")),
            given(&["a", "ab"])
        );
    }
}
