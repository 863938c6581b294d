//! One reduction from the baseline to the confirmed result, and its report. Called by the verbs
//! that reduce scripts; writes nothing but the result.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    cost::Cost,
    modules::standard::packages_of,
    pass::Pass,
    syntax::Program,
    torch::{ablation::conditions, environment::CompilerRank},
};

use super::session::Session;
use crate::{
    cli::Failure,
    engine::{self, Ablation, Commit, Event, Halt, Options, Reduction, SearchStep, Stop, ablate},
    journal::Journal,
    judge::{
        Alone, Confirmed, Established, FirstStep, Inlining, Measure, RunnerJudge, Truth, establish,
    },
    oracle::{self, SequentialTest},
    report::{
        self, Emitted, EventRecord, InterpreterReport, Output, Phase, Progress, Report,
        ReportedAblation, ReportedInlining, ReportedPrograms, Reproduction, RunCounts,
    },
    runner::{EnvironmentDifference, RunError, Start, package_path},
    text::in_backticks,
};

/// A reduction with everything that its report needs.
pub(super) struct Minimized {
    /// The findings of the runs of the script as given.
    pub(super) established: Established,
    pub(super) reduction: Reduction,
    /// Which parts of the result are necessary.
    pub(super) ablation: Ablation,
    pub(super) confirmed: Confirmed,
    /// How the mechanism of the result's failure differs from the script's, if it does.
    mismatch: Option<String>,
    /// The findings of the checks on the result.
    pub(super) truth: Truth,
    /// How candidates started, in words.
    runner: String,
    pub(super) seconds: f64,
    /// How the result runs without the inlined modules, if any were inlined.
    pub(super) alone: Option<Alone>,
    /// The result as a test, once that is written.
    pub(super) test: Option<Emitted>,
}

/// The limits of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// The most candidate runs.
    pub(super) max_runs: Option<u64>,
    /// When everything is over, the last look at the result included.
    pub(super) end: Option<Instant>,
    /// Whether to find out which conditions are necessary.
    pub(super) ablates: bool,
}

/// Establishes the bug's signature, reduces the script, and confirms the result by fresh runs.
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
    subject.set_deadline(effort.end);
    let established = begin(session, journal, progress)?;
    let search_end = effort.end.map(|end| search_end(session, &established, end));
    subject.set_deadline(search_end);
    let options = Options {
        until: search_end,
        ..options(session, &established, effort.max_runs)
    };
    let ablated = effort.ablates.then(|| subject.env());
    let mut judge = RunnerJudge::new(subject, &established, ablated.clone(), effort.end);
    progress.phase(Phase::Search);
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
    let (confirmed, mismatch) = match &reduction.stop {
        Stop::Halted(Halt::Interrupted(_) | Halt::Failed(_)) => Default::default(),
        _ => {
            subject.set_deadline(effort.end);
            progress.phase(Phase::Confirmation);
            // The ablation ran the program itself, too: under other variables.
            confirmed(
                &mut judge,
                &mut reduction,
                established.fresh,
                ablation.confirming,
            )
        }
    };
    let truth = truth(&mut judge, &mut reduction, mismatch.as_deref());
    let alone = alone(session, &established, &mut reduction);
    Ok(Minimized {
        alone,
        runner: described(session, &established),
        established,
        reduction,
        ablation,
        confirmed,
        mismatch,
        truth,
        seconds: started.elapsed().as_secs_f64(),
        test: None,
    })
}

/// When the search is to end, so that time is left for the last look: a result that nobody has
/// looked at is worth less than one that is a little larger.
fn search_end(session: &Session, established: &Established, end: Instant) -> Instant {
    let last_look = established.last_look(session.subject.runner.jobs());
    let left = end.saturating_duration_since(Instant::now());
    end.checked_sub(last_look.min(left / 2)).unwrap_or(end)
}

/// The options of the search.
fn options(session: &Session, established: &Established, max_runs: Option<u64>) -> Options {
    Options {
        max_runs,
        jobs: session.subject.runner.jobs(),
        singly: established.record.flaky.is_some(),
        until: None,
        unbound_names: established.measure.allows_unbound_names(),
    }
}

