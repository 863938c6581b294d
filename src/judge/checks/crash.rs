//! Whether the statement at which a process dies still depends on the same operations. A death by a
//! signal leaves neither words nor, as a rule, the way to it; and many misuses end in the same
//! signal.

use minrepro_reducers::analysis::dependence_check::{Operations, ReportSite, operations};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::check::{Applied, Check, Checks, Kind, Script, Shown};
use crate::oracle::Verdict;

pub(super) const KIND: Kind = Kind {
    id: "crash",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Crash>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates in which what dies does not depend on all of these operations.
#[derive(Debug, Serialize, Deserialize)]
struct Crash(Operations);

/// Applies where the script dies of a signal and no control is known.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let showing = script.showing.filter(|_| probe.measure.is_death());
    let Some(showing) = showing.filter(|_| !so_far.has_control() && !script.is_flaky) else {
        return Ok(None);
    };
    let site = ReportSite::Raised(showing.own_stack_lines());
    // The trace says which statements ran: only on those can it depend.
    let evidence = probe.traced(script.bytes)?;
    let mut found = operations(program, &site, evidence.as_ref());
    let found = found.pop().filter(|operations| !operations.is_empty());
    Ok(found.map(|operations| Box::new(Crash(operations)) as Box<dyn Check>))
}

impl Check for Crash {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let site = ReportSite::Raised(shown.stopped_at.clone());
        let found = operations(shown.program, &site, None);
        let mut found = found.iter();
        let is_same = found.any(|operations| self.0.is_subset(operations));
        (!is_same).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        Some("what it dies of depends on the same operations".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
