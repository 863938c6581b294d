//! Whether the calls of packages that the failure depends on receive things of the same kinds as in
//! the script: a package that gets `None` in the place of an object, or nothing in the place of
//! something, fails or answers in the same words for another reason. If the script itself says what
//! is wrong, and no control shows when it is, the calls must receive the same values, or what is
//! left of them: what a package should answer to anything else, only the author knows.

use minrepro_reducers::analysis::{
    dependence_check::{ReportSite, operations},
    received::{Received, receiving},
};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::{Measure, failed_at},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
    caught,
};
use crate::{oracle::Verdict, runner::Job};

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
    let Script { probe, program, .. } = script;
    let is_judged = !matches!(probe.measure, Measure::Test(_)) && !probe.measure.is_loose();
    let Some(showing) = script.showing.filter(|_| is_judged) else {
        return Ok(None);
    };
    // Under an exact control each candidate shows by itself that its calls are right.
    if script.is_flaky || is_exact(so_far) {
        return Ok(None);
    }
    let text = receiving(program).text(program);
    let Some(job) = text.and_then(|text| probe.changed_job(program, text)) else {
        return Ok(None);
    };
    // A value that differs from run to run binds no candidate, whose own run may be traced.
    let traced = Job {
        traced: true,
        ..job.clone()
    };
    let outcomes = probe.run(&[job.clone(), job, traced])?;
    let showing_bug = outcomes.iter().filter(|outcome| probe.shows_words(outcome));
    let runs = showing_bug.map(|outcome| Received::read(&outcome.stderr.text()));
    let runs: Vec<Received> = runs.collect();
    let [one, others @ ..] = runs.as_slice() else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(None);
    }
    let site = probe.measure.report_site(showing);
    let site = site.unwrap_or_else(|| ReportSite::Raised(failed_at(showing)));
    let operations = operations(program, &site, None).into_iter();
    let operations = operations.flatten().collect();
    let received = if says_itself(script, so_far) && !so_far.has_full_control() {
        one.clone().exactly_by(&operations, others)
    } else {
        one.clone().by(&operations)
    };
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

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let its = Received::read(observed.stderr);
        (!self.allows(&its)).then_some(Verdict::Vacuous)
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
