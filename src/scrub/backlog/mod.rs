//! A backlog: all issues of a search, each scrubbed by the flow for one issue, in a queue that
//! survives a kill. Nothing is written without the user's word for it: in advance (`--post`), or
//! for plans that were shown (`approve`). Called by the commands.

mod approve;
mod confidence;
mod page;
mod posting;
mod queue;
mod runs;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub use approve::approve;
pub use confidence::PlanConfidence;
pub use page::PAGE_FILE;
pub use queue::{BacklogEntry, EntryState, PlanState, QUEUE_FILE, Queue, QueueError, ScrubCost};

use crate::{
    cli::{Exit, Failure, Printer},
    report::write_atomically,
    runner::RunError,
    scrub::{
        ScrubReport,
        gh::{GhError, check_version},
        issue::{Issue, Repo},
        script_runner::ScriptRunner,
        scrub_as_read,
        search::{find, wait_for_limit, whole_search},
        steps::{IssueSource, Posting, ScrubSettings},
        tool::ExternalTools,
    },
};

/// How often in a row the rate limit is waited for at one issue.
const ROUNDS: u32 = 8;

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
    let worked = backlog.work(runner);
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

    /// Scrubs all that have no end, those first that were begun, those last that failed. Each is
    /// tried once.
    fn work(&mut self, runner: &mut dyn ScriptRunner) -> Result<(), Failure> {
        let python = runner.python();
        let rank = |state| match state {
            EntryState::Running => 0,
            EntryState::Done | EntryState::Waiting => 1,
            EntryState::Failed => 2,
        };
        let mut order: Vec<usize> = (0..self.queue.entries().len())
            .filter(|at| self.needs_work(&self.queue.entries()[*at]))
            .collect();
        order.sort_by_key(|at| rank(self.queue.entries()[*at].state));
        let count = order.len();
        for (done, at) in order.into_iter().enumerate() {
            if self.queue.entries()[at].state != EntryState::Done {
                self.announce(at, done + 1, count);
                self.scrub(at, runner)?;
                if runner.python() != python {
                    runner.set_python(&python)?;
                }
            }
            let entry = &self.queue.entries()[at];
            if entry.state == EntryState::Done && self.is_to_be_written(entry) {
                let entry = entry.clone();
                posting::post(
                    &mut self.queue,
                    entry,
                    &self.settings.folder,
                    self.tools,
                    self.printer,
                )?;
            }
            page::write(&self.queue, &self.settings.folder)?;
            self.tools.check()?;
        }
        Ok(())
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
        std::fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, error))?;
        let settings = ScrubSettings {
            source: IssueSource::GitHub(entry.number),
            repo: entry.repo.clone(),
            folder: folder.clone(),
            // The plan is kept first, so that a kill between two writes cannot change it.
            posting: Posting::DryRun,
            // Nobody is asked.
            json: true,
            ..self.settings.each.clone()
        };
        let started = Instant::now();
        let mut counting = runs::CountingRunner::new(runner);
        let ended = self.scrubbed(&settings, &mut counting);
        entry.cost.runs += counting.count();
        entry.cost.seconds += started.elapsed().as_secs_f64();
        self.scrubbed += 1;
        match ended {
            Ok((report, issue)) => {
                self.offline = 0;
                keep(&folder, &report, issue.as_ref())?;
                ended_well(&mut entry, &report);
            }
            Err(failure) => {
                self.offline = match failure.error.downcast_ref() {
                    Some(GhError::Offline(_) | GhError::Server(_)) => self.offline + 1,
                    _ => 0,
                };
                let concerns_all = concerns_all(&failure) || self.offline >= OFFLINE;
                if concerns_all {
                    // It stays begun, and the next run goes on with it.
                    self.queue.put(entry)?;
                    return Err(failure);
                }
                entry.state = EntryState::Failed;
                entry.why = reasons(&failure);
            }
        }
        self.printer.note(format!("     {}", in_short(&entry)));
        Ok(self.queue.put(entry)?)
    }

    /// Scrubs one issue, waiting where GitHub's rate limit asks for it. A panic is a failure of
    /// this issue alone.
    fn scrubbed(
        &self,
        settings: &ScrubSettings,
        runner: &mut dyn ScriptRunner,
    ) -> Result<(ScrubReport, Option<Issue>), Failure> {
        let printer = self.printer.for_one_of_many();
        for round in 0.. {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                scrub_as_read(settings, self.tools, runner, printer)
            }));
            let failure = match ended {
                Ok(Err(failure)) => failure,
                Ok(Ok(ended)) => return Ok(ended),
                Err(panic) => return Err(panicked(panic.as_ref())),
            };
            let is_limited = failure.error.downcast_ref() == Some(&GhError::RateLimited);
            if !is_limited || round == ROUNDS {
                return Err(failure);
            }
            wait_for_limit(self.tools, round)?;
        }
        Err(GhError::RateLimited.into())
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Failure::new(
        Exit::Bug,
        anyhow::anyhow!("minrepro has a bug: {text}; please report it with the issue's number"),
    )
}

