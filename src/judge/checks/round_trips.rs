//! Whether what a module of Python's own fails on is still made by that module. A script whose
//! `pickle.loads` fails on what `pickle.dumps` made shows that the two do not agree on an object. On
//! bytes that are written out, `pickle.loads` fails in the same words, whatever wrote them.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::dependence_check::{are_read, round_trips};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::Measure,
        objection::Shown,
    },
    automatic_control::is_exact,
};
use crate::oracle::{Verdict, claim, own_lines};

pub(super) const KIND: Kind = Kind {
    id: "round-trips",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<RoundTrips>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that give a module something else than what these functions of it made.
#[derive(Debug, Serialize, Deserialize)]
struct RoundTrips(BTreeSet<String>);

/// Applies if a call fails on what functions of the same module made, and no control shows when it
/// is right.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_told_apart = so_far.has_full_control() || is_exact(so_far);
    if script.is_flaky || is_told_apart || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref())
        .filter(|raised| probe.measure.has_mechanism() && claim(raised).is_none());
    let frames = exception.map(own_lines).unwrap_or_default();
    // The text costs nothing, but only a trace shows which of it was executed.
    if round_trips(program, &frames, None).is_empty() {
        return Ok(None);
    }
    let found = RoundTrips(round_trips(program, &frames, script.evidence()?));
    Ok((!found.0.is_empty()).then(|| Box::new(found) as Box<dyn Check>))
}

impl Check for RoundTrips {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let found = round_trips(shown.program, &shown.failed_at, None);
        (!are_read(&self.0, &found)).then_some(Verdict::Vacuous)
    }

    /// Whoever writes a program by hand may write down what was made.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        Some(format!("it fails on what {} made", names.join(" and ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
