//! Whether what a module of Python's own fails on is still made by that module. A script whose
//! `pickle.loads` fails on what `pickle.dumps` made shows that the two do not agree on an object. On
//! bytes that are written out, `pickle.loads` fails in the same words, whatever wrote them.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::{
        dependence_check::{are_read, round_trips},
        observation::Observation,
    },
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::Measure,
        objection::Shown,
        observer::{Observed, Observer, Wish},
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
struct RoundTrips {
    made_by: BTreeSet<String>,
    /// Whether a traced run of the script shows the bug.
    can_trace: bool,
}

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
    let evidence = script.evidence()?;
    let found = RoundTrips {
        made_by: round_trips(program, &frames, evidence),
        can_trace: evidence.is_some(),
    };
    Ok((!found.made_by.is_empty()).then(|| Box::new(found) as Box<dyn Check>))
}

impl RoundTrips {
    fn are_in(&self, shown: &Shown<'_>, evidence: Option<&Evidence>) -> bool {
        let found = round_trips(shown.program, &shown.failed_at, evidence);
        are_read(&self.made_by, &found)
    }
}

impl Observer for RoundTrips {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        // The text refuses most.
        if self.are_in(candidate, None) {
            Wish::Run(Observation::default())
        } else {
            Wish::Nothing(Some(Verdict::Vacuous))
        }
    }

    fn traces(&self) -> bool {
        self.can_trace
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let are_in = |evidence| self.are_in(candidate, Some(evidence));
        (!observed.evidence.is_none_or(are_in)).then_some(Verdict::Vacuous)
    }
}

impl Check for RoundTrips {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    /// Whoever writes a program by hand may write down what was made.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self
            .made_by
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        Some(format!("it fails on what {} made", names.join(" and ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
