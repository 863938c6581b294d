//! Writing results so that a full disk or a kill never leaves half a file.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Replaces a file's content at once: by a hidden file beside it that takes its name when it is
/// complete.
///
/// # Errors
///
/// The old file, if there was one, is as it was.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    // One that a kill left behind. A new one is made in its place: a link of this name is not
    // followed.
    let _ = fs::remove_file(&temporary);
    let written = fs::File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // What could not be completed is worth nothing.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

/// The hidden file that [`write_atomically`] writes to.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.minrepro-part"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.py");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        std::os::unix::fs::symlink("other", temporary(&path)).unwrap();
        write_atomically(&path, b"two").unwrap();
        assert!(!folder.path().join("other").exists());
        let gone = folder.path().join("no/x.py");
        assert!(write_atomically(&gone, b"three").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
