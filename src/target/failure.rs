//! How a test failed, and whether a script fails in the same way. Pure; called by the targets that
//! are tests.

use serde::Deserialize;

use crate::{
    oracle::{Baseline, Spec, summary},
    runner::Outcome,
};

/// How a test fails.
#[derive(Debug, Deserialize)]
pub(super) struct TestFailure {
    /// The part of the test that fails.
    #[serde(default)]
    pub(super) phase: String,
    class: String,
    message: String,
    /// Whether the framework may have written the message.
    #[serde(default)]
    rewritten: bool,
    /// The innermost statement of the project.
    code: String,
}

impl TestFailure {
    /// In one line.
    pub(super) fn shown(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        if first.is_empty() {
            self.class.clone()
        } else {
            format!("{}: {first}", self.class)
        }
    }
}

/// The outcome of a run, if it is not the failure that was seen and that the user means.
pub(super) fn differs(
    failure: Option<&TestFailure>,
    specs: &[Spec],
    outcome: &Outcome,
) -> Option<String> {
    let seen = Some(summary(outcome));
    if !specs.is_empty() && Baseline::new(specs, vec![outcome.clone()]).is_err() {
        return seen;
    }
    let Some(exception) = &outcome.exception else {
        return seen;
    };
    // A file that cannot be imported: pytest does not say why.
    let failure = failure?;
    let line = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
    let is_same = exception.short_class() == failure.class
        && if failure.rewritten {
            // pytest writes the compared values of an assertion; only the statement stays the same.
            let last = exception.frames.last();
            last.is_some_and(|frame| !frame.code.is_empty() && failure.code.contains(&frame.code))
        } else {
            line(&exception.message) == line(&failure.message)
        };
    if is_same { None } else { seen }
}

/// The closest of the tests that there are, as a hint.
pub(super) fn likely(name: &str, known: &[String], otherwise: &str) -> String {
    let distance = |other: &&String| strsim::osa_distance(other, name);
    match known.iter().min_by_key(distance) {
        Some(known) => format!("the file has `{known}`"),
        None => otherwise.to_owned(),
    }
}
