//! The default verb: minimizes a script.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    cost::Cost,
    pass::Pass,
    syntax::Program,
    torch::{ablation::conditions, environment::CompilerRank},
};

use super::{
    emit,
    output::{Output, check_writable, encoded, target},
    passes,
    session::Session,
};
use crate::{
    cli::{Exit, Failure, Format, Printer, ReduceArgs},
    engine::{self, Ablation, Event, Halt, Options, Reduction, Stop, ablate},
    journal::{Journal, JournalError, cache_folder},
    judge::{Confirmed, Established, RunnerJudge, establish},
    oracle::{self, SequentialTest},
    report::{
        self, Emitted, InterpreterReport, Progress, Report, ReportedAblation, ReportedPrograms,
        Reproduction, RunCounts, temporary, write_atomically,
    },
};

pub(super) fn reduce(args: &ReduceArgs, printer: Printer) -> Result<Exit, Failure> {
    reduced(args, printer).map(|reduced| reduced.exit)
}

/// What came of a reduction whose result was written.
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
            Failure::usage("`-o -` and `--format jsonl` both want standard output")
                .hint("name a file for the result by `-o FILE`"),
        );
    }
    let report_path = report_path(args, script, &output)?;
    let test_path = test_path(
        args,
        script,
        &output,
        report_path.as_ref().map(|(path, _)| path.as_path()),
    )?;
    let session = Session::start(script, &args.run)?;
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

/// Where the report goes, if it is wanted and can be written there.
fn report_path(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
) -> Result<Option<(PathBuf, report::ReportForm)>, Failure> {
    let Some(path) = &args.report else {
        return Ok(None);
    };
    let form = report::ReportForm::of(path).ok_or_else(|| {
        Failure::usage(format!("`{}` names no form of report", path.display()))
            .hint("the forms are FILE.html, FILE.md and FILE.json")
    })?;
    let hint = "name another file by `--report FILE`";
    let others: Vec<&Path> = std::iter::once(script).chain(output.path()).collect();
    let path = target(path, &others, hint)?;
    check_writable(&path, hint)?;
    Ok(Some((path, form)))
}

/// Where the test goes, if it is wanted and can be written there.
fn test_path(
    args: &ReduceArgs,
    script: &Path,
    output: &Output,
    report: Option<&Path>,
) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = &args.emit_test else {
        return Ok(None);
    };
    let hint = "name another file by `--emit-test FILE`";
    let others: Vec<&Path> = std::iter::once(script)
        .chain(output.path())
        .chain(report)
        .collect();
    let path = target(path, &others, hint)?;
    check_writable(&path, hint)?;
    Ok(Some(path))
}

/// A reduction with all that its report needs.
pub(super) struct Minimized {
    /// What the runs of the script as given established.
    pub(super) established: Established,
    pub(super) reduction: Reduction,
    /// Which parts of the result are necessary.
    pub(super) ablation: Ablation,
    pub(super) confirmed: Confirmed,
    /// Where in a library the result fails, if that is not where the script did.
    elsewhere: Option<String>,
    /// From where candidates started, in words.
    runner: String,
    pub(super) seconds: f64,
    /// The result as a test, once that is written.
    test: Option<Emitted>,
}

/// How much is done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// Candidate runs at most.
    pub(super) max_runs: Option<u64>,
    /// Whether it is found out what of the result is necessary.
    pub(super) ablates: bool,
}

