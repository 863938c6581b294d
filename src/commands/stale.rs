//! `minrepro stale FOLDER`: marks of tests that no longer hold.

use std::{collections::BTreeSet, io::Write, path::Path};

use regex::Regex;

use super::{scrub, session::Session};
use crate::{
    cli::{Exit, Failure, Printer, ProbeArgs, RunArgs, SandboxWhen, StaleArgs},
    report::write_atomically,
    scrub::ToolCall,
    stale::{Checkout, MarkFilter, MarkState, StaleError, TriedMark},
    target::Target,
};

pub(super) fn stale(args: &StaleArgs, printer: Printer) -> Result<Exit, Failure> {
    let root = args.folder.canonicalize().ok().filter(|root| root.is_dir());
    let root = root.ok_or_else(|| {
        let folder = args.folder.display();
        let what = if args.folder.is_file() {
            format!("`{folder}` is a file")
        } else {
            format!("there is no folder `{folder}`")
        };
        Failure::usage(what).hint("name the checkout whose tests have marks")
    })?;
    let mut issues: Option<BTreeSet<u64>> = args.issue.map(|issue| BTreeSet::from([issue]));
    if let Some(rev) = &args.since {
        let fixed = fixed_since(&root, rev, printer)?;
        issues = Some(match issues {
            Some(issues) => &issues & &fixed,
            None => fixed,
        });
    }
    let failed = |error: std::io::Error| {
        Failure::new(
            Exit::Environment,
            anyhow::Error::new(error).context("could not make a folder for runs"),
        )
    };
    let place = tempfile::Builder::new()
        .prefix("minrepro-stale-")
        .tempdir()
        .map_err(failed)?;
    let script = place.path().join("driver.py");
    std::fs::File::create(&script)
        .and_then(|mut file| file.write_all(b"pass\n"))
        .map_err(failed)?;
    let probe = ProbeArgs {
        signature: Vec::new(),
        python: args.python.clone(),
        timeout: None,
        memory: None,
        sandbox: SandboxWhen::Require,
        jobs: args.jobs,
    };
    // Each run writes to a copy of the checkout; without one it would write to the checkout itself.
    let run_args = RunArgs {
        allow_write: vec![root.clone()],
        scrubbed: false,
        ..scrub::run_args(&probe)
    };
    let session = Session::start(&Target::Script(script), &run_args)?;
    let checkout = Checkout {
        root: &root,
        runner: &session.subject.runner,
        timeout: args.timeout,
        scratch: place.path().join("ends"),
    };
    let filter = MarkFilter {
        pattern: args.tests.clone(),
        issues,
    };
    let marks = checkout
        .marks(&filter)
        .map_err(|error| failure(error.into()))?;
    printer.note(format!("{} marks", marks.len()));
    if marks.is_empty() {
        printer.note("no file of tests below the folder has a mark that was asked for");
    }
    let tried = checkout
        .try_all(&marks, &mut |found| printer.note(line(found)))
        .map_err(failure)?;
    finish(args, &checkout, &tried, printer)
}

/// Writes the patch, applies it if asked, and sums up.
fn finish(
    args: &StaleArgs,
    checkout: &Checkout<'_>,
    tried: &[TriedMark],
    printer: Printer,
) -> Result<Exit, Failure> {
    let io = |error: std::io::Error| failure(error.into());
    let patch = checkout.patch(tried).map_err(io)?;
    if args.json {
        let value = serde_json::json!({ "marks": tried, "patch": patch });
        printer.data(format!("{value:#}\n"));
    } else {
        for state in [
            MarkState::Stale,
            MarkState::Holds,
            MarkState::FailsDifferently,
            MarkState::Flaky,
            MarkState::Inactive,
            MarkState::CannotRun,
        ] {
            let count = tried.iter().filter(|found| found.state == state).count();
            printer.data(format!("{:18} {count}\n", state.describe()));
        }
    }
    if patch.is_empty() {
        return Ok(Exit::Reduced);
    }
    write_atomically(&args.output, patch.as_bytes()).map_err(|error| {
        let error = anyhow::Error::new(error);
        let context = format!("could not write `{}`", args.output.display());
        Failure::new(Exit::Usage, error.context(context)).hint("name another file with `-o FILE`")
    })?;
    printer.note(format!("patch: {}", args.output.display()));
    if args.apply {
        let count = checkout.apply(tried).map_err(io)?;
        printer.note(format!("{count} files were changed"));
    }
    Ok(Exit::Reduced)
}

fn line(found: &TriedMark) -> String {
    let mark = &found.mark;
    let place = if mark.line == 0 {
        mark.file.clone()
    } else {
        format!("{}:{}", mark.file, mark.line)
    };
    let issue = mark
        .issue
        .map_or_else(String::new, |issue| format!(", #{issue}"));
    let runs = match found.of {
        0 => String::new(),
        of => format!(" ({} of {of})", found.passed),
    };
    let seen = if found.seen.is_empty() {
        String::new()
    } else {
        format!(": {}", found.seen)
    };
    let test = mark.shown_test();
    format!(
        "{place}: {test} [{}{issue}]: {}{runs}{seen}",
        mark.kind,
        found.state.describe()
    )
}

fn failure(error: StaleError) -> Failure {
    match error {
        StaleError::Run(error) => error.into(),
        error @ StaleError::Read(_) => Failure::new(Exit::Environment, error),
    }
}

/// The issues that commits since a revision say they fix.
fn fixed_since(root: &Path, rev: &str, printer: Printer) -> Result<BTreeSet<u64>, Failure> {
    let range = format!("{rev}..HEAD");
    let mut call = ToolCall::new(["git", "log", "--format=%B", &range, "--"]);
    call.folder = Some(root.to_owned());
    let output = scrub::tools(printer)?.call(&call)?;
    if !output.is_success() {
        return Err(Failure::usage(format!(
            "git has no history since `{rev}`: {}",
            output.stderr.trim()
        ))
        .hint("name a commit of the checkout"));
    }
    let fixes =
        Regex::new(r"(?i)\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?):?\s+(?:\S*?issues/|#)(\d+)")
            .map_err(|error| Failure::new(Exit::Bug, error))?;
    let numbers = fixes
        .captures_iter(&output.stdout)
        .filter_map(|found| found[1].parse().ok());
    Ok(numbers.collect())
}
