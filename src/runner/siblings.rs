//! The files beside the script: which there are, and how a working folder comes to hold them and to
//! hold nothing else again. Nothing of the user's is ever written: what is small is copied, the rest
//! is linked, and links lead where a confined run cannot write. Called by `stock`.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirEntryExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use super::{platform, removal::remove};
use crate::files::{Links, open_regular, read_regular};

/// At most so many bytes and entries are copied for each run.
const COPIED_BYTES: u64 = 2 << 20;
const COPIED_ENTRIES: usize = 200;
/// Beyond so many entries of the script's folder the rest is not shown.
const SHOWN: usize = 10_000;

/// The files beside the script, as each run is to see them.
#[derive(Clone, Debug)]
pub(super) struct Siblings {
    entries: Vec<Entry>,
    /// The same by folder and name, as places in `entries`; parents come before what is in them.
    folders: BTreeMap<PathBuf, HashMap<OsString, usize>>,
}

#[derive(Clone, Debug)]
enum Entry {
    File {
        path: PathBuf,
        bytes: Arc<[u8]>,
        mode: u32,
    },
    Folder {
        path: PathBuf,
    },
    Link {
        path: PathBuf,
        target: PathBuf,
        first: Option<FirstLink>,
    },
}

/// A link that was made once. In working folders it gets further names, which costs a busy disk
/// much less than new links, and a look into the folder shows whether such a name still stands for
/// it: nobody can change where a link leads.
#[derive(Clone, Debug)]
struct FirstLink {
    path: PathBuf,
    inode: u64,
}

impl Siblings {
    /// Looks at the script's folder once.
    pub(super) fn of(script: &Path) -> io::Result<Self> {
        let folder = script
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let folder = folder.canonicalize()?;
        let mut entries = Vec::new();
        // Small files are copied, so that a script may write to them; each run pays for that.
        let mut left = (COPIED_BYTES, COPIED_ENTRIES);
        for entry in sorted(&folder)?.into_iter().take(SHOWN) {
            let name = PathBuf::from(entry.file_name().unwrap_or_default());
            // Bytecode is bound to the date of its source, and copies have dates of their own.
            let hidden_caches = name.as_os_str() == "__pycache__";
            if Some(name.as_os_str()) == script.file_name() || hidden_caches {
                continue;
            }
            let mut copied = Vec::new();
            let mut budget = left;
            if !is_of_a_tool(&name) && copy(&entry, &name, &mut copied, &mut budget) {
                left = budget;
                entries.append(&mut copied);
            } else {
                entries.push(Entry::Link {
                    path: name,
                    target: entry,
                    first: None,
                });
            }
        }
        let mut folders: BTreeMap<PathBuf, HashMap<OsString, usize>> = BTreeMap::new();
        folders.entry(PathBuf::new()).or_default();
        for (at, entry) in entries.iter().enumerate() {
            let path = entry.path();
            if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
                let names = folders.entry(parent.to_owned()).or_default();
                names.insert(name.to_owned(), at);
            }
            if matches!(entry, Entry::Folder { .. }) {
                folders.entry(path.to_owned()).or_default();
            }
        }
        Ok(Self { entries, folders })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The names by which Python finds modules beside the script.
    pub(super) fn modules(&self) -> BTreeSet<String> {
        let name = |entry: &Entry| {
            let first = entry
                .path()
                .components()
                .next()?
                .as_os_str()
                .to_string_lossy()
                .into_owned();
            let is_module = [".py", ".pyc", ".so"]
                .iter()
                .any(|suffix| first.ends_with(suffix));
            if is_module {
                first.split('.').next().map(str::to_owned)
            } else {
                Some(first)
            }
        };
        self.entries.iter().filter_map(name).collect()
    }

    /// Makes all links once, in a new folder on the disk of the working folders, out of the reach
    /// of runs.
    pub(super) fn make_links(&mut self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)?;
        let mut places = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Entry::Link { target, .. } = entry {
                let name = at.to_string();
                symlink(target, folder.join(&name))?;
                places.insert(OsString::from(name), at);
            }
        }
        // As the folder names them, not as the files do: some file systems number them in two ways.
        for made in fs::read_dir(folder)? {
            let made = made?;
            let at = places.get(&made.file_name());
            if let Some(Entry::Link { first, .. }) = at.and_then(|at| self.entries.get_mut(*at)) {
                *first = Some(FirstLink {
                    path: made.path(),
                    inode: made.ino(),
                });
            }
        }
        Ok(())
    }

    /// Puts all into an empty folder.
    pub(super) fn place(&self, folder: &Path) -> io::Result<()> {
        self.entries
            .iter()
            .try_for_each(|entry| entry.place(folder))
    }

    /// Makes a folder that a run was in as it was before: what is there no more, or is different,
    /// is placed anew, and all else goes. Nothing of the run may be left.
    pub(super) fn restore(&self, folder: &Path) -> io::Result<()> {
        let mut is_kept = vec![false; self.entries.len()];
        for (inner, names) in &self.folders {
            // Joined to nothing, a path ends with a slash, and such a one leads through a link.
            let place = if inner.as_os_str().is_empty() {
                folder.to_owned()
            } else {
                folder.join(inner)
            };
            if !place.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                remove(&place);
                fs::create_dir(&place)?;
            }
            // A folder that the run has closed opens by this, too.
            let mode = fs::Permissions::from_mode(NEW_FOLDER & !umask());
            fs::set_permissions(&place, mode)?;
            for found in fs::read_dir(&place)? {
                let found = found?;
                match names.get(&found.file_name()) {
                    Some(&at) => is_kept[at] = self.entries[at].is_link(found.ino()),
                    None => remove(&found.path()),
                }
            }
        }
        for (entry, is_kept) in self.entries.iter().zip(is_kept) {
            if !is_kept && !entry.is_placed(folder) {
                remove(&folder.join(entry.path()));
                entry.place(folder)?;
            }
        }
        Ok(())
    }
}

