//! Whether a missing value is still one that a library should have provided. A script that looks up
//! a key in data that `csv` read shows the behaviour of `csv`. Without `csv`, any dictionary lacks
//! any key, in the same words.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::dependence_check::packages;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script, Shown},
    measure::Measure,
};
use crate::{
    oracle::{Verdict, claim, is_in_library, own_lines},
    runner::Exception,
};

pub(super) const KIND: Kind = Kind {
    id: "sources",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Sources>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose failing statement depends on none of these packages.
#[derive(Debug, Serialize, Deserialize)]
struct Sources(BTreeSet<String>);

/// Applies if a line of the script does not find something, and depends on values from packages.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    if script.is_flaky || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref())
        .filter(|_| probe.measure.has_mechanism())
        .filter(|raised| !is_in_library(raised) && claim(raised).is_none())
        .filter(|raised| reports_absence(raised));
    let Some(exception) = exception else {
        return Ok(None);
    };
    let frames = own_lines(exception);
    // The text costs nothing, but only a trace shows which of it was executed.
    let mut found = packages(program, &frames, None);
    if !found.is_empty()
        && let Some(evidence) = probe.traced(script.bytes)?
    {
        found = packages(program, &frames, Some(&evidence));
    }
    let check = Sources(found);
    Ok((!check.0.is_empty()).then(|| Box::new(check) as Box<dyn Check>))
}

/// Whether an exception says that something is not there.
pub(super) fn reports_absence(exception: &Exception) -> bool {
    let message = &exception.message;
    match exception.short_class() {
        "AttributeError" | "IndexError" | "KeyError" | "StopAsyncIteration" | "StopIteration" => {
            true
        }
        "TypeError" => {
            message.contains("required positional argument")
                || message.contains("'NoneType'")
                || message.contains("non-iterable NoneType")
        }
        "ValueError" => message.contains("values to unpack"),
        _ => false,
    }
}

impl Check for Sources {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let found = packages(shown.program, &shown.failed_at, None);
        self.0.is_disjoint(&found).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        Some(format!("it fails on what {} gave", names.join(" or ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
