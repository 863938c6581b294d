//! The scrub of one issue of a backlog, here or on another machine, and what its failure means for
//! the others. Called by the backlog and the commands.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::Instant,
};

use super::{
    confidence, posting,
    queue::{BacklogEntry, EntryState, PlanState},
    runs,
};
use crate::{
    cli::{Exit, Failure, Printer},
    report::write_atomically,
    runner::RunError,
    scrub::{
        ScrubReport,
        gh::GhError,
        issue::Issue,
        script_runner::ScriptRunner,
        scrub_as_read,
        search::wait_for_limit,
        steps::{IssueSource, Posting, ScrubSettings},
        tool::ExternalTools,
    },
};

/// How often in a row the rate limit is waited for at one issue.
const ROUNDS: u32 = 8;

/// Scrubs the issue of an entry into a folder, and completes the entry. Fails, with the cost alone
/// in the entry, if an error keeps the issue from its end.
pub(super) fn scrub_one(
    entry: &mut BacklogEntry,
    folder: &Path,
    each: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, error))?;
    let settings = ScrubSettings {
        source: IssueSource::GitHub(entry.number),
        repo: entry.repo.clone(),
        folder: folder.to_owned(),
        // The plan is kept first, so that a kill between two writes cannot change it.
        posting: Posting::DryRun,
        // Nobody is asked.
        json: true,
        ..each.clone()
    };
    let started = Instant::now();
    let mut counting = runs::CountingRunner::new(runner);
    let ended = patiently(&settings, tools, &mut counting, printer.for_one_of_many());
    entry.cost.runs += counting.count();
    entry.cost.seconds += started.elapsed().as_secs_f64();
    let (report, issue) = ended?;
    keep(folder, &report, issue.as_ref())?;
    ended_well(entry, &report);
    Ok(())
}

/// Scrubs the issue of a file with an entry into the working folder, and rewrites the file. Fails,
/// and leaves the file alone, if the reason concerns all issues.
pub fn scrub_entry(
    file: &Path,
    each: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<(), Failure> {
    let mut entry = read_entry(file)?;
    match scrub_one(&mut entry, Path::new("."), each, tools, runner, printer) {
        Err(failure) if concerns_all(&failure) => return Err(failure),
        Err(failure) => failed(&mut entry, &failure),
        Ok(()) => {}
    }
    write_entry(file, &entry)
}

/// Reads an entry from a file of its own.
pub(super) fn read_entry(file: &Path) -> Result<BacklogEntry, Failure> {
    let unread = |error: anyhow::Error| {
        let error = error.context(format!("could not read the entry `{}`", file.display()));
        Failure::new(Exit::Usage, error)
    };
    let bytes = std::fs::read(file).map_err(|error| unread(error.into()))?;
    serde_json::from_slice(&bytes).map_err(|error| unread(error.into()))
}

/// Writes an entry to a file of its own.
pub(super) fn write_entry(file: &Path, entry: &BacklogEntry) -> Result<(), Failure> {
    let text = serde_json::to_vec(entry).unwrap_or_default();
    write_atomically(file, &text).map_err(|error| unwritten(file, error))
}

/// Notes that an error kept an issue from its end.
pub(super) fn failed(entry: &mut BacklogEntry, failure: &Failure) {
    entry.state = EntryState::Failed;
    entry.why = reasons(failure);
}

/// Scrubs one issue, waiting where GitHub's rate limit asks for it. A panic is a failure of this
/// issue alone.
fn patiently(
    settings: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<(ScrubReport, Option<Issue>), Failure> {
    for round in 0.. {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            scrub_as_read(settings, tools, runner, printer)
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
        wait_for_limit(tools, round)?;
    }
    Err(GhError::RateLimited.into())
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

pub(super) fn unwritten(path: &Path, error: std::io::Error) -> Failure {
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

/// The messages of a failure, in a line.
fn reasons(failure: &Failure) -> String {
    let links = failure.error.chain().map(ToString::to_string);
    links.collect::<Vec<_>>().join(": ")
}

/// Whether the reason of a failure would keep every other issue from its end, too.
pub(super) fn concerns_all(failure: &Failure) -> bool {
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
