//! Whether an iterator that gives nothing any more still gave something before: one that never had
//! anything is empty as well, in the same words.

use minrepro_reducers::analysis::receiving::{finds_used_up, receiving};
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
    id: "used-up",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<UsedUp>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates in which no iterator is used up.
#[derive(Debug, Serialize, Deserialize)]
struct UsedUp;

/// Applies if the script finds one in each run that is observed, and no control shows when it is
/// right.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    if so_far.has_full_control() || is_exact(so_far) {
        return Ok(None);
    }
    let calls = script.library_calls()?;
    // What one run alone shows may be chance.
    let finds = calls.is_some_and(|calls| {
        let mut told = calls.told.iter();
        told.all(|told| finds_used_up(told))
    });
    Ok(finds.then(|| Box::new(UsedUp) as Box<dyn Check>))
}

impl Observer for UsedUp {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(receiving(candidate.program))
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        (!finds_used_up(observed.stderr)).then_some(Verdict::Vacuous)
    }
}

impl Check for UsedUp {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        Some("an iterator is used up".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
