//! Whether the failing statement still calls the same functions as the script's. If native code
//! raises an exception, no frame says which of its functions did, and many use the same words.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::calls::called_on;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::{Measure, failed_at},
        objection::Shown,
    },
    sources::reports_absence,
};
use crate::oracle::{Verdict, is_in_library};

pub(super) const KIND: Kind = Kind {
    id: "failing-call",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<FailingCall>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose failing statement calls none of these.
#[derive(Debug, Serialize, Deserialize)]
struct FailingCall(BTreeSet<String>);

/// Applies if the innermost frame is the script's own, the statement does not itself raise, the
/// failure is not a failed lookup, and no control is known.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_test = matches!(probe.measure, Measure::Test(_));
    // A control says more about the failure than the names on a line.
    let showing = script.showing.filter(|_| !is_test && !so_far.has_control());
    let Some(showing) = showing else {
        return Ok(None);
    };
    let exception = showing.exception.as_ref();
    // A lookup may stand beside calls that did not fail. Another check judges its container.
    let is_native = exception
        .is_some_and(|raised| !is_in_library(raised) && !reports_absence(raised))
        && probe.measure.report_site(showing).is_none();
    let line = failed_at(showing).pop().filter(|_| is_native);
    let called = line
        .map(|line| called_on(program, line))
        .unwrap_or_default();
    Ok((!called.is_empty()).then(|| Box::new(FailingCall(called)) as Box<dyn Check>))
}

impl Check for FailingCall {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        // Any of several calls on the line may be the one that failed.
        let line = shown.failed_at.last()?;
        let called = called_on(shown.program, *line);
        self.0.is_disjoint(&called).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        Some(format!("it fails in a call of {}", names.join(" or ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
