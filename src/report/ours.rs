//! Which files minrepro wrote, so that it replaces no file of somebody else without asking. A note
//! in the user's cache folder holds, for each path, the last contents that were written there.
//! Called by the verbs that write files.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::write::write_atomically;
use crate::{
    cli::Failure,
    files::{Links, read_regular},
};

/// Contents that a note remembers: the one that was there and the one that replaces it.
const KEPT: usize = 2;
/// The largest note and the largest file that may be ours, in bytes.
const NOTE: u64 = 4096;
const LARGEST: u64 = 256 << 20;

/// The files that minrepro wrote.
#[derive(Clone, Debug)]
pub(crate) struct OurFiles {
    /// Where the notes are; none are kept without one.
    folder: Option<PathBuf>,
    /// Whether to replace the files of others.
    force: bool,
}

impl OurFiles {
    /// The files that notes in this folder tell of.
    pub(crate) fn new(folder: Option<PathBuf>, force: bool) -> Self {
        Self { folder, force }
    }

    /// Whether a file may be replaced: there is none, it is empty, or minrepro wrote it.
    ///
    /// # Errors
    ///
    /// It is somebody else's.
    pub(crate) fn check(&self, path: &Path) -> Result<(), Failure> {
        let is_free = match path.metadata() {
            Ok(found) => found.len() == 0,
            Err(_) => true,
        };
        if self.force || is_free || self.is_ours(path) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "`{}` exists, and minrepro did not write it",
            path.display()
        ))
        .hint("`--force` replaces it; or name another file"))
    }

    /// Replaces a file's content at once, and notes that it is ours.
    ///
    /// # Errors
    ///
    /// The old file, if there was one, is as it was.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Before the file itself: a kill in between leaves a note of a content that is not there
        // yet.
        if let Some(note) = self.note(path) {
            let own = hash(bytes);
            let mut hashes = noted(&note);
            hashes.retain(|known| *known != own);
            hashes.push(own);
            let from = hashes.len().saturating_sub(KEPT);
            let text = hashes[from..].join("\n") + "\n";
            // Without its note the file is replaced by `--force` alone.
            let _ = note.parent().map(std::fs::create_dir_all);
            let _ = write_atomically(&note, text.as_bytes());
        }
        write_atomically(path, bytes)
    }

    fn is_ours(&self, path: &Path) -> bool {
        let Some(note) = self.note(path) else {
            return false;
        };
        read_regular(path, Links::Followed, LARGEST)
            .is_ok_and(|bytes| noted(&note).contains(&hash(&bytes)))
    }

    fn note(&self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let name = hash(path.as_os_str().as_encoded_bytes());
        Some(self.folder.as_ref()?.join(name))
    }
}

fn noted(note: &Path) -> Vec<String> {
    let bytes = read_regular(note, Links::Refused, NOTE).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.min.py");
        let ours = |force| OurFiles::new(Some(folder.path().join("notes")), force);
        assert!(ours(false).check(&file).is_ok());
        ours(false).write(&file, b"one").unwrap();
        ours(false).write(&file, b"two").unwrap();
        assert!(ours(false).check(&file).is_ok());
        write_atomically(&file, b"theirs").unwrap();
        let refused = ours(false).check(&file).unwrap_err();
        assert!(refused.error.to_string().contains("did not write it"));
        assert!(ours(true).check(&file).is_ok());
        // A kill after the note and before the file.
        write_atomically(&file, b"one").unwrap();
        assert!(ours(false).check(&file).is_ok());
        write_atomically(&file, b"").unwrap();
        assert!(ours(false).check(&file).is_ok());
        assert!(
            OurFiles::new(None, false)
                .check(&folder.path().join("none"))
                .is_ok()
        );
    }
}
