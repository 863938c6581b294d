//! Writes results so that a full disk or a kill never leaves half a file. Called by the verbs.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Replaces a file's content atomically: by a hidden file beside it that takes its name when it is
/// complete.
///
/// # Errors
///
/// The old file, if there was one, is as it was.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    // A kill may have left one behind. The new one is created anew, so that a link of this name is
    // not followed.
    let _ = fs::remove_file(&temporary);
    let mut file = tempfile::Builder::new()
        .prefix(temporary.file_name().unwrap_or_default())
        .rand_bytes(0)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(path.parent().unwrap_or(Path::new("")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