/// The last runs of a result, of which there were some `already`; where nothing was removed, the
/// fresh runs of the script stand for the result's.
fn confirmed(
    judge: &mut RunnerJudge<'_>,
    reduction: &mut Reduction,
    fresh: usize,
    already: usize,
) -> (Confirmed, Option<String>) {
    let unchanged = reduction.commits.is_empty().then_some(fresh);
    judge
        .confirm_result(&reduction.program, unchanged, already)
        .unwrap_or_else(|error| {
            // The result so far is written all the same.
            reduction.stop = Stop::Halted(error.into());
            let shown = unchanged.unwrap_or_default();
            let confirmed = Confirmed {
                same: shown,
                of: shown,
                enough: false,
            };
            (confirmed, None)
        })
}

/// Runs the original script, and reports what that establishes.
fn begin(
    session: &Session,
    journal: &mut Journal,
    progress: &Progress,
) -> Result<Established, Failure> {
    let known = journal.recalled();
    progress.phase(Phase::Baseline);
    let watch = |step| progress.step(&first_step(step));
    let established =
        establish(&session.subject, journal, &watch).map_err(|error| session.failure(error))?;
    // Where libraries have changed, nothing of it counts any more.
    if known > 0 && journal.recalled() > 0 {
        let text = format!("continues an earlier reduction: {known} of its verdicts are recalled");
        progress.record(&EventRecord::Note { text: text.clone() }, Some(&text));
    }
    announce(session, &established, progress);
    if !established.measure.is_hang() {
        journal.forget_what_a_limit_decides(established.timeout.as_millis() as u64);
    }
    Ok(established)
}

/// The current step before the reduction begins, in words.
fn first_step(step: FirstStep) -> String {
    match step {
        FirstStep::Run { number, of, each } => {
            let each = each.map_or_else(String::new, |each| {
                format!(", about {:.0} s each", each.as_secs_f64().max(1.0))
            });
            format!("run {number} of {of} of the script{each}")
        }
        FirstStep::Checks => "finding what stops the bug".to_owned(),
    }
}

/// How the result runs without the inlined modules. Puts the inlining before all other changes,
/// since it was done before the first of them.
fn alone(session: &Session, established: &Established, reduction: &mut Reduction) -> Option<Alone> {
    let alone = match &reduction.stop {
        Stop::Halted(Halt::Interrupted(_) | Halt::Failed(_)) => None,
        _ => session.stands_alone(established, &reduction.program),
    };
    let modules = &session.inlining.modules;
    if !modules.is_empty() {
        let commit = Commit {
            pass: "inline-modules".to_owned(),
            note: format!(
                "inlined {}",
                in_backticks(modules.iter().map(String::as_str))
            ),
            tokens: session.subject.program.size().tokens,
            run: 0,
            seconds: 0.0,
        };
        reduction.commits.insert(0, commit);
    }
    alone
}

/// From where candidates started, in words.
fn described(session: &Session, established: &Established) -> String {
    let why_cold = session.subject.runner.why_cold();
    established.calibration.describe(why_cold.as_deref())
}

/// How far it could be verified that the result shows the same bug.
fn truth(judge: &mut RunnerJudge<'_>, reduction: &mut Reduction, mismatch: Option<&str>) -> Truth {
    if let Stop::Halted(Halt::Interrupted(_) | Halt::Failed(_)) = &reduction.stop {
        return Truth::default();
    }
    judge
        .verify(&reduction.program, mismatch)
        .unwrap_or_else(|error| {
            let is_late = matches!(error, RunError::Deadline);
            reduction.stop = Stop::Halted(error.into());
            Truth {
                unknown: is_late.then(|| "the time was up before that was looked at".to_owned()),
                ..Truth::default()
            }
        })
}

