//! What a run must show to count as the reported bug, and the runs of a script judged by it. Called
//! by the steps that run scripts.

use super::ScrubContext;
use crate::{
    cli::{Exit, Failure},
    oracle::{Spec, derive},
    runner::{End as RunEnd, Outcome},
    scrub::{issue::failure::ReportedFailure, script_runner::Trial},
};

/// The failure that a run must show.
pub(super) struct ExpectedBug {
    pub(super) what: Option<ReportedFailure>,
    pub(super) specs: Vec<Spec>,
    pub(super) typed: Vec<String>,
}

impl ExpectedBug {
    /// Whether a run shows it. A wrong result without a signature shows as a failed assertion.
    pub(super) fn is_shown_by(&self, outcome: &Outcome) -> bool {
        if self.specs.is_empty() {
            return self.is_wrong_result() && is_assertion(outcome);
        }
        shows(self, outcome)
    }

    /// Whether it is a wrong result.
    pub(super) fn is_wrong_result(&self) -> bool {
        matches!(self.what, Some(ReportedFailure::WrongResult))
    }

    /// Whether it is a crash.
    pub(super) fn is_crash(&self) -> bool {
        matches!(self.what, Some(ReportedFailure::Crash(_)))
    }
}

/// Runs a script in the first round.
pub(super) fn run(
    cx: &mut ScrubContext<'_>,
    code: &str,
    env: &[(String, String)],
    times: usize,
) -> Result<Vec<Outcome>, Failure> {
    run_again(cx, code, env, times, 0)
}

/// Runs a script anew in each round. Within a round, equal runs are made once.
pub(super) fn run_again(
    cx: &mut ScrubContext<'_>,
    code: &str,
    env: &[(String, String)],
    times: usize,
    round: usize,
) -> Result<Vec<Outcome>, Failure> {
    let timeout = cx.settings.timeout;
    let trial = Trial {
        python: None,
        code: code.to_owned(),
        env: env.to_vec(),
        times,
        timeout,
    };
    cx.run(trial, round)
}

/// Runs a script once.
pub(super) fn once(
    cx: &mut ScrubContext<'_>,
    code: &str,
    env: &[(String, String)],
) -> Result<Outcome, Failure> {
    run(cx, code, env, 1)?
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new(Exit::Bug, anyhow::anyhow!("a run has no outcome")))
}

/// The signature of the user, or else the reported failure.
pub(super) fn expected(cx: &ScrubContext<'_>) -> Result<ExpectedBug, Failure> {
    let what = cx
        .found
        .reported
        .as_ref()
        .map(|reported| reported.what.clone());
    let mut typed = cx.settings.signature.clone();
    if typed.is_empty() {
        typed.extend(what.as_ref().and_then(ReportedFailure::signature));
    }
    let specs = typed
        .iter()
        .map(|text| Spec::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| {
            let hint = error.hint;
            Failure::new(Exit::Usage, error).hint(hint)
        })?;
    Ok(ExpectedBug { what, specs, typed })
}

/// Whether a run matches the expected signature.
pub(super) fn shows(expected: &ExpectedBug, outcome: &Outcome) -> bool {
    let outcomes = std::slice::from_ref(outcome);
    !expected.specs.is_empty()
        && expected
            .specs
            .iter()
            .all(|spec| spec.resolve(outcomes).1 == 1)
}

/// Whether a run passes.
pub(super) fn passes(outcome: &Outcome) -> bool {
    outcome.end == RunEnd::Exit(0) && outcome.exception.is_none()
}

/// Whether a run ends with a failed assertion.
pub(super) fn is_assertion(outcome: &Outcome) -> bool {
    outcome
        .exception
        .as_ref()
        .is_some_and(|exception| exception.short_class() == "AssertionError")
}

/// Derives the signature from a run.
pub(super) fn derive_signature(
    expected: &mut ExpectedBug,
    outcome: &Outcome,
) -> Result<(), Failure> {
    match derive(std::slice::from_ref(outcome)) {
        Ok(signature) => {
            expected.typed = signature.to_arguments();
            expected.specs = expected
                .typed
                .iter()
                .filter_map(|text| Spec::parse(text).ok())
                .collect();
            Ok(())
        }
        Err(error) => Err(Failure::new(
            Exit::NotReproduced,
            anyhow::anyhow!("could not derive a signature of the bug: {error}"),
        )
        .hint("name the signature: `--signature \"stdout:TEXT\"`")),
    }
}
