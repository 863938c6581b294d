//! Reads files that somebody else may have made or may still change. A read never waits and never
//! exceeds its size limit. Used wherever a run, a stranger's folder or a shared folder can decide
//! where a path leads.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Whether a path may be a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// Opens a regular file; pipes, devices, sockets and folders are errors at once.
pub(crate) fn open_regular(path: &Path, links: Links, options: &OpenOptions) -> io::Result<File> {
    // Without this a pipe waits for its other end, and some files of the kernel for news.
    let mut flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    if links == Links::Refused {
        flags |= libc::O_NOFOLLOW;
    }
    let file = options.clone().custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is not a regular file",
    ))
}

/// The content of a regular file of at most so many bytes.
///
/// # Errors
///
/// It is longer, no regular file, or one of the kernel's, to which only a link leads from
/// elsewhere: they say that they are empty, and reading them may wait or use them up.
pub(crate) fn read_regular(path: &Path, links: Links, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, links, OpenOptions::new().read(true))?;
    if file.metadata()?.len() == 0 && path.is_symlink() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_of_a_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        File::create(at("file"))
            .unwrap()
            .write_all(b"12345")
            .unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink("/proc/self/status", at("kernel")).unwrap();
        symlink("file", at("link")).unwrap();
        let read = |name: &str, links, most| read_regular(&at(name), links, most).ok();
        assert_eq!(
            read("file", Links::Refused, 5).as_deref(),
            Some(&b"12345"[..])
        );
        assert_eq!(read("file", Links::Refused, 4), None);
        assert_eq!(
            read("link", Links::Followed, 5).as_deref(),
            Some(&b"12345"[..])
        );
        assert_eq!(read("link", Links::Refused, 5), None);
        for name in ["pipe", "zero", "kernel", ".", "missing"] {
            assert_eq!(read(name, Links::Followed, 1 << 20), None, "{name}");
        }
    }
}
