//! Whether a program that hangs because it computes for ever still does so for the same reason: any
//! loop whose condition has become a constant goes on for ever, too. So a traced run shows the loop
//! that the script does not leave, and the conditions that would end it must still depend on the
//! operations, and on the constants within the loop, that they depend on in the script.

use minrepro_reducers::{
    analysis::endless::{EndlessLoop, stepping},
    syntax::Program,
    trace::evidence::Evidence,
};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    objection::Shown,
    observer::{Observed, Observer, Wish},
};
use crate::{
    oracle::Verdict,
    runner::{End, Outcome},
};

pub(super) const ID: &str = "endless";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<EndlessLoop>(found.clone()).ok()?,
        ))
    },
};

/// How often the script is traced: between two looks it may be in different parts of a loop.
const RUNS: usize = 2;

/// Applies if the script hangs in a loop of its own that some condition would end.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let computes = |showing: &Outcome| showing.end == End::Timeout && !showing.timing.stuck;
    let is_open = probe.measure.is_hang() && !script.is_flaky;
    if !is_open || !script.showing.is_some_and(computes) {
        return Ok(None);
    }
    let observing = stepping(program).text(program);
    let job = match observing {
        Some(text) => probe.changed_job(program, text),
        None => Some(probe.job(script.bytes)),
    };
    let jobs = job.map_or_else(Vec::new, |job| vec![probe.tracing(job); RUNS]);
    let outcomes = probe.run(&jobs)?;
    let found: Option<Vec<EndlessLoop>> = outcomes
        .iter()
        .map(|outcome| endless_loop(program, outcome))
        .collect();
    let common = found.and_then(|found| found.into_iter().reduce(|all, its| all.common(&its)));
    Ok(common
        .filter(|found| !found.is_empty())
        .map(|found| Box::new(found) as Box<dyn Check>))
}

/// The loop that a traced run did not leave, wherever in it the run was ended.
fn endless_loop(program: &Program, outcome: &Outcome) -> Option<EndlessLoop> {
    let trace = outcome
        .trace
        .as_deref()
        .filter(|_| outcome.end == End::Timeout)?;
    let evidence: Evidence = serde_json::from_str(trace).ok()?;
    EndlessLoop::of(program, &evidence, &outcome.stderr.text())
}

impl Observer for EndlessLoop {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(stepping(candidate.program))
    }

    fn traces(&self) -> bool {
        true
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let its = endless_loop(candidate.program, observed.outcome);
        let goes_on = its.is_some_and(|its| self.goes_on_in(&its));
        (!goes_on).then_some(Verdict::Vacuous)
    }
}

impl Check for EndlessLoop {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        Some("its loop goes on for the same reason".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
