//! The checks, a file each, and the one list of them.

use std::{collections::BTreeMap, time::Instant};

use serde_json::Value;

use super::{
    check::{Checks, Kind, Script},
    error::BaselineFailure,
};
use crate::runner::RunError;

/// Declares the files and their list, so that a new check is one file and one line.
macro_rules! checks {
    ($($name:ident,)*) => {
        $(mod $name;)*
        const KINDS: &[Kind] = &[$($name::KIND,)*];
    };
}

// In the order in which they are established and made: controls from outside the script first, then checks that
// depend on PyTorch, then checks for any script.
checks! {
    given_control,
    automatic_control,
    numeric_divergence,
    dependence,
    operands,
    printed,
    endless,
    comparison,
    caught,
    callbacks,
    failing_call,
    failing_package,
    protocols,
    sources,
    round_trips,
    near_keys,
    used_up,
    waits,
    both_outcomes,
    differing_numbers,
    received,
    library_paths,
    rejected_argument,
    producers,
    preserved,
    checked_tensors,
    side_effects,
    needed_parts,
    repeated_calls,
    said_anyway,
    steadiness,
}

/// Finds out which checks apply to a script.
pub(super) fn establish(script: &Script<'_>) -> Result<Checks, BaselineFailure> {
    let mut checks = Checks::default();
    for kind in KINDS {
        // For a long script, checks without a run take time as well.
        let deadline = script.probe.runner.deadline();
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(RunError::Deadline.into());
        }
        if let Some(check) = (kind.establish)(script, &checks)? {
            checks.push(kind.id, check);
        }
    }
    Ok(checks)
}

/// Whether they know the loop in which a script hangs. Where in it a run is ended is chance.
pub(super) fn know_loop(checks: &Checks) -> bool {
    checks.has(endless::ID)
}

/// The checks that an earlier session established; none if one of them is not known any more.
pub(super) fn recall(findings: &BTreeMap<String, Value>) -> Option<Checks> {
    let mut checks = Checks::default();
    for kind in KINDS {
        if let Some(found) = findings.get(kind.id) {
            checks.push(kind.id, (kind.recall)(found)?);
        }
    }
    findings.keys().all(|id| checks.has(id)).then_some(checks)
}
