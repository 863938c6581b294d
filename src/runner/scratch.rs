//! Scratch folders: one for each run, holding the candidate under the script's own name and the
//! script's siblings as the user sees them. Nothing of the user's is ever written: what is small is
//! copied, the rest is linked, and links lead where a confined run cannot write. What a run has
//! left as it was serves the next one: on a busy disk a thousand new files take seconds. Called by
//! `workspace`.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    job::Job,
    outcome::{Captured, End, Outcome, Timing, TracebackFrame},
    platform, python,
    removal::{remove, remove_until},
    stack, traceback,
};
use crate::files::{Links, read_regular};

/// At most so many bytes and entries are copied for each run.
const COPIED_BYTES: u64 = 2 << 20;
const COPIED_ENTRIES: usize = 200;
/// Beyond so many entries of the script's folder the rest is not shown.
const SHOWN: usize = 10_000;
/// The largest evidence that is read, in bytes.
const TRACE: u64 = 16 << 20;
/// How long a run's folders are removed at its end.
const REMOVAL: Duration = Duration::from_millis(500);
/// Fewer siblings are placed anew for each run.
const FEW: usize = 32;

/// The files beside the script, as each run is to see them.
#[derive(Clone, Debug)]
pub(super) struct Siblings {
    entries: Vec<Entry>,
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
    },
}

impl Siblings {
    /// Looks at the script's folder once.
    pub(super) fn of(script: &Path) -> io::Result<Self> {
        let folder = script
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let folder = folder.canonicalize()?;
        let mut siblings = Self {
            entries: Vec::new(),
        };
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
                siblings.entries.append(&mut copied);
            } else {
                siblings.entries.push(Entry::Link {
                    path: name,
                    target: entry,
                });
            }
        }
        Ok(siblings)
    }

    /// The names by which Python finds modules beside the script.
    fn modules(&self) -> BTreeSet<String> {
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

    fn place(&self, folder: &Path) -> io::Result<()> {
        self.entries
            .iter()
            .try_for_each(|entry| entry.place(folder))
    }

    /// Makes a folder that a run was in as it was before: what is there no more, or is different,
    /// is placed anew, and all else goes. Nothing of the run may be left.
    fn restore(&self, folder: &Path) -> io::Result<()> {
        let mut wanted: BTreeMap<&Path, BTreeSet<OsString>> = BTreeMap::new();
        wanted.entry(Path::new("")).or_default();
        for entry in &self.entries {
            let path = entry.path();
            if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
                wanted.entry(parent).or_default().insert(name.to_owned());
            }
            if matches!(entry, Entry::Folder { .. }) {
                wanted.entry(path).or_default();
            }
        }
        // Parents come before what is in them.
        for (inner, names) in wanted {
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
                if !names.contains(&found.file_name()) {
                    remove(&found.path());
                }
            }
        }
        for entry in &self.entries {
            if !entry.is_placed(folder) {
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
            Self::File { bytes, mode, .. } => {
                use std::{io::Write, os::unix::fs::OpenOptionsExt};
                fs::OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(*mode)
                    .open(place)?
                    .write_all(bytes)
            }
            Self::Folder { .. } => fs::create_dir(place),
            Self::Link { target, .. } => symlink(target, place),
        }
    }

    /// Whether it is there as it was placed.
    fn is_placed(&self, folder: &Path) -> bool {
        let place = folder.join(self.path());
        match self {
            Self::File { bytes, mode, .. } => {
                let is_same = |found: &fs::Metadata| {
                    found.mode() & 0o7777 == mode & !umask()
                        && found.nlink() == 1
                        // What changes a file's attributes alone changes this time.
                        && found.ctime() == found.mtime()
                        && found.ctime_nsec() == found.mtime_nsec()
                };
                place.symlink_metadata().is_ok_and(|found| is_same(&found))
                    && read_regular(&place, Links::Refused, bytes.len() as u64)
                        .is_ok_and(|found| *found == **bytes)
            }
            Self::Folder { .. } => place.symlink_metadata().is_ok_and(|found| found.is_dir()),
            Self::Link { target, .. } => fs::read_link(&place).is_ok_and(|found| found == *target),
        }
    }
}

/// The siblings of the script, and working folders that hold them and that no run is in.
#[derive(Debug)]
pub(super) struct Stock {
    siblings: Siblings,
    /// Where the folders wait.
    folder: PathBuf,
    waiting: Mutex<Vec<PathBuf>>,
    /// Folders of runs that have ended, whose removal took too long at that time.
    left: Mutex<Vec<PathBuf>>,
    numbered: AtomicU64,
}

impl Stock {
    /// The stock of a session.
    pub(super) fn new(siblings: Siblings, session: &Path) -> io::Result<Self> {
        let folder = session.join("stock");
        fs::create_dir(&folder)?;
        Ok(Self {
            siblings,
            folder,
            waiting: Mutex::default(),
            left: Mutex::default(),
            numbered: AtomicU64::new(0),
        })
    }

    /// The names by which Python finds modules beside the script.
    pub(super) fn modules(&self) -> BTreeSet<String> {
        self.siblings.modules()
    }

