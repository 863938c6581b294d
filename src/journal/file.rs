//! A file that is opened under a lock, read once and appended to line by line: that of a journal in
//! the user's cache folder, of a history, and of a backlog. Does not interpret the lines.

use std::{
    env,
    fs::{self, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use etcetera::{BaseStrategy, base_strategy::Xdg};

use crate::files::{Links, open_regular};

/// Our part of the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let user = Xdg::new().ok()?;
    Some(user.cache_dir().join("minrepro"))
}

/// The variable with the folder of the journals.
const JOURNALS: &str = "MINREPRO_JOURNALS";

/// The folder of the journals: the one that the user names, or else one in our part of the cache
/// folder.
pub fn journals_folder() -> Option<PathBuf> {
    named_journals_folder().or_else(|| Some(cache_folder()?.join("journals")))
}

/// The folder of the journals that the user names.
pub fn named_journals_folder() -> Option<PathBuf> {
    let named = env::var_os(JOURNALS)?;
    (!named.is_empty()).then(|| named.into())
}

/// Journals that were not used for so long are removed.
const KEPT: Duration = Duration::from_hours(720);

/// How often a journal's lock is tried again, and after which pauses.
const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process is at the same reduction.
    #[error("another minrepro is at work on the same script")]
    InUse {
        /// The journal.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("could not use the journal `{}`", path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// An open file of lines. Nobody else opens it until it is dropped.
#[derive(Debug)]
pub(crate) struct LineFile {
    path: PathBuf,
    file: fs::File,
}

impl LineFile {
    /// Opens the journal of an identity and reads it whole.
    pub(super) fn of_identity(
        folder: &Path,
        identity: &str,
    ) -> Result<(Self, String), JournalError> {
        let name = blake3::hash(identity.as_bytes()).to_hex();
        remove_old(folder);
        Self::open(&folder.join(format!("{}.jsonl", &name[..32])))
    }

    /// Opens a file, or makes one, and reads it whole.
    pub(crate) fn open(path: &Path) -> Result<(Self, String), JournalError> {
        let path = path.to_owned();
        let failed = |source| JournalError::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = open_regular(&path, Links::Refused, &options).map_err(failed)?;
        // A process that is just being started holds what its parent held, for a moment.
        let mut tries = LOCK_TRIES;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries > 0 => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            tries -= 1;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok((
            Self { path, file },
            String::from_utf8_lossy(&bytes).into_owned(),
        ))
    }

    /// Truncates the file after the part that can be trusted, and appends from there.
    pub(crate) fn keep(&self, length: u64) -> Result<(), JournalError> {
        let cut = || {
            self.file.set_len(length)?;
            (&self.file).seek(SeekFrom::Start(length))
        };
        cut().map(|_| ()).map_err(|source| JournalError::Io {
            path: self.path.clone(),
            source,
        })
    }

    /// Appends a line by one write, so that a kill leaves it whole, torn at the end, or not at all.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Waits until the disk has all that was appended.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn remove_old(folder: &Path) {
    let old = |path: &Path| {
        let modified = fs::metadata(path)
            .and_then(|metadata| metadata.modified())
            .unwrap_or_else(|_| SystemTime::now());
        SystemTime::now()
            .duration_since(modified)
            .is_ok_and(|age| age > KEPT)
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "jsonl")
            && old(&entry.path())
        {
            // It belongs to someone else, or another process removed it first.
            let _ = fs::remove_file(entry.path());
        }
    }
}
