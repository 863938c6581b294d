//! A backlog: all issues of a search, each scrubbed by the flow for one issue, in a queue that
//! survives a kill. Nothing is written without the user's word for it: in advance (`--post`), or
//! for plans that were shown (`approve`). Called by the commands.

mod approve;
mod confidence;
mod one;
mod page;
mod posting;
mod queue;
mod runs;
mod together;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

pub use approve::approve;
pub use confidence::PlanConfidence;
pub use one::scrub_entry;
pub use page::PAGE_FILE;
pub use queue::{BacklogEntry, EntryState, PlanState, QUEUE_FILE, Queue, QueueError, ScrubCost};

use self::one::{concerns_all, failed, scrub_one};
use crate::{
    cli::{Failure, Printer},
    scrub::cluster::ClusterSettings,
    scrub::{
        gh::{GhError, check_version},
        issue::Repo,
        script_runner::ScriptRunner,
        search::{find, whole_search},
        steps::{Posting, ScrubSettings},
        tool::ExternalTools,
    },
};

/// Without an answer from GitHub for so many issues in a row, the rest are left for later.
const OFFLINE: usize = 3;

/// What to work off.
#[derive(Clone, Debug)]
pub struct BacklogSettings {
    /// The search, as GitHub's search field takes it.
    pub search: String,
    /// The repository that the user named.
    pub repo: Option<Repo>,
    /// The most issues to find.
    pub limit: usize,
    /// The folder for the queue, the page and a folder for each issue.
    pub folder: PathBuf,
    /// How each issue is scrubbed; its issue, folder and words about writes do not count.
    pub each: ScrubSettings,
    /// Whether plans are carried out.
    pub posting: Posting,
    /// The machines that scrub, if it is not this one, and the options of a scrub there.
    pub together: Option<(ClusterSettings, Vec<String>)>,
}

/// A backlog that is being worked off.
struct Backlog<'a> {
    settings: &'a BacklogSettings,
    tools: &'a ExternalTools,
    printer: Printer,
    queue: Queue,
    /// When this process began, and how many issues it has scrubbed.
    started: Instant,
    scrubbed: u32,
    /// The issues in a row for which GitHub could not be reached.
    offline: usize,
}