/// The mode of a new folder, before the mask of the process.
const NEW_FOLDER: u32 = 0o777;

/// The bits that new files of this process do not get.
fn umask() -> u32 {
    static MASK: LazyLock<u32> = LazyLock::new(platform::umask);
    *MASK
}

impl Entry {
    /// Its path from the script's folder on.
    fn path(&self) -> &Path {
        let (Self::File { path, .. } | Self::Folder { path } | Self::Link { path, .. }) = self;
        path
    }

    fn place(&self, folder: &Path) -> io::Result<()> {
        let place = folder.join(self.path());
        match self {
            Self::File { bytes, mode, .. } => OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(*mode)
                .open(place)?
                .write_all(bytes),
            Self::Folder { .. } => fs::create_dir(place),
            Self::Link { target, first, .. } => {
                let is_named = first
                    .as_ref()
                    .is_some_and(|first| fs::hard_link(&first.path, &place).is_ok());
                // A link can have so many names and no more, on some file systems one.
                if is_named {
                    Ok(())
                } else {
                    symlink(target, place)
                }
            }
        }
    }

    /// Whether it is a link that was made once, and this is its number.
    fn is_link(&self, inode: u64) -> bool {
        matches!(self, Self::Link { first: Some(first), .. } if first.inode == inode)
    }

    /// Whether it is there as it was placed.
    fn is_placed(&self, folder: &Path) -> bool {
        let place = folder.join(self.path());
        match self {
            Self::File { bytes, mode, .. } => {
                let is_same = |found: &fs::Metadata| {
                    found.mode() & 0o7777 == mode & !umask()
                        && found.nlink() == 1
                        && found.len() == bytes.len() as u64
                        // What changes a file's attributes alone changes this time.
                        && found.ctime() == found.mtime()
                        && found.ctime_nsec() == found.mtime_nsec()
                };
                let holds = |mut file: fs::File| {
                    let mut content = vec![0; bytes.len()];
                    Ok(is_same(&file.metadata()?)
                        && file.read_exact(&mut content).is_ok()
                        && content == **bytes)
                };
                open_regular(&place, Links::Refused, OpenOptions::new().read(true))
                    .and_then(holds)
                    .unwrap_or(false)
            }
            Self::Folder { .. } => place.symlink_metadata().is_ok_and(|found| found.is_dir()),
            Self::Link { target, .. } => fs::read_link(&place).is_ok_and(|found| found == *target),
        }
    }
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .take(SHOWN)
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    Ok(entries)
}

/// Whether a script never reads a file or folder of this name: version control and environments.
fn is_of_a_tool(name: &Path) -> bool {
    [
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        "node_modules",
        ".tox",
    ]
    .iter()
    .any(|tool| name.as_os_str() == *tool)
}

/// Takes a file or a folder into `entries` if the budget of bytes and entries allows it.
fn copy(from: &Path, to: &Path, entries: &mut Vec<Entry>, budget: &mut (u64, usize)) -> bool {
    let Ok(metadata) = fs::metadata(from) else {
        return false;
    };
    if budget.1 == 0 {
        return false;
    }
    budget.1 -= 1;
    if metadata.is_dir() {
        if from
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_symlink())
        {
            return false;
        }
        entries.push(Entry::Folder {
            path: to.to_owned(),
        });
        let Ok(inside) = sorted(from) else {
            return false;
        };
        return inside
            .iter()
            .filter(|entry| entry.file_name().is_some_and(|name| name != "__pycache__"))
            .all(|entry| {
                copy(
                    entry,
                    &to.join(entry.file_name().unwrap_or_default()),
                    entries,
                    budget,
                )
            });
    }
    if !metadata.is_file() || metadata.len() > budget.0 {
        return false;
    }
    let Ok(bytes) = read_regular(from, Links::Followed, budget.0) else {
        return false;
    };
    budget.0 = budget.0.saturating_sub(bytes.len() as u64);
    // The owner may write the copy whatever the mode of the original; its other bits stay.
    let mode = metadata.permissions().mode() & 0o777 | 0o600;
    entries.push(Entry::File {
        path: to.to_owned(),
        bytes: bytes.into(),
        mode,
    });
    true
}
