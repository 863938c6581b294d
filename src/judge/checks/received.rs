//! Whether the calls of packages that the failure depends on receive things of the same kinds as in
//! the script: a package that gets `None` in the place of an object, or nothing in the place of
//! something, fails or answers in the same words for another reason. If the script itself says what
//! is wrong, and no control shows when it is, the calls must receive the same values, or what is
//! left of them: what a package should answer to anything else, only the author knows.

use minrepro_reducers::analysis::{
    received::Received,
    receiving::{made_by_constructors, receiving},
};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
    caught,
};
use crate::oracle::{Unfound, Verdict};

pub(super) const KIND: Kind = Kind {
    id: "received",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Received>(found.clone()).ok()?,
        ))
    },
};

/// Applies if the script shows the bug while it writes down what its calls receive, and no control
/// runs the same calls.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    // Under an exact control each candidate shows by itself that its calls are right.
    if is_exact(so_far) {
        return Ok(None);
    }
    let Some(calls) = script.library_calls()? else {
        return Ok(None);
    };
    let runs: Vec<Received> = calls.told.iter().map(|told| Received::read(told)).collect();
    let [one, others @ ..] = runs.as_slice() else {
        return Ok(None);
    };
    let received = if says_itself(script, so_far) && !so_far.has_full_control() {
        // A value that differs from run to run binds no candidate.
        one.clone().exactly_by(&calls.operations, others)
    } else {
        // A constructor may run long before the failure, and its object keep what it got.
        let by_constructors = made_by_constructors(script.program);
        let operations = &calls.operations | &by_constructors;
        one.clone().by(&operations).with_steady_texts(others)
    };
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref());
    let sought = exception.and_then(Unfound::of);
    let received = received
        .with_definitions_of(script.program)
        .with_sought(sought.as_ref().and_then(Unfound::key), others);
    Ok((!received.is_empty()).then(|| Box::new(received) as Box<dyn Check>))
}

/// Whether it is the script alone that says what is wrong, and no exception that it caught.
fn says_itself(script: &Script<'_>, so_far: &Checks) -> bool {
    let Script { probe, showing, .. } = script;
    showing.is_some_and(|showing| {
        // The fingerprint of a failure holds its causes.
        let exception = showing.exception.as_ref();
        let has_cause = exception.is_some_and(|raised| !raised.chain.is_empty());
        probe.measure.report_site(showing).is_some() && !has_cause && !so_far.has(caught::ID)
    })
}

impl Observer for Received {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(receiving(candidate.program))
    }

    fn is_patient(&self) -> bool {
        !self.is_exact()
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let its = Received::read(observed.stderr);
        let key = candidate.sought.as_ref().and_then(Unfound::key);
        (!self.allows(&its) || !self.allows_sought(&its, key)).then_some(Verdict::Vacuous)
    }
}

impl Check for Received {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn is_of_reduction(&self) -> bool {
        self.is_exact()
    }

    fn claim(&self) -> Option<String> {
        let what = if self.is_exact() {
            "the same things, or what is left of them"
        } else {
            "things of the same kinds"
        };
        Some(format!("its calls of packages receive {what}"))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
