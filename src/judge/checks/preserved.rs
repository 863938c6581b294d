//! What of the script no candidate may change, as far as the text tells: settings of calls that name
//! an implementation or a tolerance, that no random numbers are drawn, that no tensor is without
//! elements, that attributes have the annotated types. With others a program fails, or prints, the
//! same for reasons of its own. Takes no run.

use minrepro_reducers::{
    analysis::annotated::contradicts_annotations,
    syntax::Program,
    torch::{
        emptiness::makes_empty_tensors, seeds::draws_random_numbers, settings::CallSettings,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::check::{Applied, Check, Checks, Kind, Script, Shown};
use crate::oracle::Verdict;

pub(super) const KIND: Kind = Kind {
    id: "preserved",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Preserved>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that change any of this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Preserved {
    settings: CallSettings,
    /// Whether the script draws no random numbers and shows the bug each time, so that a candidate
    /// that draws some would show it by chance.
    is_fixed: bool,
    /// Whether all tensors that it makes have elements.
    has_elements: bool,
    /// Whether no attribute is assigned a constant of another type than the annotated one.
    has_types: bool,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let program = script.program;
    let check = Preserved {
        settings: CallSettings::of(program),
        is_fixed: !script.is_flaky && !draws_random_numbers(program),
        has_elements: !makes_empty_tensors(program),
        has_types: !contradicts_annotations(program),
    };
    Ok(Some(Box::new(check)))
}

impl Check for Preserved {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.is_fixed && draws_random_numbers(program)
            || self.has_elements && makes_empty_tensors(program)
            || self.has_types && contradicts_annotations(program)
            || !self.settings.are_kept_by(&CallSettings::of(program))
    }

    fn claim(&self) -> Option<String> {
        // No result was accepted without it, and no run can change what a text is.
        None
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