/// Keeps the files of a scrub: its report, its comment, and the issue that the plan is for.
fn keep(folder: &Path, report: &ScrubReport, issue: Option<&Issue>) -> Result<(), Failure> {
    let text = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
    let files = [
        (
            folder.join("report.json"),
            Some(text(serde_json::to_string_pretty(report))),
        ),
        (folder.join("comment.md"), report.comment.clone()),
        (
            posting::issue_file(folder),
            issue.map(|issue| text(serde_json::to_string(issue))),
        ),
    ];
    for (path, text) in files {
        if let Some(text) = text {
            write_atomically(&path, text.as_bytes()).map_err(|error| unwritten(&path, error))?;
        }
    }
    Ok(())
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    let error = anyhow::Error::new(error).context(format!("could not write `{}`", path.display()));
    Failure::new(Exit::Environment, error).hint("make room or name another folder: `--dir FOLDER`")
}

fn ended_well(entry: &mut BacklogEntry, report: &ScrubReport) {
    let (confidence, doubts) = confidence::confidence(report);
    entry.state = EntryState::Done;
    entry.end = Some(report.end);
    entry.confidence = Some(confidence);
    entry.doubts = doubts;
    report.why.clone_into(&mut entry.why);
    entry.plan.clone_from(&report.plan);
    entry.writes = if report.plan.is_empty() {
        PlanState::Empty
    } else {
        PlanState::Waiting
    };
    if let Some(title) = &report.found.title {
        title.clone_into(&mut entry.title);
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

/// The messages of a failure, in a line.
fn reasons(failure: &Failure) -> String {
    let links = failure.error.chain().map(ToString::to_string);
    links.collect::<Vec<_>>().join(": ")
}

/// Whether the reason of a failure would keep every other issue from its end, too.
fn concerns_all(failure: &Failure) -> bool {
    let is_full = |link: &(dyn std::error::Error + 'static)| {
        link.downcast_ref::<std::io::Error>().is_some_and(|error| {
            matches!(
                error.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            )
        })
    };
    let gh = failure.error.downcast_ref::<GhError>();
    let run = failure.error.downcast_ref::<RunError>();
    matches!(failure.exit, Exit::Interrupted(_) | Exit::Usage)
        || matches!(
            gh,
            Some(
                GhError::Missing | GhError::TooOld(_) | GhError::NotLoggedIn | GhError::RateLimited
            )
        )
        || run.is_some_and(|error| !matches!(error, RunError::NotStarted { .. }))
        || failure.error.chain().any(is_full)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn only_reasons_that_hold_for_all_issues_stop_the_backlog() {
        let full = anyhow::Error::new(Error::from(ErrorKind::StorageFull)).context("could not");
        for (failure, expected) in [
            (GhError::NotLoggedIn.into(), true),
            (GhError::Missing.into(), true),
            (GhError::NotFound.into(), false),
            (GhError::Offline("x".to_owned()).into(), false),
            (GhError::Answer("x".to_owned()).into(), false),
            (Failure::new(Exit::Environment, full), true),
            (Failure::usage("`--pytorch` names no checkout"), true),
            (RunError::PythonNotFound("x".into()).into(), true),
            (RunError::Interrupted(2).into(), true),
            (panicked(&"out of bounds"), false),
        ] {
            assert_eq!(concerns_all(&failure), expected, "{}", failure.error);
        }
        let nested = anyhow::anyhow!("a").context("b");
        assert_eq!(reasons(&Failure::new(Exit::Bug, nested)), "b: a");
    }
}
