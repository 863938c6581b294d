//! The default verb: minimizes a script.

mod emit;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use super::{
    minimize::{Effort, Minimized, minimize},
    passes,
    session::Session,
};
use crate::{
    cli::{Exit, Failure, Format, Printer, ReduceArgs},
    engine::{Halt, Stop},
    journal::{Journal, JournalError, cache_folder},
    judge::{Confirmed, Truth},
    report::{
        self, Output, Progress, Report, check_writable, encoded, target, temporary,
        write_atomically,
    },
};

pub(super) fn reduce(args: &ReduceArgs, printer: Printer) -> Result<Exit, Failure> {
    reduced(args, printer).map(|reduced| reduced.exit)
}

/// A reduction whose result was written.
pub(super) struct Reduced {
    pub(super) exit: Exit,
    pub(super) report: Report,
    pub(super) text: Arc<str>,
}

/// Reduces a script, and writes and prints the result.
pub(super) fn reduced(args: &ReduceArgs, printer: Printer) -> Result<Reduced, Failure> {
    let Some(script) = &args.script else {
        return Err(Failure::usage("no script was named"));
    };
    let passes = passes::select(&args.passes)?;
    let output = Output::new(args.output.as_deref(), script)?;
    if matches!((&output, args.format), (Output::Stdout, Format::Jsonl)) {
        return Err(
            Failure::usage("`-o -` and `--format jsonl` both write to standard output")
                .hint("name a file for the result with `-o FILE`"),
        );
    }
    let report_path = report_path(args, script, &output)?;
    let test_path = test_path(
        args,
        script,
        &output,
        report_path.as_ref().map(|(path, _)| path.as_path()),
    )?;
    let mut session = Session::start(script, &args.run)?;
    session.keep(&args.keep)?;
    session.warn_of_weak_confinement(printer);
    output.check()?;
    let report_file = report_path.as_ref().map(|(path, _)| path.as_path());
    let written: Vec<&Path> = output
        .path()
        .into_iter()
        .chain(report_file)
        .chain(test_path.as_deref())
        .collect();
    for path in &written {
        session.subject.runner.guard_file(&temporary(path));
    }
    let progress = Progress::new(printer, args.format);
    let mut journal = open_journal(args, &session.identity(&written), printer);
    if let Some(time) = args.max_time {
        session
            .subject
            .runner
            .set_deadline(Some(Instant::now() + time));
    }
    let effort = Effort {
        max_runs: args.max_runs,
        ablates: !args.no_ablation,
    };
    let mut minimized = minimize(&session, &passes, &mut journal, effort, &output, &progress)
        .inspect_err(|_| progress.finish())?;
    if let Some(path) = &test_path {
        progress.phase("running the result as a test");
        match emit::emit(&session, &minimized, path) {
            Ok(emitted) => minimized.test = Some(emitted),
            Err(emit::Unwritten::Stopped(error)) => {
                minimized.reduction.stop = Stop::Halted(error.into());
            }
            Err(emit::Unwritten::Because(why)) => {
                printer.warning(&format!("no test was written: {why}"));
            }
        }
    }
    progress.finish();
    let report = minimized.report(&session, &output);
    if let Some((path, form)) = &report_path
        && let Err(error) = write_atomically(path, report.render(*form).as_bytes())
    {
        // The result comes first: a report that cannot be written must not stand in its way.
        printer.warning(&format!(
            "could not write the report `{}`: {error}",
            path.display()
        ));
    }
    let exit = finish(args, &session, &output, &minimized, &report, printer)?;
    Ok(Reduced {
        exit,
        report,
        text: minimized.reduction.program.shared_text(),
    })
}

/// The file and form of the report, if one is wanted and can be written.
fn report_path(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
) -> Result<Option<(PathBuf, report::ReportForm)>, Failure> {
    let Some(path) = &args.report else {
        return Ok(None);
    };
    let form = report::ReportForm::of(path).ok_or_else(|| {
        Failure::usage(format!(
            "`{}` has no known form of a report",
            path.display()
        ))
        .hint("the forms are FILE.html, FILE.md and FILE.json")
    })?;
    let hint = "name another file with `--report FILE`";
    let others: Vec<&Path> = std::iter::once(script).chain(output.path()).collect();
    let path = target(path, &others, hint)?;
    check_writable(&path, hint)?;
    Ok(Some((path, form)))
}

/// The file of the test, if one is wanted and can be written.
fn test_path(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
    report: Option<&Path>,
) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = &args.emit_test else {
        return Ok(None);
    };
    let hint = "name another file with `--emit-test FILE`";
    let others: Vec<&Path> = std::iter::once(script)
        .chain(output.path())
        .chain(report)
        .collect();
    let path = target(path, &others, hint)?;
    check_writable(&path, hint)?;
    Ok(Some(path))
}

