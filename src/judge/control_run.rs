//! The outcome of a script under a control, and whether a candidate does as well there: it
//! succeeds, or fails in the same way if the script fails in another way than by the bug, and
//! reports no more of the bug. Called by the checks that are controls.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use crate::{
    oracle::{Likeness, Verdict},
    runner::{End, Job, Outcome, RunError},
};

/// A run of the script under a control, where it does not show the bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ControlRun {
    /// Whether it succeeds.
    pub(super) succeeds: bool,
    /// How it fails, if it ends with an exception.
    failure: Option<Likeness>,
    /// The signal that it dies of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// The words of the bug that it prints all the same.
    words: BTreeSet<String>,
}

impl ControlRun {
    /// The run; none if it shows the bug.
    pub(super) fn of(probe: &Probe<'_>, outcome: &Outcome) -> Option<Self> {
        if probe.shows_words(outcome) {
            return None;
        }
        let succeeds = succeeds(outcome);
        let exception = outcome.exception.as_ref().filter(|_| !succeeds);
        Some(Self {
            succeeds,
            failure: exception.map(Likeness::of),
            signal: signal(outcome),
            words: probe.measure.words_printed_by(outcome),
        })
    }

    /// The run of a program under a control; none if the program does not succeed there, or still
    /// prints words of the bug.
    ///
    /// # Errors
    ///
    /// The run could not be made.
    pub(super) fn of_success(probe: &Probe<'_>, job: Job) -> Result<Option<Self>, RunError> {
        let outcomes = probe.run(&[job])?;
        let run = outcomes
            .first()
            .and_then(|outcome| Self::of(probe, outcome));
        Ok(run.filter(|run| run.succeeds && !run.prints_words()))
    }

    /// Whether it fails by an exception.
    pub(super) fn fails(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether it fails only because something that the program asks for is missing, as may happen
    /// in a replacement for a part of a library.
    pub(super) fn fails_by_replacement(&self) -> bool {
        let class = self.failure.as_ref().map(Likeness::class);
        matches!(class, Some("AttributeError" | "TypeError"))
    }

    /// Whether it prints words of the bug.
    pub(super) fn prints_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// The verdict on a candidate by its own run under the control, if that is an objection.
    pub(super) fn verdict(&self, probe: &Probe<'_>, outcome: &Outcome) -> Option<Verdict> {
        if probe.shows_words(outcome) {
            return Some(Verdict::Passed);
        }
        let fails_alike = |kind: &Likeness| {
            let exception = outcome.exception.as_ref();
            exception.is_some_and(|exception| kind.is_of(exception))
        };
        // One that succeeds is valid code, and shows nothing where the bug is not.
        let is_worse = |kind: &Likeness| !succeeds(outcome) && !fails_alike(kind);
        let is_invalid = self.succeeds && !succeeds(outcome)
            || self.failure.as_ref().is_some_and(is_worse)
            || self.signal.is_some() && self.signal != signal(outcome);
        if is_invalid {
            return Some(Verdict::Invalid);
        }
        // A report that the script does not make there is one that the candidate makes of nothing.
        let words = probe.measure.words_printed_by(outcome);
        (!words.is_subset(&self.words)).then_some(Verdict::Vacuous)
    }

    /// The demand on every candidate, as a sentence that follows the behaviour of the script.
    pub(super) fn demand(&self) -> &'static str {
        if self.failure.is_some() {
            "so must every candidate, or succeed"
        } else {
            "so must every candidate"
        }
    }

    /// The statement about a candidate, as a sentence without its subject.
    pub(super) fn claim(&self) -> &'static str {
        if self.succeeds {
            "succeeds"
        } else {
            "does not show the bug"
        }
    }

    /// The behaviour of the script, as a sentence without its subject.
    pub(super) fn description(&self) -> &'static str {
        if self.succeeds {
            "succeeds"
        } else if self.failure.is_some() {
            "fails in another way"
        } else {
            "does not show the bug"
        }
    }
}

/// The signal that a run died of.
fn signal(outcome: &Outcome) -> Option<i32> {
    match outcome.end {
        End::Signal(signal) => Some(signal),
        _ => None,
    }
}

/// Whether a run ended without a failure.
fn succeeds(outcome: &Outcome) -> bool {
    outcome.end == End::Exit(0)
}