/// Establishes what the bug looks like, reduces, and runs the result anew.
pub(super) fn minimize(
    session: &Session,
    passes: &[&'static Pass],
    journal: &mut Journal,
    effort: Effort,
    output: &Output,
    progress: &Progress,
) -> Result<Minimized, Failure> {
    let started = Instant::now();
    let subject = &session.subject;
    progress.phase("running the script as it is");
    let established = establish(subject, journal).map_err(|error| session.failure(error))?;
    announce(session, &established, progress);
    if !established.measure.is_hang() {
        journal.forget_what_a_limit_decides(established.timeout.as_millis() as u64);
    }
    let options = Options {
        max_runs: effort.max_runs,
        jobs: subject.runner.jobs(),
        singly: established.record.flaky.is_some(),
        unbound_names: established.measure.allows_unbound_names(),
    };
    let ablated = effort.ablates.then(|| subject.env());
    let mut judge = RunnerJudge::new(subject, &established, ablated.clone());
    let mut reduction = engine::reduce(
        Arc::clone(subject.program_as_run()),
        passes,
        &mut judge,
        journal,
        &options,
        &mut |event, tally| {
            if let Event::Commit { program, .. } | Event::RolledBack { program, .. } = event {
                // A result that cannot be written now is written, or its loss reported, at the end.
                let _ = output.write(program);
            }
            progress.event(event, tally);
        },
    );
    let ablation = match (ablated, &reduction.stop) {
        (Some(env), Stop::Done) => tried(
            &env,
            &mut reduction,
            &mut judge,
            journal,
            effort.max_runs,
            progress,
        ),
        _ => Ablation::default(),
    };
    let (confirmed, elsewhere) = match &reduction.stop {
        Stop::Halted(Halt::Interrupted(_) | Halt::Failed(_)) => Default::default(),
        _ => {
            subject.runner.set_deadline(None);
            progress.phase("running the result anew");
            let is_unchanged = reduction.commits.is_empty();
            let unchanged = is_unchanged.then_some(established.fresh);
            // The ablation ran the program itself, too: under other variables.
            let already = ablation.confirming;
            judge
                .confirm_result(&reduction.program, unchanged, already)
                .unwrap_or_else(|error| {
                    // What was found is written all the same.
                    reduction.stop = Stop::Halted(error.into());
                    Default::default()
                })
        }
    };
    let why_cold = subject.runner.why_cold();
    Ok(Minimized {
        runner: established.calibration.describe(why_cold.as_deref()),
        established,
        reduction,
        ablation,
        confirmed,
        elsewhere,
        seconds: started.elapsed().as_secs_f64(),
        test: None,
    })
}

/// Reports what the runs of the script established.
fn announce(session: &Session, established: &Established, progress: &Progress) {
    let signature = established.measure.describe();
    progress.phase(&format!("signature: {signature}"));
    let runner = established.calibration.describe(None);
    progress.phase(&format!("runner: {runner}"));
    for line in established.checks.describe() {
        progress.phase(line);
    }
    if let Some(stabilizer) = session.subject.stabilizer() {
        progress.phase(&format!("the bug shows each time by {stabilizer}"));
    }
}

/// Finds out what of the result and of the variables it is run with is necessary, beside what else
/// is asked of it.
fn tried(
    env: &[(String, String)],
    reduction: &mut Reduction,
    judge: &mut RunnerJudge<'_>,
    journal: &mut Journal,
    max_runs: Option<u64>,
    progress: &Progress,
) -> Ablation {
    progress.phase("trying what is necessary");
    let program = &reduction.program;
    // A program that cannot be encoded is reported when it is to be written.
    if let Some(bytes) = program.encode() {
        judge.begin_last_runs(program, &bytes.into());
    }
    let left = max_runs.map(|most| most.saturating_sub(reduction.tally.runs));
    let found = conditions(program, env);
    let mut ablation = ablate(program, found, judge, journal, left, &mut |event, tally| {
        progress.event(event, tally);
    });
    match ablation.halt.take() {
        // The reduction is done all the same; the report says what was not tried.
        None | Some(Halt::MaxTime) => {}
        Some(halt) => reduction.stop = Stop::Halted(halt),
    }
    ablation
}

impl Minimized {
    /// How candidates were tested, if the bug does not show each time.
    pub(super) fn steadiness(&self) -> Option<SequentialTest> {
        self.established.record.flaky.map(|(test, ..)| test)
    }

    /// How often the script as given showed the bug, if that was not each time.
    fn shown(&self) -> Option<Confirmed> {
        let (_, same, of) = self.established.record.flaky?;
        Some(Confirmed {
            same,
            of,
            enough: false,
        })
    }

    /// The report.
    pub(super) fn report(&self, session: &Session, output: &Output) -> Report {
        let Reduction {
            program,
            commits,
            tally,
            differences,
            kept,
            spent,
            stop,
        } = &self.reduction;
        let before = &session.subject.program;
        let slips = oracle::ledger(
            differences
                .iter()
                .map(|(key, difference)| (key.to_string(), difference)),
        );
        Report {
            version: report::VERSION,
            script: session.script.display().to_string(),
            output: output.name(),
            signature: self.established.measure.describe(),
            interpreter: InterpreterReport {
                path: session
                    .interpreter
                    .as_ref()
                    .map_or_else(String::new, |found| found.path.display().to_string()),
                version: session
                    .interpreter
                    .as_ref()
                    .map_or_else(String::new, |found| found.description.clone()),
            },
            runner: self.runner.clone(),
            confinement: session.subject.runner.confinement().describe().to_owned(),
            programs: ReportedPrograms {
                before: before.size(),
                after: program.size(),
                text_before: before.text().to_owned(),
                text_after: program.text().to_owned(),
                verify: match output {
                    Output::File(path) => session.by_hand(path),
                    Output::Stdout => session.by_hand(Path::new("RESULT.py")),
                },
            },
            counts: RunCounts {
                runs: tally.runs,
                runs_ahead: tally.speculative_runs,
                journal_hits: tally.journal_hits,
                pruned: tally.pruned,
                seconds: self.seconds,
                seconds_in_candidates: tally.seconds_in_candidates,
                timeout: self.established.timeout.as_secs_f64(),
            },
            compiler: compiler(before, program),
            commits: commits.clone(),
            spent: spent.clone(),
            looser: oracle::looser(
                session
                    .subject
                    .settings
                    .specs
                    .iter()
                    .map(|spec| spec.text.as_str()),
                &slips,
            ),
            slips,
            kept: kept.clone(),
            reproduction: Reproduction {
                confirmed: self.confirmed,
                shown: self.shown(),
                elsewhere: self.elsewhere.clone(),
                stabilizer: session.subject.stabilizer().map(ToString::to_string),
            },
            ablation: ReportedAblation {
                conditions: self.ablation.tried.clone(),
                ablation_runs: self.ablation.runs,
                untried: self.ablation.left,
            },
            test: self.test.clone(),
            stop: match stop {
                Stop::Done => "done",
                Stop::MaxRuns => "max-runs",
                Stop::Halted(Halt::MaxTime) => "max-time",
                Stop::Halted(Halt::Interrupted(_)) => "interrupted",
                Stop::Halted(Halt::Failed(_)) => "failed",
            }
            .to_owned(),
        }
    }
}

/// The least that a program has to be compiled by, if the script was compiled at all.
fn compiler(before: &Program, after: &Program) -> Option<String> {
    let [before, after] = [before, after].map(|program| Cost::of(program).environment.compiler);
    (before > CompilerRank::None).then(|| after.component().to_owned())
}

/// Writes what is to be written, says how it ended, and chooses the exit status.
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
        Stop::MaxRuns | Stop::Halted(Halt::MaxTime) => Ok(Exit::Stopped),
        Stop::Done => Ok(Exit::Reduced),
    }
}

/// A reduction that could not go on: the error of the runner decides the exit status.
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
            "the disk is full: make room and run the same command again, it goes on from here",
        )
    } else {
        failure.hint("run the same command again, it goes on from here")
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