/// Finds the issues of a search and scrubs those that have no end yet. Returns the queue, also in
/// order to print it; the failure is one that concerns all issues.
pub fn work_off(
    settings: &BacklogSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<Queue, Failure> {
    let search = whole_search(&settings.search, settings.repo.as_ref()).map_err(Failure::usage)?;
    let queue = Queue::open(&settings.folder, &search)?;
    check_version(tools)?;
    let mut backlog = Backlog {
        settings,
        tools,
        printer,
        queue,
        started: Instant::now(),
        scrubbed: 0,
        offline: 0,
    };
    backlog.find(&search)?;
    let worked = match &settings.together {
        Some((cluster, options)) => backlog.work_together(cluster, options),
        None => backlog.work(runner),
    };
    page::write(&backlog.queue, &settings.folder)?;
    if let Err(failure) = worked {
        let done = backlog.count(|entry| entry.state == EntryState::Done);
        let all = backlog.queue.entries().len();
        printer.always(format!(
            "{done} of {all} issues are done; run the same command again to continue"
        ));
        return Err(failure);
    }
    Ok(backlog.queue)
}

impl Backlog<'_> {
    fn count(&self, is_counted: impl Fn(&BacklogEntry) -> bool) -> usize {
        let entries = self.queue.entries().iter();
        entries.filter(|entry| is_counted(entry)).count()
    }

    /// Adds what the search finds.
    fn find(&mut self, search: &str) -> Result<(), Failure> {
        self.printer.note(format!("searching: {search}"));
        let found = find(self.tools, search, self.settings.limit).map_err(|error| match error {
            GhError::Other(line) if line.contains("HTTP 422") => {
                Failure::usage(format!("GitHub does not accept the search: {line}"))
                    .hint("try it in the search field of the repository's issues")
            }
            error => error.into(),
        })?;
        if found.is_incomplete {
            self.printer
                .warning("GitHub did not finish the search, so issues may be missing; run the same command again to add them");
        }
        let (count, total) = (found.issues.len(), found.total);
        let added = self.queue.add(found.issues)?;
        let done = self.count(|entry| entry.state == EntryState::Done);
        self.printer.note(format!(
            "{count} of {total} issues; {added} are new, {done} in the queue are done"
        ));
        Ok(())
    }

    /// Scrubs all that have no end. Each is tried once.
    fn work(&mut self, runner: &mut dyn ScriptRunner) -> Result<(), Failure> {
        let python = runner.python();
        let order = self.order();
        let count = order.len();
        for (done, at) in order.into_iter().enumerate() {
            if self.queue.entries()[at].state != EntryState::Done {
                self.announce(at, done + 1, count);
                self.scrub(at, runner)?;
                if runner.python() != python {
                    runner.set_python(&python)?;
                }
            }
            self.write_agreed(at)?;
        }
        Ok(())
    }

    /// Carries out the plan of an issue if the user has agreed to it, and writes the page anew.
    fn write_agreed(&mut self, at: usize) -> Result<(), Failure> {
        let entry = &self.queue.entries()[at];
        if entry.state == EntryState::Done && self.is_to_be_written(entry) {
            let entry = entry.clone();
            let folder = &self.settings.folder;
            posting::post(&mut self.queue, entry, folder, self.tools, self.printer)?;
        }
        page::write(&self.queue, &self.settings.folder)?;
        Ok(self.tools.check()?)
    }

    /// The issues that need work, those first that were begun, those last that failed.
    fn order(&self) -> Vec<usize> {
        let rank = |state| match state {
            EntryState::Running => 0,
            EntryState::Done | EntryState::Waiting => 1,
            EntryState::Failed => 2,
        };
        let entries = self.queue.entries();
        let mut order: Vec<usize> = (0..entries.len())
            .filter(|at| self.needs_work(&entries[*at]))
            .collect();
        order.sort_by_key(|at| rank(entries[*at].state));
        order
    }

    fn needs_work(&self, entry: &BacklogEntry) -> bool {
        entry.state != EntryState::Done || self.is_to_be_written(entry)
    }

    /// Whether the user has agreed to the writes of an issue that is done.
    fn is_to_be_written(&self, entry: &BacklogEntry) -> bool {
        match entry.writes {
            PlanState::Empty | PlanState::Written | PlanState::Declined => false,
            PlanState::Waiting | PlanState::Failed => self.settings.posting == Posting::Agreed,
            // A yes is not taken back by a kill, but by `--dry-run`.
            PlanState::Agreed => self.settings.posting != Posting::DryRun,
        }
    }

    fn announce(&self, at: usize, number: usize, count: usize) {
        let entry = &self.queue.entries()[at];
        let left = self.started.elapsed() * (count + 1 - number) as u32 / self.scrubbed.max(1);
        let left = if self.scrubbed == 0 {
            String::new()
        } else {
            let left = Duration::from_secs(left.as_secs() + 1);
            format!(", about {} left", humantime::format_duration(left))
        };
        self.printer.note(format!(
            "[{number} of {count}{left}] {} {}",
            entry.name(),
            entry.title
        ));
    }

    /// Scrubs one issue and records its end. Fails if the reason concerns all issues.
    fn scrub(&mut self, at: usize, runner: &mut dyn ScriptRunner) -> Result<(), Failure> {
        let mut entry = self.queue.entries()[at].clone();
        entry.state = EntryState::Running;
        entry.why.clear();
        self.queue.put(entry.clone())?;
        let folder = self.settings.folder.join(&entry.folder);
        let each = &self.settings.each;
        let ended = scrub_one(&mut entry, &folder, each, self.tools, runner, self.printer);
        self.scrubbed += 1;
        match ended {
            Ok(()) => self.offline = 0,
            Err(failure) => {
                self.offline = match failure.error.downcast_ref() {
                    Some(GhError::Offline(_) | GhError::Server(_)) => self.offline + 1,
                    _ => 0,
                };
                if concerns_all(&failure) || self.offline >= OFFLINE {
                    // It stays begun, and the next run goes on with it.
                    self.queue.put(entry)?;
                    return Err(failure);
                }
                failed(&mut entry, &failure);
            }
        }
        self.ended(entry)
    }

    /// Records and shows the end of an issue.
    fn ended(&mut self, entry: BacklogEntry) -> Result<(), Failure> {
        self.printer.note(format!("     {}", in_short(&entry)));
        Ok(self.queue.put(entry)?)
    }
}

/// The state of an issue, in a line.
fn in_short(entry: &BacklogEntry) -> String {
    let confidence = entry.confidence.map(PlanConfidence::word);
    let confidence = confidence
        .map(|word| format!(" ({word})"))
        .unwrap_or_default();
    format!("{}{confidence}: {}", entry.ended(), entry.why)
}