    /// Makes a working folder that holds the siblings.
    fn furnish(&self, work: &Path) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = waiting.pop() {
            return fs::rename(ready, work);
        }
        drop(waiting);
        fs::create_dir(work)?;
        self.siblings.place(work)
    }

    /// Removes what is left of earlier runs: before the next one there is time for it, at the end
    /// of one that was interrupted there is none.
    fn clear(&self) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for path in &left {
            remove(path);
        }
    }

    /// Takes a working folder back from a run that has ended, if it is worth it.
    fn take_back(&self, work: &Path) {
        if self.siblings.entries.len() < FEW {
            return;
        }
        let number = self.numbered.fetch_add(1, Ordering::Relaxed);
        let place = self.folder.join(number.to_string());
        // Out of the reach of whatever may be left of the run.
        if fs::rename(work, &place).is_err() {
            return;
        }
        match self.siblings.restore(&place) {
            Ok(()) => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.push(place);
            }
            Err(_) => remove(&place),
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

/// The folders of one run; removed when dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) root: PathBuf,
    /// Holds the candidate: the run's working folder.
    pub(super) work: PathBuf,
    pub(super) temporary: PathBuf,
    pub(super) candidate: PathBuf,
    stock: Arc<Stock>,
    /// Whether nothing of the run is left, and its working folder may serve another one.
    is_over: AtomicBool,
}

impl Scratch {
    /// Makes the folders of a run below a session's root and puts the candidate and its siblings
    /// there.
    pub(super) fn make(
        session: &Path,
        number: u64,
        script: &Path,
        source: &[u8],
        stock: &Arc<Stock>,
    ) -> io::Result<Self> {
        stock.clear();
        let root = session.join(format!("run-{number}"));
        let scratch = Self {
            stock: Arc::clone(stock),
            is_over: AtomicBool::new(false),
            work: root.join("work"),
            temporary: root.join("tmp"),
            candidate: root
                .join("work")
                .join(script.file_name().unwrap_or_default()),
            root,
        };
        for folder in [&scratch.root, &scratch.temporary] {
            fs::create_dir(folder)?;
        }
        stock.furnish(&scratch.work)?;
        let mut file = fs::File::create_new(&scratch.candidate)?;
        io::Write::write_all(&mut file, source)?;
        Ok(scratch)
    }

    /// The outcome of a run in these folders, from its end, how long it took, and its streams.
    pub(super) fn outcome(
        &self,
        job: &Job,
        (end, timing): (End, Timing),
        stdout: Captured,
        stderr: Captured,
    ) -> Outcome {
        // What was ended by its files has too many of them to be looked through once more.
        let is_over = !matches!(end, End::Limit(_));
        self.is_over.store(is_over, Ordering::Relaxed);
        let exception = traceback::parse(&stderr.text());
        // A script may print such a stack and go on; only a death makes it one of this run.
        let mut stacks = match end {
            End::Signal(_) | End::Timeout => stack::parse(&stderr.text()),
            End::Exit(_) | End::Limit(_) => stack::Stacks::default(),
        };
        // Where the interpreter printed none, as the program may ask it to, the tracer knows.
        if stacks.current.is_empty() && matches!(end, End::Signal(_) | End::Timeout) {
            stacks.current = self.last_stack();
        }
        let source = String::from_utf8_lossy(&job.source);
        let lines: Vec<&str> = source.lines().collect();
        for stack in stacks.others.iter_mut().chain([&mut stacks.current]) {
            self.complete(stack, &lines);
        }
        let trace = job
            .traced
            .then(|| read_regular(&self.trace(), Links::Refused, TRACE).ok())
            .flatten()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(folder) = &job.artifacts {
            // What cannot be kept is missing later, where its absence is reported.
            let _ = keep(&self.artifacts(), folder);
        }
        Outcome {
            end,
            timing,
            stdout,
            stderr,
            exception,
            stack: stacks.current,
            other_stacks: stacks.others,
            trace,
        }
    }

    /// Gives the candidate's frames their source lines, which the interpreter prints none of there
    /// and which signatures compare; takes the tracer's out.
    fn complete(&self, stack: &mut Vec<TracebackFrame>, lines: &[&str]) {
        let ours = self.root.parent().map(python::folder);
        stack.retain(|frame| {
            ours.as_ref()
                .is_none_or(|ours| !Path::new(&frame.file).starts_with(ours))
        });
        for frame in stack
            .iter_mut()
            .filter(|frame| Path::new(&frame.file) == self.candidate)
        {
            let line = lines.get(frame.line.saturating_sub(1) as usize);
            frame.code = line.map_or_else(String::new, |line| line.trim().to_owned());
        }
    }

