//! One reduction from the baseline to the confirmed result, and its report. Called by the verbs that
//! reduce scripts; writes nothing but the result.

use std::{path::Path, sync::Arc, time::Instant};

use minrepro_reducers::{
    cost::Cost,
    pass::Pass,
    syntax::Program,
    torch::{ablation::conditions, environment::CompilerRank},
};

use super::session::Session;
use crate::{
    cli::Failure,
    engine::{self, Ablation, Event, Halt, Options, Reduction, Stop, ablate},
    journal::Journal,
    judge::{Confirmed, Established, Measure, RunnerJudge, Truth, establish},
    oracle::{self, SequentialTest},
    report::{
        self, Emitted, InterpreterReport, Output, Progress, Report, ReportedAblation,
        ReportedPrograms, Reproduction, RunCounts,
    },
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
    /// What was found of all that makes the result true.
    pub(super) truth: Truth,
    /// How candidates started, in words.
    runner: String,
    pub(super) seconds: f64,
    /// The result as a test, once that is written.
    pub(super) test: Option<Emitted>,
}

/// The limits of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// The most candidate runs.
    pub(super) max_runs: Option<u64>,
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
    progress.phase("running the script as given");
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
    let (confirmed, mismatch) = match &reduction.stop {
        Stop::Halted(Halt::Interrupted(_) | Halt::Failed(_)) => Default::default(),
        _ => {
            subject.runner.set_deadline(None);
            progress.phase("confirming the result by fresh runs");
            let commits = &reduction.commits;
            let unchanged = commits.is_empty().then_some(established.fresh);
            // The ablation ran the program itself, too: under other variables.
            let already = ablation.confirming;
            judge
                .confirm_result(&reduction.program, unchanged, already)
                .unwrap_or_else(|error| {
                    // The result so far is written all the same.
                    reduction.stop = Stop::Halted(error.into());
                    Default::default()
                })
        }
    };
    let truth = truth(&mut judge, &mut reduction, mismatch.as_deref());
    Ok(Minimized {
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
            reduction.stop = Stop::Halted(error.into());
            Truth::default()
        })
}

/// Reports what the runs of the script established.
fn announce(session: &Session, established: &Established, progress: &Progress) {
    let signature = established.measure.describe();
    progress.phase(&format!("signature: {signature}"));
    let runner = established.calibration.describe(None);
    progress.phase(&format!("runner: {runner}"));
    if let Some(environment) = session.environment() {
        progress.phase(&environment);
    }
    for line in established.checks.describe() {
        progress.phase(&line);
    }
    if let Some(stabilizer) = session.subject.stabilizer() {
        progress.phase(&format!("the bug shows in every run with {stabilizer}"));
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
    progress.phase("trying which conditions are necessary");
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
            script: session.script.display().to_string(),
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
            compiler: compiler(&subject.program, &reduction.program),
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
            stop: stop_in_words(&reduction.stop).to_owned(),
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

    fn counts(&self) -> RunCounts {
        let tally = &self.reduction.tally;
        RunCounts {
            runs: tally.runs,
            runs_ahead: tally.speculative_runs,
            journal_hits: tally.journal_hits,
            pruned: tally.pruned,
            seconds: self.seconds,
            seconds_in_candidates: tally.seconds_in_candidates,
            timeout: self.established.timeout.as_secs_f64(),
        }
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

/// The weakest part of the compiler that a result needs; none if the script compiles nothing.
fn compiler(before: &Program, after: &Program) -> Option<String> {
    let [before, after] = [before, after].map(|program| Cost::of(program).environment.compiler);
    (before > CompilerRank::None).then(|| after.component().to_owned())
}
