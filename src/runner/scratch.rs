//! Scratch folders: one for each run, holding the candidate under the script's own name and the
//! script's siblings as the user sees them. Called by `workspace`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    job::Job,
    outcome::{Captured, End, Outcome, Timing, TracebackFrame},
    python,
    removal::remove_until,
    stack,
    stock::Stock,
    traceback,
};
use crate::files::{Links, read_regular};

/// The largest evidence that is read, in bytes.
const TRACE: u64 = 16 << 20;
/// How long a run's folders are removed at its end.
const REMOVAL: Duration = Duration::from_millis(500);

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

/// What a traced run kept of its lines.
#[derive(Debug, Default)]
struct LastLines {
    /// The candidate's frames when it began its last line, outermost first.
    stack: Vec<TracebackFrame>,
    /// How long it had taken when it last came to a new line.
    settled: Option<Duration>,
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
        // A run that was ended because of its files has too many of them to be searched once more.
        let is_over = !matches!(end, End::Limit(_));
        self.is_over.store(is_over, Ordering::Relaxed);
        let exception = traceback::parse(&stderr.text());
        // A script may print such a stack and go on; only a death makes it one of this run.
        let mut stacks = match end {
            End::Signal(_) | End::Timeout => stack::parse(&stderr.text()),
            End::Exit(_) | End::Limit(_) => stack::Stacks::default(),
        };
        let last = self.last_lines_of(job);
        // Where the interpreter printed none, as the program may ask it to, the tracer knows.
        if stacks.current.is_empty() && matches!(end, End::Signal(_) | End::Timeout) {
            stacks.current = last.stack;
        }
        let timing = Timing {
            settled: last.settled,
            ..timing
        };
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
            // A file that cannot be kept is missing later, and its absence is reported there.
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

    /// Gives the candidate's frames their source lines, which the interpreter does not print there
    /// and which signatures compare. Removes the tracer's frames.
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

    /// The lines that a traced run was at in the end, and when it last came to a new one; nothing
    /// if it did not keep them.
    fn last_lines_of(&self, job: &Job) -> LastLines {
        const SIZE: u64 = 1 << 12;
        if !job.keeps_last {
            return LastLines::default();
        }
        let bytes = read_regular(&self.last_lines(), Links::Refused, SIZE).unwrap_or_default();
        let Some((time, lines)) = bytes.split_first_chunk() else {
            return LastLines::default();
        };
        let settled = Duration::try_from_secs_f64(f64::from_ne_bytes(*time)).ok();
        let numbers = lines.chunks_exact(4);
        let mut numbers =
            numbers.map(|four| u32::from_ne_bytes(four.try_into().unwrap_or_default()));
        let count = numbers.next().unwrap_or_default() as usize;
        let frame = |line| TracebackFrame {
            file: self.candidate.to_string_lossy().into_owned(),
            line,
            ..TracebackFrame::default()
        };
        let mut stack: Vec<TracebackFrame> = numbers.take(count).map(frame).collect();
        stack.reverse();
        LastLines {
            stack,
            settled: settled.filter(|settled| !settled.is_zero()),
        }
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
    // A run may have put a link to another folder in its place.
    if !from.symlink_metadata()?.is_dir() {
        return Ok(());
    }
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
            self.stock.leave(self.root.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn links_that_a_run_leaves_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for folder in ["of_user", "of_run"] {
            fs::create_dir(path(folder)).unwrap();
        }
        let write = |name: &str, text: &str| {
            let mut file = fs::File::create(path(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        write("of_user/secret", "1");
        write("of_run/log", "2");
        symlink(path("of_user"), path("of_run/link")).unwrap();
        symlink(path("of_user"), path("link")).unwrap();
        keep(&path("of_run"), &path("kept")).unwrap();
        keep(&path("link"), &path("nothing")).unwrap();
        assert_eq!(fs::read_to_string(path("kept/log")).unwrap(), "2");
        assert!(!path("kept/link").exists() && !path("nothing").exists());
    }
}