    /// The candidate's frames when a traced run began its last line, outermost first; none if it
    /// did not keep them.
    fn last_stack(&self) -> Vec<TracebackFrame> {
        const SIZE: u64 = 1 << 12;
        let bytes = read_regular(&self.last_lines(), Links::Refused, SIZE).unwrap_or_default();
        let numbers = bytes.chunks_exact(4);
        let mut numbers =
            numbers.map(|four| u32::from_ne_bytes(four.try_into().unwrap_or_default()));
        let count = numbers.next().unwrap_or_default() as usize;
        let frame = |line| TracebackFrame {
            file: self.candidate.to_string_lossy().into_owned(),
            line,
            ..TracebackFrame::default()
        };
        let mut frames: Vec<TracebackFrame> = numbers.take(count).map(frame).collect();
        frames.reverse();
        frames
    }

    /// The file that a traced run keeps the lines in that it is at.
    pub(super) fn last_lines(&self) -> PathBuf {
        self.root.join("last-lines")
    }

    /// The named pipe by which a traced run is asked to note where it hangs.
    pub(super) fn question(&self) -> PathBuf {
        self.root.join("question")
    }

    /// The folder whose files outlive the run, if its job says so.
    pub(super) fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// The file that a traced run writes its evidence to.
    pub(super) fn trace(&self) -> PathBuf {
        self.root.join("trace.json")
    }
}

/// Copies the files of a folder. Links are left out: a run decides where they lead.
fn keep(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            keep(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if *self.is_over.get_mut() {
            self.stock.take_back(&self.work);
        }
        let until = Instant::now() + REMOVAL;
        if !remove_until(&self.root, Some(until)) {
            self.stock
                .left
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(self.root.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_a_run_has_done_to_its_folder_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("users/inner")).unwrap();
        fs::create_dir(at("session")).unwrap();
        for number in 0..FEW {
            fs::File::create(at(&format!("users/file{number}")))
                .unwrap()
                .write_all(b"mine")
                .unwrap();
        }
        fs::File::create(at("users/inner/deep"))
            .unwrap()
            .write_all(b"mine")
            .unwrap();
        symlink("/proc/version", at("users/link")).unwrap();
        let siblings = Siblings::of(&at("users/x.py")).unwrap();
        let stock = Stock::new(siblings, &at("session")).unwrap();
        stock.furnish(&at("work")).unwrap();
        let listed = |path: &Path| {
            let mut found: Vec<_> = ["", "inner"]
                .iter()
                .flat_map(|inner| fs::read_dir(path.join(inner)).unwrap())
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let shown = match path.symlink_metadata().unwrap() {
                        found if found.is_file() => fs::read(&path).unwrap(),
                        found if found.is_dir() => b"folder".to_vec(),
                        _ => fs::read_link(&path)
                            .unwrap()
                            .into_os_string()
                            .into_encoded_bytes(),
                    };
                    (path.file_name().unwrap().to_owned(), shown)
                })
                .collect();
            found.sort();
            found
        };
        let before = listed(&at("work"));
        let inode = |path: &str| at(path).symlink_metadata().unwrap().ino();
        let untouched = inode("work/file9");
        fs::remove_file(at("work/file0")).unwrap();
        fs::OpenOptions::new()
            .write(true)
            .open(at("work/file1"))
            .unwrap()
            .write_all(b"X")
            .unwrap();
        fs::set_permissions(at("work/file2"), fs::Permissions::from_mode(0o777)).unwrap();
        fs::hard_link(at("work/file3"), at("kept")).unwrap();
        fs::remove_file(at("work/file4")).unwrap();
        symlink("/etc/passwd", at("work/file4")).unwrap();
        fs::remove_dir_all(at("work/inner")).unwrap();
        symlink("/etc", at("work/inner")).unwrap();
        fs::remove_file(at("work/link")).unwrap();
        fs::create_dir_all(at("work/new/below")).unwrap();
        fs::set_permissions(at("work"), fs::Permissions::from_mode(0o500)).unwrap();
        stock.take_back(&at("work"));
        fs::File::options()
            .write(true)
            .open(at("kept"))
            .unwrap()
            .write_all(b"X")
            .unwrap();
        stock.furnish(&at("work")).unwrap();
        assert_eq!(listed(&at("work")), before);
        assert_eq!(inode("work/file9"), untouched);
        assert!(Path::new("/etc/passwd").exists());
    }

    #[test]
    fn a_link_that_a_run_leaves_as_its_working_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for made in ["users", "session", "precious"] {
            fs::create_dir(at(made)).unwrap();
        }
        fs::File::create(at("precious/file")).unwrap();
        for number in 0..FEW {
            fs::File::create(at(&format!("users/file{number}"))).unwrap();
        }
        let siblings = Siblings::of(&at("users/x.py")).unwrap();
        let stock = Stock::new(siblings, &at("session")).unwrap();
        stock.furnish(&at("work")).unwrap();
        fs::rename(at("work"), at("elsewhere")).unwrap();
        symlink(at("precious"), at("work")).unwrap();
        stock.take_back(&at("work"));
        let names = |path: &str| fs::read_dir(at(path)).unwrap().count();
        assert_eq!(names("precious"), 1);
        stock.furnish(&at("work")).unwrap();
        assert!(at("work").symlink_metadata().unwrap().is_dir());
        assert_eq!(names("work"), FEW);
    }
}
