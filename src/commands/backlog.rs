//! `minrepro scrub --search TEXT` and `minrepro scrub --approve`: all issues of a search, and the
//! user's word about their plans.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    script_runner::Bench,
    scrub::{each, posting, run_args, tools},
};
use crate::{
    cli::{Exit, Failure, Printer, ScrubArgs},
    scrub::cluster::ClusterSettings,
    scrub::{
        backlog::{self, BacklogEntry, BacklogSettings, EntryState, PAGE_FILE, PlanState, Queue},
        steps::IssueSource,
    },
};

/// The issues of a search, unless the user names another number.
const LIMIT: u16 = 100;

/// The folder of a backlog.
fn folder(args: &ScrubArgs) -> PathBuf {
    let named = args.dir.clone();
    named.unwrap_or_else(|| PathBuf::from("scrub-backlog"))
}

/// Scrubs all issues that a search finds.
pub(super) fn scrub_all(args: &ScrubArgs, printer: Printer) -> Result<Exit, Failure> {
    let settings = BacklogSettings {
        search: args.search.clone().unwrap_or_default(),
        repo: args.repo.clone(),
        limit: usize::from(args.limit.unwrap_or(LIMIT)),
        folder: folder(args),
        // Each scrub has an issue of its own.
        each: each(args, IssueSource::GitHub(0))?,
        posting: posting(args.dry_run, args.post),
        together: args.ray.as_ref().map(|address| {
            let settings = ClusterSettings::new(address, args.probe.jobs);
            let mut options = args.of_each();
            if args.probe.jobs.is_none() {
                options.push(format!("--jobs={}", settings.cpus));
            }
            (settings, options)
        }),
    };
    let tools = tools(printer)?;
    let mut bench = Bench::new(run_args(&args.probe), printer.for_one_of_many())?;
    let queue = backlog::work_off(&settings, &tools, &mut bench, printer)?;
    if args.json {
        let text = serde_json::to_string_pretty(queue.entries()).unwrap_or_default();
        printer.data(format!("{text}\n"));
    }
    print_summary(&queue, &settings.folder, printer);
    let is_clean = |entry: &BacklogEntry| {
        entry.state != EntryState::Failed && entry.writes != PlanState::Failed
    };
    if queue.entries().iter().all(is_clean) {
        Ok(Exit::Reduced)
    } else {
        Ok(Exit::Environment)
    }
}

/// Scrubs the issue of an entry of a queue, for `scrub_all` on another machine.
pub(super) fn scrub_entry(args: &ScrubArgs, printer: Printer) -> Result<Exit, Failure> {
    let file = args.entry.as_deref().unwrap_or(Path::new(""));
    let each = each(args, IssueSource::GitHub(0))?;
    let tools = tools(printer)?;
    let mut bench = Bench::new(run_args(&args.probe), printer)?;
    backlog::scrub_entry(file, &each, &tools, &mut bench, printer)?;
    Ok(Exit::Reduced)
}

/// Shows the plans that wait and asks about each.
pub(super) fn approve(args: &ScrubArgs, printer: Printer) -> Result<Exit, Failure> {
    let tools = tools(printer)?;
    let queue = backlog::approve(&folder(args), &tools, printer)?;
    let is_clean = |entry: &BacklogEntry| entry.writes != PlanState::Failed;
    if queue.entries().iter().all(is_clean) {
        Ok(Exit::Reduced)
    } else {
        Ok(Exit::Environment)
    }
}

/// Prints the last lines.
fn print_summary(queue: &Queue, folder: &Path, printer: Printer) {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let (mut waiting, mut failed, mut again, mut unwritten) = (0, 0, 0, 0);
    for entry in queue.entries() {
        *ends.entry(entry.ended()).or_default() += 1;
        waiting += usize::from(entry.writes == PlanState::Waiting);
        failed += usize::from(entry.state == EntryState::Failed);
        again += usize::from(entry.state == EntryState::Waiting);
        unwritten += usize::from(entry.writes == PlanState::Failed);
    }
    let ends = ends.iter().map(|(end, count)| format!("{count} {end}"));
    printer.note(format!("\n{}", ends.collect::<Vec<_>>().join(", ")));
    if failed > 0 {
        printer.note(format!(
            "{failed} failed; run the same command again to try them again"
        ));
    }
    if again > 0 {
        printer.note(format!(
            "{again} changed before they were written; run the same command again to scrub them anew"
        ));
    }
    if unwritten > 0 {
        printer.note(format!("{unwritten} plans could not be written"));
    }
    if waiting > 0 {
        let dir = if folder == "scrub-backlog" {
            String::new()
        } else {
            format!(" --dir {}", folder.display())
        };
        printer.note(format!(
            "{waiting} plans wait for your word: `minrepro scrub --approve{dir}`"
        ));
    }
    printer.note(format!("page: {}", folder.join(PAGE_FILE).display()));
}
