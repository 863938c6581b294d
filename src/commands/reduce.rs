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
    cli::{Exit, Failure, Format, Painted, Printer, ReduceArgs},
    engine::{Halt, Stop},
    journal::{Journal, JournalError, cache_folder, journals_folder},
    judge::{Confirmed, Inlining, Truth},
    report::{
        self, EventRecord, OurFiles, Output, Phase, Progress, Report, ReportForm, check_writable,
        encoded, target, temporary,
    },
    runner::Covered,
    target::Target,
    text::in_backticks,
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
    // From here on, since who waits has waited for all of it.
    let end = args.max_time.map(|time| Instant::now() + time);
    let given = Target::typed(args.script.as_deref(), args.run.module.as_deref())?;
    let script = &given.place();
    let passes = passes::select(&args.passes)?;
    let ours = OurFiles::new(
        cache_folder().map(|cache| cache.join("written")),
        args.force,
    );
    let result = given.result();
    let named = args.output.as_deref().or(result.as_deref());
    let output = Output::new(named, script, &ours)?;
    if matches!((&output, args.format), (Output::Stdout, Format::Jsonl)) {
        return Err(
            Failure::usage("`-o -` and `--format jsonl` both write to standard output")
                .hint("name a file for the result with `-o FILE`"),
        );
    }
    let reports = report_paths(args, script, &output, &ours)?;
    let report_files: Vec<&Path> = reports.iter().map(|(path, _)| path.as_path()).collect();
    let test_path = test_path(args, script, &output, &report_files, &ours)?;
    let mut run = args.run.clone();
    run.covered = covered(&args.inline)?;
    let mut session = Session::start(&given, &run)?;
    session.subject.set_deadline(end);
    session.warn_of_weak_confinement(printer);
    output.check()?;
    let written: Vec<&Path> = output
        .path()
        .into_iter()
        .chain(report_files)
        .chain(test_path.as_deref())
        .collect();
    for path in &written {
        session.subject.runner.guard_file(&temporary(path));
    }
    let progress = Progress::new(printer, args.format);
    prepare(&mut session, args, &progress).inspect_err(|_| progress.finish())?;
    let mut journal = if args.no_journal {
        Journal::in_memory()
    } else {
        open_journal(&session.identity(&written), printer)
    };
    let effort = Effort {
        max_runs: args.max_runs,
        end,
        ablates: !args.no_ablation,
    };
    let mut minimized = minimize(&session, &passes, &mut journal, effort, &output, &progress)
        .inspect_err(|_| progress.finish())?;
    if let Some(path) = &test_path {
        progress.phase(Phase::Test);
        match emit::emit(&session, &minimized, path, &ours) {
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
    for (path, form) in &reports {
        write_report(&report, path, *form, &ours, printer);
    }
    let exit = finish(args, &session, &output, &minimized, &report, printer)?;
    Ok(Reduced {
        exit,
        report,
        text: minimized.reduction.program.shared_text(),
    })
}

/// Writes the report; one that cannot be written does not stand in the way of the result.
fn write_report(report: &Report, path: &Path, form: ReportForm, ours: &OurFiles, printer: Printer) {
    if let Err(error) = ours.write(path, report.render(form).as_bytes()) {
        printer.warning(&format!(
            "could not write the report `{}`: {error}",
            path.display()
        ));
    }
}

/// Inlines the script's imports, and then reads which of its parts to keep.
fn prepare(session: &mut Session, args: &ReduceArgs, progress: &Progress) -> Result<(), Failure> {
    if covered(&args.inline)?.is_any() {
        // Without it, the script can be reduced all the same: it may take a part of the time only.
        let end = session.subject.runner.deadline();
        let share = end.map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now) / 3
        });
        session.subject.set_deadline(share);
        session.inline()?;
        session.subject.set_deadline(end);
        announce_inlining(session, progress);
    }
    session.keep(&args.keep)
}

/// Says which modules were inlined, and which were not.
fn announce_inlining(session: &Session, progress: &Progress) {
    let note = |text: String| {
        let words = text.clone();
        progress.record(&EventRecord::Note { text }, Some(&words));
    };
    let Inlining { modules, left, .. } = &session.inlining;
    if !modules.is_empty() {
        let tokens = session.subject.program.size().tokens;
        let names = in_backticks(modules.iter().map(String::as_str));
        note(format!("inlined {names}: {tokens} tokens"));
    }
    for (module, reason) in left {
        note(format!("`{module}` is not inlined: {reason}"));
    }
}

