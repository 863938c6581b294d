//! Whether a value that a package rejects is still one that the package computed. A script whose
//! `distribution.log_prob(distribution.mode)` is refused shows a wrong mode. Without the attribute,
//! any wrong value is refused, in the same words.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::dependence_check::read_for_arguments;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    measure::Measure,
    objection::Shown,
};
use crate::{
    oracle::{Verdict, is_in_library, own_lines},
    runner::Exception,
};

pub(super) const KIND: Kind = Kind {
    id: "rejected-argument",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<RejectedArgument>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose failing call gets nothing that is read off an object by one of these
/// attributes and methods.
#[derive(Debug, Serialize, Deserialize)]
struct RejectedArgument(BTreeSet<String>);

/// Applies if code of a library raises a `ValueError` about what comes from the same package, and no
/// control is known.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_test = matches!(probe.measure, Measure::Test(_));
    if script.is_flaky || is_test || so_far.has_control() {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref())
        .filter(|raised| rejects(raised));
    let Some(exception) = exception else {
        return Ok(None);
    };
    let frames = own_lines(exception);
    let mut found = read_for_arguments(program, &frames, None);
    // The text costs nothing, but only a trace shows which of it was executed.
    if !found.is_empty()
        && let Some(evidence) = script.evidence()?
    {
        found = read_for_arguments(program, &frames, Some(evidence));
    }
    let check = RejectedArgument(found);
    Ok((!check.0.is_empty()).then(|| Box::new(check) as Box<dyn Check>))
}

fn rejects(exception: &Exception) -> bool {
    exception.short_class() == "ValueError" && is_in_library(exception)
}

impl Check for RejectedArgument {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let found = read_for_arguments(shown.program, &shown.failed_at, None);
        self.0.is_disjoint(&found).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        Some(format!(
            "what is rejected comes from {}",
            names.join(" or ")
        ))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