/// Reports what the runs of the script established.
fn announce(session: &Session, established: &Established, progress: &Progress) {
    let subject = &session.subject;
    let signature = established.measure.describe();
    let words = format!("signature: {signature}");
    let settings = &subject.settings;
    let record = EventRecord::Signature {
        signature,
        derived: settings.specs.is_empty() && settings.test.is_none(),
        timeout: established.timeout.as_secs_f64(),
    };
    progress.record(&record, Some(&words));
    for text in &session.notes {
        let text = text.clone();
        progress.record(&EventRecord::Note { text: text.clone() }, Some(&text));
    }
    let calibration = &established.calibration;
    let record = EventRecord::Runner {
        warm: calibration.start == Start::Warm,
        why_cold: calibration.why_cold().map(str::to_owned),
        confinement: subject.runner.bounds(),
    };
    let words = format!("runner: {}", calibration.describe(None));
    progress.record(&record, Some(&words));
    if let Some(words) = session.environment() {
        let EnvironmentDifference { set, withheld } = subject.runner.environment_difference();
        let set = set.into_iter().collect();
        progress.record(&EventRecord::Environment { set, withheld }, Some(&words));
    }
    for claim in established.checks.describe() {
        let words = claim.clone();
        progress.record(&EventRecord::Check { claim }, Some(&words));
    }
    if let Some(stabilizer) = subject.stabilizer() {
        let by = stabilizer.to_string();
        let words = format!("the bug shows in every run with {by}");
        progress.record(&EventRecord::Stabilizer { by }, Some(&words));
    }
}

/// Finds out which conditions of the result and which variables of its environment are necessary.
fn tried(
    env: &[(String, String)],
    reduction: &mut Reduction,
    judge: &mut RunnerJudge<'_>,
    journal: &mut Journal,
    max_runs: Option<u64>,
    progress: &Progress,
) -> Ablation {
    progress.phase(Phase::Ablation);
    let program = &reduction.program;
    // A program that cannot be encoded is reported when it is to be written.
    if let Some(bytes) = program.encode() {
        judge.begin_last_runs(program, &bytes.into());
    }
    let left = max_runs.map(|most| most.saturating_sub(reduction.tally.runs));
    let found = conditions(program, env);
    // It removes nothing: the figures of the search stay.
    let tally = reduction.tally;
    let mut ablation = ablate(program, found, judge, journal, left, &mut |event, _| {
        progress.event(event, &tally);
    });
    match ablation.halt.take() {
        // The reduction is still complete; the report says what was not tried.
        None | Some(Halt::MaxTime) => {}
        Some(halt) => reduction.stop = Stop::Halted(halt),
    }
    ablation
}

impl Minimized {
    /// The test that judged candidates, if the bug does not show in every run.
    pub(super) fn steadiness(&self) -> Option<SequentialTest> {
        self.established.record.flaky.map(|(test, ..)| test)
    }

    /// How many runs of the script as given showed the bug, if not all of them did.
    fn shown(&self) -> Option<Confirmed> {
        let (_, same, of) = self.established.record.flaky?;
        Some(Confirmed {
            same,
            of,
            enough: false,
        })
    }

    /// Whether the failure is one of the script's own code.
    fn is_own(&self) -> bool {
        let of_script = match &self.established.measure {
            Measure::Signature(signature) => signature.is_of_script(),
            Measure::Test(_) => false,
        };
        of_script && !self.reduction.program.has_imports()
    }

    /// The report.
    pub(super) fn report(&self, session: &Session, output: &Output) -> Report {
        let subject = &session.subject;
        let reduction = &self.reduction;
        let interpreter = session.interpreter.as_ref();
        let differences = reduction.differences.iter();
        let slips =
            oracle::ledger(differences.map(|(key, difference)| (key.to_string(), difference)));
        let signatures = subject.settings.specs.iter();
        let signatures = signatures.map(|spec| spec.text.as_str());
        Report {
            version: report::VERSION,
            script: session.given.name(),
            output: output.name(),
            signature: self.established.measure.describe(),
            interpreter: interpreter.map_or_else(InterpreterReport::default, |found| {
                InterpreterReport {
                    path: found.path.display().to_string(),
                    version: found.description.clone(),
                }
            }),
            runner: self.runner.clone(),
            confinement: subject.runner.bounds(),
            programs: self.programs(session, output),
            counts: self.counts(),
            compiler: compiler(&subject.program, reduction),
            commits: reduction.commits.clone(),
            spent: reduction.spent.clone(),
            looser: oracle::looser(signatures, &slips),
            slips,
            kept: reduction.kept.clone(),
            reproduction: Reproduction {
                confirmed: self.confirmed,
                shown: self.shown(),
                mismatch: self.mismatch.clone(),
                truth: self.truth.clone(),
                own: self.is_own(),
                stabilizer: subject.stabilizer().map(ToString::to_string),
            },
            ablation: ReportedAblation {
                conditions: self.ablation.tried.clone(),
                ablation_runs: self.ablation.runs,
                untried: self.ablation.left,
            },
            test: self.test.clone(),
            versions: session.versions(&reduction.program),
            inlining: self.inlining(session),
            stop: stop_in_words(&reduction.stop).to_owned(),
            undone: undone(&reduction.stop, reduction.undone),
        }
    }

