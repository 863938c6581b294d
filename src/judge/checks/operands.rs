//! Whether an operation of the language still fails on what the same operations made. `rows[8]` fails
//! in any program in the same words, and the operation is right: what is wrong is how `rows` came to
//! be what it is. So the operations that made it must be there and run. Where an installed package
//! has a part in it, the package may be wrong, and what the script does before matters less.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::{
        aborted::aborted,
        cpython::missing_attribute,
        dependence_check::{EMPTY_PART, Operations, are_installed, include, making, packages},
        observation::Observation,
    },
    syntax::Program,
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        error::BaselineFailure,
        measure::Measure,
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
    sources::fails_on_nothing,
};
use crate::{
    oracle::{Verdict, claim, is_in_library, is_of_value, own_lines},
    runner::Exception,
};

pub(super) const KIND: Kind = Kind {
    id: "operands",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Operands>(found.clone()).ok()?,
        ))
    },
};

/// Exceptions by which the language ends iterators and tasks.
const ENDING: [&str; 4] = [
    "CancelledError",
    "GeneratorExit",
    "StopAsyncIteration",
    "StopIteration",
];

/// Refuses candidates that fail on what something else made.
#[derive(Debug, Serialize, Deserialize)]
struct Operands {
    /// The operations that made it.
    operations: Operations,
    /// The attribute that it lacks.
    lacks: Option<String>,
    /// The functions that others leave in the middle: what they would have made is missing.
    aborted: BTreeSet<String>,
    /// The classes of the exceptions that it raises or handles on the way.
    #[serde(default)]
    raised: BTreeSet<String>,
    /// Whether a traced run of the script shows the bug. Where none does, a traced run of a
    /// candidate says nothing.
    can_trace: bool,
}

/// Applies if an operation of the language fails in the script, no control shows when it is right,
/// and no installed package had a part in what it fails on: that may give anything.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_told_apart = so_far.has_full_control() || is_exact(so_far);
    if script.is_flaky || is_told_apart || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref())
        .filter(|_| probe.measure.has_mechanism());
    let Some(exception) = exception else {
        return Ok(None);
    };
    if !is_of_value(exception) && !is_of_nothing(script, exception)? {
        return Ok(None);
    }
    let frames = own_lines(exception);
    let lacks = missing_attribute(&exception.message);
    // The text costs nothing, but only a trace shows which of it was executed.
    if making(program, &frames, lacks, None).is_empty() {
        return Ok(None);
    }
    let evidence = script.evidence()?;
    let operations = making(program, &frames, lacks, evidence);
    let is_own = !are_installed(&packages(program, &frames, evidence));
    let check = Operands {
        operations,
        lacks: lacks.map(str::to_owned),
        aborted: evidence.map_or_else(BTreeSet::new, |ran| aborted(program, ran)),
        raised: evidence.map_or_else(BTreeSet::new, |ran| ran.raised.clone()),
        can_trace: evidence.is_some(),
    };
    let applies = is_own && (!check.operations.is_empty() || !check.aborted.is_empty());
    Ok(applies.then(|| Box::new(check) as Box<dyn Check>))
}

/// Whether a package fails because the script gives it nothing.
fn is_of_nothing(script: &Script<'_>, exception: &Exception) -> Result<bool, BaselineFailure> {
    Ok(is_in_library(exception) && claim(exception).is_none() && fails_on_nothing(script)?)
}

impl Operands {
    /// Whether what a candidate fails on is made by all operations. With evidence, only those count
    /// that ran.
    fn are_made(&self, program: &Program, frames: &[u32], evidence: Option<&Evidence>) -> bool {
        let found = making(program, frames, self.lacks.as_deref(), evidence);
        let its = evidence.map(|evidence| aborted(program, evidence));
        include(&found, &self.operations)
            && its.is_none_or(|its| self.aborted.is_subset(&its))
            && evidence.is_none_or(|evidence| {
                // Nothing comes of nothing, whatever is done with it.
                let is_emptied =
                    found.contains(EMPTY_PART) && !self.operations.contains(EMPTY_PART);
                !is_emptied && self.are_raised(&evidence.raised)
            })
    }

    /// Whether the script raises all of some exceptions. One that handles whatever comes
    /// would handle a missing name, too.
    fn are_raised(&self, raised: &BTreeSet<String>) -> bool {
        let mut new = raised.difference(&self.raised);
        new.all(|class| ENDING.contains(&class.as_str()))
    }
}

impl Observer for Operands {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        // The text refuses most.
        if self.are_made(candidate.program, &candidate.failed_at, None) {
            Wish::Run(Observation::default())
        } else {
            Wish::Nothing(Some(Verdict::Vacuous))
        }
    }

    fn traces(&self) -> bool {
        self.can_trace
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let are_made =
            |evidence| self.are_made(candidate.program, &candidate.failed_at, Some(evidence));
        (!observed.evidence.is_none_or(are_made)).then_some(Verdict::Vacuous)
    }
}

impl Check for Operands {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    /// Whoever writes a program by hand knows which of the operations matter.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("what it fails on is made by the same operations".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
