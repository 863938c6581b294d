//! Whether the numbers that a script compares by itself are as far apart. `allclose` says no more than
//! that they are not close. Numbers that rounding sets apart are no repro of numbers that are wrong.

use minrepro_reducers::analysis::{differing_numbers::differing, receiving::receiving};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
};
use crate::oracle::{Scale, Verdict};

pub(super) const KIND: Kind = Kind {
    id: "differing-numbers",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<DifferingNumbers>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose numbers are apart by less, by much more, or in less precision.
#[derive(Debug, Serialize, Deserialize)]
struct DifferingNumbers {
    scale: Scale,
    /// Whether all of them are in double precision.
    are_double: bool,
}

/// Applies if the script reports the bug by itself, a comparison before says by how much numbers are
/// apart, and no control shows when they are not.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, .. } = script;
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    if site.is_none() || so_far.has_full_control() || is_exact(so_far) {
        return Ok(None);
    }
    let calls = script.library_calls()?;
    let told = calls.iter().flat_map(|calls| &calls.told);
    // Each run must say it: one that does not compares something else.
    let found: Option<Vec<_>> = told.map(|told| differing(told)).collect();
    let found = found.filter(|found| !found.is_empty());
    Ok(found.and_then(|found| {
        let scale = Scale::of(found.iter().map(|apart| apart.message.as_str()))?;
        let are_double = found.iter().all(|apart| apart.are_double);
        Some(Box::new(DifferingNumbers { scale, are_double }) as Box<dyn Check>)
    }))
}

impl Observer for DifferingNumbers {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(receiving(candidate.program))
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        // Another comparison says by itself how far they are apart, or does not say it at all.
        let its = differing(observed.stderr)?;
        let is_coarse = self.are_double && !its.are_double;
        (is_coarse || self.scale.mismatch(&its.message).is_some()).then_some(Verdict::Vacuous)
    }
}

impl Check for DifferingNumbers {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    /// Whoever writes a program by hand knows how far numbers must be apart.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("the numbers that it compares are as far apart".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
