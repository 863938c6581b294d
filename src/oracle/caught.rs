//! The exceptions that a script catches before it reports a failure itself, compared by their
//! mechanism. Pure. Called by the judge.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{exceptions::headline, fingerprint::Fingerprint};
use crate::runner::{Exception, Outcome};

/// The mechanisms of the exceptions that the script catches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caught {
    kinds: Vec<Fingerprint>,
    /// The first of them.
    first: Exception,
}

impl Caught {
    /// The exceptions that some runs of the script caught, each in the order of catching. None if
    /// they caught nothing, or not the same exceptions.
    pub fn common(runs: &[(Outcome, Vec<Exception>)]) -> Option<Self> {
        let (_, caught) = runs.first()?;
        if runs.iter().any(|(_, others)| others.len() != caught.len()) {
            return None;
        }
        let kinds = (0..caught.len()).map(|at| {
            let of_runs = runs.iter();
            let outcomes = of_runs.map(|(outcome, caught)| ended_by(outcome, &caught[at]));
            let outcomes: Vec<Outcome> = outcomes.collect();
            Fingerprint::common(&outcomes.iter().collect::<Vec<_>>(), true)
        });
        Some(Self {
            kinds: kinds.collect::<Option<Vec<_>>>()?,
            first: caught.first()?.clone(),
        })
    }

    /// Takes the script's own names and texts out of the words.
    pub fn forget(&mut self, names: &BTreeSet<String>, texts: &[&str]) {
        for kind in &mut self.kinds {
            kind.forget(names, texts);
        }
    }

    /// Whether a run caught one of them.
    pub fn is_among(&self, outcome: &Outcome, caught: &[Exception]) -> bool {
        caught.iter().any(|exception| {
            let outcome = ended_by(outcome, exception);
            let mut kinds = self.kinds.iter();
            kinds.any(|kind| kind.mismatch(&outcome).is_none())
        })
    }

    /// The first of them.
    pub fn first(&self) -> &Exception {
        &self.first
    }

    /// The class of the first and the first line of its message, for people.
    pub fn headline(&self) -> String {
        let headline = headline(&self.first);
        headline.lines().next().unwrap_or_default().to_owned()
    }
}

/// The run as if this exception, which it caught, had ended it.
fn ended_by(outcome: &Outcome, exception: &Exception) -> Outcome {
    Outcome {
        exception: Some(exception.clone()),
        ..outcome.clone()
    }
}