/// Writes the result, reports how the reduction ended, and chooses the exit status.
fn finish(
    args: &ReduceArgs,
    session: &Session,
    output: &Output,
    minimized: &Minimized,
    report: &Report,
    printer: Printer,
) -> Result<Exit, Failure> {
    let program = &minimized.reduction.program;
    let unwritten = output.write(program).err();
    if unwritten.is_some() || matches!(output, Output::Stdout) {
        // A result that cannot be written is printed, so that nothing is lost.
        match args.format {
            Format::Human => {
                printer.bytes(
                    &encoded(program).unwrap_or_else(|_| program.text().as_bytes().to_vec()),
                );
            }
            Format::Jsonl => {
                printer.data(&format!(
                    "{}\n",
                    serde_json::json!({"event": "result", "text": program.text()})
                ));
            }
        }
    }
    if let Some(error) = unwritten {
        let error = anyhow::Error::new(error).context(format!(
            "could not write `{}`; the result was printed instead",
            output.name()
        ));
        return Err(Failure::new(Exit::Environment, error)
            .hint("make room, or name another file with `-o FILE`"));
    }
    match args.format {
        Format::Jsonl => {
            let mut value = serde_json::to_value(report).unwrap_or_default();
            value["event"] = "report".into();
            printer.data(&format!("{value}\n"));
        }
        Format::Human => {
            let names = (session.script.display().to_string(), output.name());
            let diff = report::unified(
                (&names.0, session.subject.program.text()),
                (&names.1, program.text()),
            );
            printer.note(&format!("{diff}\n{}", report::summary(report)));
        }
    }
    match &minimized.reduction.stop {
        Stop::Halted(Halt::Failed(error)) => Err(failed(error)),
        Stop::Halted(Halt::Interrupted(signal)) => Ok(Exit::Interrupted(*signal)),
        _ if !minimized.confirmed.is_certain() => {
            let Confirmed { same, of, .. } = minimized.confirmed;
            Err(Failure::new(
                Exit::Unstable,
                anyhow::anyhow!("the result shows the bug in only {same} of {of} fresh runs"),
            )
            .hint(
                "the bug is not steady: seed what is random, or give a looser signature or more `--timeout`",
            ))
        }
        _ if !minimized.truth.is_verified() && !session.subject.settings.loose => {
            Err(unverified(&minimized.truth))
        }
        Stop::MaxRuns | Stop::Halted(Halt::MaxTime) => Ok(Exit::Stopped),
        Stop::Done => Ok(Exit::Reduced),
    }
}

/// A result with the same words that lacks something that makes it true.
fn unverified(truth: &Truth) -> Failure {
    let missing = truth.findings.iter().filter(|finding| !finding.holds);
    let claims: Vec<&str> = missing.map(|finding| finding.claim.as_str()).collect();
    Failure::new(
        Exit::Unverified,
        anyhow::anyhow!(
            "the result shows the same words, its cause is not verified: not so that {}",
            claims.join("; that ")
        ),
    )
    .hint(
        "the result was written all the same; `--loose` accepts the same words whatever the cause",
    )
}

/// The failure of a reduction that could not continue.
fn failed(error: &anyhow::Error) -> Failure {
    let disk_full = error
        .downcast_ref::<crate::runner::RunError>()
        .is_some_and(crate::runner::RunError::is_disk_full);
    let failure = Failure::new(
        Exit::Environment,
        anyhow::anyhow!("{error:#}; the best so far was written"),
    );
    if disk_full {
        failure.hint(
            "the disk is full: make room and run the same command again to continue from here",
        )
    } else {
        failure.hint("run the same command again to continue from here")
    }
}

/// The journal of this reduction; without one, with a warning, if it is in use or cannot be
/// opened.
fn open_journal(args: &ReduceArgs, identity: &str, printer: Printer) -> Journal {
    if args.no_journal {
        return Journal::in_memory();
    }
    match cache_folder().map(|folder| Journal::open(&folder.join("journals"), identity)) {
        Some(Ok(journal)) => journal,
        Some(Err(error)) => {
            let cause = match &error {
                JournalError::Io { source, .. } => format!(": {source}"),
                JournalError::InUse { .. } => String::new(),
            };
            printer.warning(&format!(
                "no journal is kept, so a rerun starts from the beginning: {error}{cause}"
            ));
            Journal::in_memory()
        }
        None => {
            printer.warning(
                "no journal is kept, so a rerun starts from the beginning: the home folder is unknown",
            );
            Journal::in_memory()
        }
    }
}
