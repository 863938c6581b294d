//! The baseline: several runs of the script as given, whether they show the bug, in how many runs,
//! and by which signature. Pure.

use std::{collections::BTreeMap, time::Duration};

use super::{
    derive::{NotDerivable, derive},
    signals,
    signature::Signature,
    spec::Spec,
};
use crate::{
    runner::{End, Outcome, Resource},
    text::first_line,
};

/// The runs of the original script, and their outcomes.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The signature of the bug.
    pub signature: Signature,
    /// How many runs showed it.
    pub same: usize,
    /// The slowest run.
    pub wall: Duration,
    /// All runs.
    pub outcomes: Vec<Outcome>,
}

/// Why the runs are no base for a reduction.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BaselineError {
    /// No run shows the bug.
    #[error("the script does not show the bug")]
    NotReproduced {
        /// The expected failure.
        expected: String,
        /// The outcomes, each with the number of runs that showed it.
        seen: Vec<(String, usize)>,
    },
    /// Some runs show the bug.
    #[error("the bug shows in {same} of {of} runs")]
    Unstable {
        /// The sign of the bug.
        expected: String,
        /// How many runs showed it.
        same: usize,
        /// How many runs there were.
        of: usize,
        /// The outcomes, each with the number of runs that showed it.
        seen: Vec<(String, usize)>,
    },
    /// No signature was given and none can be derived.
    #[error("no signature was given, and none can be derived: {reason}")]
    NotDerivable {
        /// Why.
        reason: NotDerivable,
        /// The outcomes, each with the number of runs that showed it.
        seen: Vec<(String, usize)>,
    },
}

impl Baseline {
    /// Judges runs of the script by the user's signature, or by one derived from them.
    pub fn new(specs: &[Spec], outcomes: Vec<Outcome>) -> Result<Self, BaselineError> {
        let of = outcomes.len();
        let signature = if specs.is_empty() {
            match derive(&outcomes) {
                Ok(signature) => signature,
                Err(NotDerivable::Varies) => return Err(unsteady(&outcomes)),
                Err(reason) => {
                    return Err(BaselineError::NotDerivable {
                        reason,
                        seen: seen(&outcomes),
                    });
                }
            }
        } else {
            let parts = specs
                .iter()
                .flat_map(|spec| spec.resolve(&outcomes).0)
                .collect();
            Signature::seen_in(parts, &outcomes)
        };
        let same = outcomes
            .iter()
            .filter(|outcome| signature.matches(outcome))
            .count();
        let typed = || {
            specs
                .iter()
                .map(|spec| spec.text.as_str())
                .collect::<Vec<_>>()
                .join(" and ")
        };
        if same == 0 {
            return Err(BaselineError::NotReproduced {
                expected: typed(),
                seen: seen(&outcomes),
            });
        }
        if same < of {
            return Err(BaselineError::Unstable {
                expected: typed(),
                same,
                of,
                seen: seen(&outcomes),
            });
        }
        let wall = outcomes
            .iter()
            .map(|outcome| outcome.timing.alone())
            .max()
            .unwrap_or_default();
        Ok(Self {
            signature,
            same,
            wall,
            outcomes,
        })
    }
}

impl BaselineError {
    /// Whether the runs differ.
    pub fn is_unstable(&self) -> bool {
        matches!(self, Self::Unstable { .. })
    }
}

impl Baseline {
    /// The error that the bug shows too rarely.
    pub fn too_rare(&self, specs: &[Spec]) -> BaselineError {
        BaselineError::Unstable {
            expected: specs
                .iter()
                .map(|spec| spec.text.as_str())
                .collect::<Vec<_>>()
                .join(" and "),
            same: self.same,
            of: self.outcomes.len(),
            seen: seen(&self.outcomes),
        }
    }

    /// The same for a flaky bug, judged by the runs that show it.
    pub fn of_some(specs: &[Spec], outcomes: Vec<Outcome>) -> Result<Self, BaselineError> {
        let showing: Vec<Outcome> = if specs.is_empty() {
            let is_failing =
                |outcome: &&Outcome| outcome.exception.is_some() || outcome.end != End::Exit(0);
            let failing: Vec<Outcome> = outcomes.iter().filter(is_failing).cloned().collect();
            let most = seen(&failing).into_iter().next().map(|(most, _)| most);
            failing
                .into_iter()
                .filter(|outcome| Some(summary(outcome)) == most)
                .collect()
        } else {
            let parts = specs
                .iter()
                .flat_map(|spec| spec.resolve(&outcomes).0)
                .collect();
            let signature = Signature::seen_in(parts, &outcomes);
            outcomes
                .iter()
                .filter(|outcome| signature.matches(outcome))
                .cloned()
                .collect()
        };
        let found = Self::new(
            specs,
            if showing.is_empty() {
                outcomes.clone()
            } else {
                showing
            },
        )?;
        let same = outcomes
            .iter()
            .filter(|outcome| found.signature.matches(outcome))
            .count();
        Ok(Self {
            same,
            outcomes,
            ..found
        })
    }
}

/// The error that runs differ, with the most frequent end as the expected one.
fn unsteady(outcomes: &[Outcome]) -> BaselineError {
    let seen = seen(outcomes);
    let (expected, same) = seen.first().cloned().unwrap_or_default();
    BaselineError::Unstable {
        expected,
        same,
        of: outcomes.len(),
        seen,
    }
}

/// The distinct ends, most frequent first.
fn seen(outcomes: &[Outcome]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for outcome in outcomes {
        *counts.entry(summary(outcome)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// An outcome in one line for people.
pub fn summary(outcome: &Outcome) -> String {
    let end = match outcome.end {
        End::Exit(status) => format!("exit {status}"),
        End::Signal(signal) => format!("killed by {}", signals::name(signal)),
        End::Timeout => format!("timed out after {:.1} s", outcome.timing.wall.as_secs_f64()),
        End::Limit(Resource::Memory) => "stopped: too much memory".to_owned(),
        End::Limit(Resource::Processes) => "stopped: too many processes".to_owned(),
        End::Limit(Resource::Scratch) => "stopped: too much data written".to_owned(),
    };
    let Some(exception) = &outcome.exception else {
        return end;
    };
    let line = match first_line(&exception.message) {
        "" => exception.class.clone(),
        said => format!("{}: {said}", exception.class),
    };
    let line: String = line.chars().take(160).collect();
    format!("{end}, {line}")
}
