//! Whether what lacks a key still has another that is like it. A script that stores `'X-Token'` and
//! looks up `'x-token'` shows that the two do not meet. A dictionary that has nothing of the kind
//! lacks the key in the same words. So does one in which nobody stored the very key.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::{
    near_keys::{KEPT, near_keys},
    receiving::receiving,
};
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
use crate::oracle::Verdict;

pub(super) const KIND: Kind = Kind {
    id: "near-keys",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<NearKeys>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates without a key that is like the missing one in one of these ways, or that did
/// not store it.
#[derive(Debug, Serialize, Deserialize)]
struct NearKeys(BTreeSet<String>);

/// Applies if a key is missing in each run that is observed, where there is one like it.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref());
    let has_key = exception.is_some_and(|raised| raised.short_class() == "KeyError");
    if !has_key || so_far.has_full_control() || is_exact(so_far) {
        return Ok(None);
    }
    let calls = script.library_calls()?;
    let told = calls.iter().flat_map(|calls| &calls.told);
    // What one run alone shows may be chance.
    let found = told
        .map(|told| near_keys(told))
        .reduce(|one, other| &one & &other);
    let found = NearKeys(found.unwrap_or_default());
    Ok((!found.0.is_empty()).then(|| Box::new(found) as Box<dyn Check>))
}

impl Observer for NearKeys {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(receiving(candidate.program))
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let its = near_keys(observed.stderr);
        // That the very key was there says more than that others are like it.
        let is_kept = !self.0.contains(KEPT) || its.contains(KEPT);
        (self.0.is_disjoint(&its) || !is_kept).then_some(Verdict::Vacuous)
    }
}

impl Check for NearKeys {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    /// Whoever writes a program by hand may look for the key where it should be.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("there is a key like the one that it looks for".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
