//! Scratch folders: one for each run, holding the candidate under the script's own name and the
//! script's siblings as the user sees them. Nothing of the user's is ever written: what is small is
//! copied, the rest is linked, and links lead where a confined run cannot write. Called by
//! `workspace`.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    guard::remove,
    job::Job,
    outcome::{Captured, End, Outcome, Timing},
    stack, traceback,
};

/// At most so many bytes and entries are copied for each run.
const COPIED_BYTES: u64 = 2 << 20;
const COPIED_ENTRIES: usize = 200;
/// Beyond so many entries of the script's folder the rest is not shown.
const SHOWN: usize = 10_000;

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
    pub(super) fn modules(&self) -> BTreeSet<String> {
        let name = |entry: &Entry| {
            let (Entry::File { path, .. } | Entry::Folder { path } | Entry::Link { path, .. }) =
                entry;
            let first = path
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
        for entry in &self.entries {
            match entry {
                Entry::File { path, bytes, mode } => {
                    use std::{io::Write, os::unix::fs::OpenOptionsExt};
                    fs::OpenOptions::new()
                        .write(true)
                        .create_new(true)
                        .mode(*mode)
                        .open(folder.join(path))?
                        .write_all(bytes)?;
                }
                Entry::Folder { path } => fs::create_dir(folder.join(path))?,
                Entry::Link { path, target } => symlink(target, folder.join(path))?,
            }
        }
        Ok(())
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
    use std::os::unix::fs::PermissionsExt;
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
    let Ok(bytes) = fs::read(from) else {
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
}

impl Scratch {
    /// Makes the folders of a run below a session's root and puts the candidate and its siblings
    /// there.
    pub(super) fn make(
        session: &Path,
        number: u64,
        script: &Path,
        source: &[u8],
        siblings: &Siblings,
    ) -> io::Result<Self> {
        let root = session.join(format!("run-{number}"));
        let scratch = Self {
            work: root.join("work"),
            temporary: root.join("tmp"),
            candidate: root
                .join("work")
                .join(script.file_name().unwrap_or_default()),
            root,
        };
        for folder in [&scratch.root, &scratch.work, &scratch.temporary] {
            fs::create_dir(folder)?;
        }
        siblings.place(&scratch.work)?;
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
        let exception = traceback::parse(&stderr.text());
        // A script may print such a stack and go on; only a death makes it one of this run.
        let mut stack = match end {
            End::Signal(_) | End::Timeout => stack::parse(&stderr.text()),
            End::Exit(_) | End::Limit(_) => Vec::new(),
        };
        if !stack.is_empty() {
            let source = String::from_utf8_lossy(&job.source);
            let lines: Vec<&str> = source.lines().collect();
            // The interpreter prints no source lines there, and signatures compare them.
            for frame in stack
                .iter_mut()
                .filter(|frame| Path::new(&frame.file) == self.candidate)
            {
                let line = lines.get(frame.line.saturating_sub(1) as usize);
                frame.code = line.map_or_else(String::new, |line| line.trim().to_owned());
            }
        }
        let trace = job
            .traced
            .then(|| fs::read_to_string(self.trace()).ok())
            .flatten();
        Outcome {
            end,
            timing,
            stdout,
            stderr,
            exception,
            stack,
            trace,
        }
    }

    /// The file that a traced run writes its evidence to.
    pub(super) fn trace(&self) -> PathBuf {
        self.root.join("trace.json")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.root);
    }
}
