//! Judges a program that somebody wrote by hand, as the reducer judges a candidate and then a
//! result. Called by `check` and `bench`; writes nothing.

use std::sync::Arc;

use minrepro_reducers::{rewrite::edit::EditSet, syntax::Program};

use super::{
    baseline::Established,
    confirmation::CONFIRMING_RUNS,
    contract::{Candidate, Halt, Judge},
    runner_judge::RunnerJudge,
    subject::Subject,
    truth::{CheckFinding, MECHANISM, Truth},
};
use crate::{
    journal::Key,
    oracle::{Verdict, summary},
};

/// Whether a program shows the bug of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspection {
    /// It does not; it shows this instead.
    NotShown(String),
    /// It shows the same words.
    Shown {
        /// The findings of the checks.
        truth: Truth,
        /// How the mechanism of its failure differs, if it does.
        mismatch: Option<String>,
    },
}

impl Inspection {
    /// Whether it shows the bug and passes all checks.
    pub fn is_verified(&self) -> bool {
        matches!(self, Self::Shown { truth, .. } if truth.is_verified())
    }
}

/// Judges a program by the baseline of a script. If it seems to show the bug, fresh runs confirm it,
/// as many as those of a result.
///
/// # Errors
///
/// The reason that stops the session: a run could not be made, or somebody interrupted it.
pub fn inspect(
    subject: &Subject,
    established: &Established,
    program: Arc<Program>,
) -> Result<Inspection, Halt> {
    let spared = CONFIRMING_RUNS - subject.confirming_runs();
    let bytes: Arc<[u8]> = program.encode().unwrap_or_default().into();
    let candidate = Candidate {
        key: Key::of(&bytes),
        bytes,
        program,
        edits: EditSet::default(),
        variables: Arc::default(),
    };
    let mut judge = RunnerJudge::new(subject, established, None, subject.runner.deadline());
    let mut verdict = Verdict::Passed;
    judge.judge(std::slice::from_ref(&candidate), &mut |_, judged| {
        verdict = judged.verdict;
    })?;
    if !verdict.is_same() {
        return refused(&judge, subject, established, &candidate);
    }
    let (confirmed, mismatch) = judge.confirm_result(&candidate.program, None, spared)?;
    if !confirmed.is_certain() && mismatch.is_none() {
        let (same, of) = (confirmed.same, confirmed.of);
        let shown = format!("the bug in only {same} of {of} fresh runs");
        return Ok(Inspection::NotShown(shown));
    }
    let mut truth = judge.verify(&candidate.program, mismatch.as_deref())?;
    if judge.is_hopeless(&candidate) && truth.is_verified() {
        truth
            .findings
            .push(lacking("it keeps everything that must stay"));
    }
    Ok(Inspection::Shown { truth, mismatch })
}

/// Why a program is not accepted as a candidate.
fn refused(
    judge: &RunnerJudge<'_>,
    subject: &Subject,
    established: &Established,
    candidate: &Candidate,
) -> Result<Inspection, Halt> {
    if established.record.flaky.is_some() {
        let shown = "the bug too rarely, or with something that speaks against it";
        return Ok(Inspection::NotShown(shown.to_owned()));
    }
    let probe = established.probe(subject);
    let job = probe.candidate_job(&candidate.bytes, Arc::default());
    let Some(outcome) = probe.run(&[job])?.pop() else {
        return Ok(Inspection::NotShown("nothing".to_owned()));
    };
    let mut mismatch = probe
        .measure
        .mismatch(&outcome)
        .filter(|_| !probe.shows(&outcome));
    if !probe.shows_words(&outcome) {
        let words = probe.measure.by_class_and_message();
        if !words.judge(&outcome, probe.timeout).is_same() {
            return Ok(Inspection::NotShown(summary(&outcome)));
        }
        mismatch = mismatch.or(Some("raised in another place".to_owned()));
    }
    if mismatch.is_some() {
        let truth = Truth {
            findings: vec![lacking(MECHANISM)],
            ..Truth::default()
        };
        return Ok(Inspection::Shown { truth, mismatch });
    }
    let mut truth = judge.verify(&candidate.program, None)?;
    if truth.is_verified() {
        // Still refused as a candidate: by its text, or because an outcome of chance proves
        // nothing.
        truth
            .findings
            .push(lacking(if judge.is_hopeless(candidate) {
                "its settings, sizes and types are those of the script"
            } else {
                "each look at it finds the same"
            }));
    }
    Ok(Inspection::Shown {
        truth,
        mismatch: None,
    })
}

fn lacking(claim: &str) -> CheckFinding {
    CheckFinding {
        claim: claim.to_owned(),
        holds: false,
    }
}