/// Which files the user wants to have inlined.
fn covered(named: &[String]) -> Result<Covered, Failure> {
    let mut covered = Covered {
        local: true,
        ..Covered::default()
    };
    for name in named {
        match name.as_str() {
            "local" => {}
            "all" => covered.all = true,
            "none" if named.len() == 1 => covered.local = false,
            "none" => {
                let message = "`--inline none` leaves no room for other names";
                return Err(Failure::usage(message).hint("give `none` alone, or leave it out"));
            }
            name if is_name(name) => covered.packages.push(name.to_owned()),
            name => {
                let message = format!("`{name}` is not a package name");
                let hint = "give the name by which it is imported, such as `--inline einops`";
                return Err(Failure::usage(message).hint(hint));
            }
        }
    }
    Ok(covered)
}

/// Whether a text can be the name of a package that is imported.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
    letters.next().is_some_and(is_first)
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The files and forms of the reports, if they can be written.
fn report_paths(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
    ours: &OurFiles,
) -> Result<Vec<(PathBuf, ReportForm)>, Failure> {
    let others: Vec<&Path> = std::iter::once(script).chain(output.path()).collect();
    let named = args.report.iter().map(|path| {
        let form = ReportForm::of(path).ok_or_else(|| {
            Failure::usage(format!("`{}` has no known report format", path.display()))
                .hint("the forms are FILE.html, FILE.md and FILE.json")
        })?;
        let hint = "name another file with `--report FILE`";
        let path = target(path, &others, hint)?;
        ours.check(&path)?;
        check_writable(&path, hint)?;
        Ok((path, form))
    });
    named.collect()
}

/// The file of the test, if one is wanted and can be written.
fn test_path(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
    reports: &[&Path],
    ours: &OurFiles,
) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = &args.emit_test else {
        return Ok(None);
    };
    let hint = "name another file with `--emit-test FILE`";
    let others: Vec<&Path> = std::iter::once(script)
        .chain(output.path())
        .chain(reports.iter().copied())
        .collect();
    let path = target(path, &others, hint)?;
    ours.check(&path)?;
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
                let bytes = encoded(program).unwrap_or_else(|_| program.text().as_bytes().to_vec());
                printer.file(&bytes).map_err(|error| {
                    Failure::unprinted(error)
                        .hint("run the same command again with `-o FILE` to write it there")
                })?;
            }
            Format::Jsonl => {
                let text = program.text().to_owned();
                printer.data(EventRecord::Result { text }.line());
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
            printer.data(EventRecord::Report(Box::new(report.clone())).line());
        }
        Format::Human => {
            let mut text = Painted::default();
            if args.diff {
                let names = (session.given.name(), output.name());
                text = report::unified(
                    (&names.0, session.subject.program.text()),
                    (&names.1, program.text()),
                )
                .plain("\n");
            }
            text.append(report::ending(report, output.path().is_some()));
            printer.note(text);
        }
    }
    match &minimized.reduction.stop {
        Stop::Halted(Halt::Failed(error)) => Err(failed(error)),
        Stop::Halted(Halt::Interrupted(signal)) => Ok(Exit::Interrupted(*signal)),
        // The last lines say that it is not confirmed.
        Stop::Halted(Halt::MaxTime) if minimized.confirmed.of == 0 => Ok(Exit::Stopped),
        _ if !minimized.confirmed.is_certain() => {
            let Confirmed { same, of, .. } = minimized.confirmed;
            Err(Failure::new(
                Exit::Unstable,
                anyhow::anyhow!("the result shows the bug in only {same} of {of} fresh runs"),
            )
            .hint(
                "the bug is not steady: seed random values, or give a looser signature or more `--timeout`",
            ))
        }
        _ if !minimized.truth.is_verified() && !session.subject.settings.loose => {
            Err(unverified(&minimized.truth))
        }
        Stop::MaxRuns | Stop::Halted(Halt::MaxTime) => Ok(Exit::Stopped),
        Stop::Done if let Some(obstacle) = report.inlining.obstacle() => Err(not_alone(&obstacle)),
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
            "the result shows the same words, but its cause is not verified: it does not hold that {}",
            claims.join("; that ")
        ),
    )
    .hint(
        "the result was still written; `--loose` accepts the same words, whatever the cause",
    )
}

/// A result that needs modules of the user's own.
fn not_alone(obstacle: &str) -> Failure {
    let error = anyhow::anyhow!("the result does not stand alone: {obstacle}");
    Failure::new(Exit::Unverified, error)
        .hint("the result was still written; `--inline none` leaves modules where they are")
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
pub(super) fn open_journal(identity: &str, printer: Printer) -> Journal {
    match journals_folder().map(|folder| Journal::open(&folder, identity)) {
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