    fn programs(&self, session: &Session, output: &Output) -> ReportedPrograms {
        let (before, after) = (&session.subject.program, &self.reduction.program);
        ReportedPrograms {
            before: before.size(),
            after: after.size(),
            text_before: before.text().to_owned(),
            text_after: after.text().to_owned(),
            verify: session.by_hand(output.path().unwrap_or(Path::new("RESULT.py"))),
        }
    }

    fn inlining(&self, session: &Session) -> ReportedInlining {
        let Inlining { modules, left, .. } = &session.inlining;
        let needed = packages_of(&self.reduction.program);
        let mut left = left.clone();
        left.retain(|name, _| needed.contains(name.split('.').next().unwrap_or(name)));
        let (imported, _) = &self.established.record.imported;
        let installed = needed.iter().filter(|name| is_pure(name, imported));
        ReportedInlining {
            modules: modules.clone(),
            left,
            installed: installed.cloned().collect(),
            alone: self.alone.clone(),
        }
    }

    fn counts(&self) -> RunCounts {
        let tally = &self.reduction.tally;
        RunCounts {
            runs: tally.runs,
            runs_ahead: tally.speculative_runs,
            journal_hits: tally.journal_hits,
            seconds_recalled: tally.seconds_recalled,
            pruned: tally.pruned,
            seconds: self.seconds,
            seconds_in_candidates: tally.seconds_in_candidates,
            timeout: self.established.timeout.as_secs_f64(),
        }
    }
}

/// Whether an installed package was imported from files of Python alone.
fn is_pure(name: &str, imported: &[PathBuf]) -> bool {
    let own = imported.iter().filter(|file| {
        let path = file.to_str().and_then(package_path);
        let first = path.and_then(|path| path.split(['/', '.']).next());
        first == Some(name)
    });
    let extensions: Vec<Option<&OsStr>> = own.map(|file| file.extension()).collect();
    let is_python = |extension: Option<&OsStr>| extension == Some("py".as_ref());
    !extensions.is_empty() && extensions.into_iter().all(is_python)
}

/// The steps that a spent budget left undone, for reports.
fn undone(stop: &Stop, steps: &[SearchStep]) -> Vec<String> {
    match stop {
        Stop::MaxRuns | Stop::Halted(Halt::MaxTime) => steps
            .iter()
            .map(|step| step.words())
            .chain(["finding out what is necessary"])
            .map(str::to_owned)
            .collect(),
        Stop::Done | Stop::Halted(_) => Vec::new(),
    }
}

/// Why a reduction ended, as reports say it.
fn stop_in_words(stop: &Stop) -> &'static str {
    match stop {
        Stop::Done => "done",
        Stop::MaxRuns => "max-runs",
        Stop::Halted(Halt::MaxTime) => "max-time",
        Stop::Halted(Halt::Interrupted(_)) => "interrupted",
        Stop::Halted(Halt::Failed(_)) => "failed",
    }
}

/// The weakest part of the compiler that a result needs; none if the script compiles nothing, or if
/// there was no time to find out.
fn compiler(script: &Program, reduction: &Reduction) -> Option<String> {
    let rank = |program| Cost::of(program).environment.compiler;
    let is_known = !reduction.undone.contains(&SearchStep::Environment);
    (is_known && rank(script) > CompilerRank::None)
        .then(|| rank(&reduction.program).component().to_owned())
}
