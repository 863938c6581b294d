//! Whether a program that waits in vain waits as long as the script, and others still do what would
//! end the wait. A limit of no time runs out whatever they do, and nobody ends a wait for nothing.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::waits::{TimeLimits, are_no_shorter, ending, limits, waiting};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
    caught::first_caught,
};
use crate::{oracle::Verdict, runner::Exception};

pub(super) const KIND: Kind = Kind {
    id: "waits",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Waits>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates with shorter limits, or without those who would end a wait.
#[derive(Debug, Serialize, Deserialize)]
struct Waits {
    limits: TimeLimits,
    ending: BTreeSet<String>,
}

/// Applies if the script fails, or reports a failure, because a time limit has run out.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let exception = script.showing.and_then(|showing| showing.exception.clone());
    // Who catches that and raises an exception of its own has waited as well.
    let mut raised = exception.into_iter().chain(first_caught(so_far));
    if !raised.any(|raised| is_of_time(&raised)) || so_far.has_full_control() || is_exact(so_far) {
        return Ok(None);
    }
    let job = waiting(program)
        .text(program)
        .and_then(|text| probe.changed_job(program, text));
    let outcomes = probe.run(job.as_slice())?;
    // One run tells: limits are written out, or computed from what is.
    let stderr = outcomes.first().map(|outcome| outcome.stderr.text());
    let found = stderr.map(|stderr| Waits {
        limits: limits(&stderr),
        ending: ending(&stderr),
    });
    let found = found.filter(|found| !found.limits.is_empty() || !found.ending.is_empty());
    Ok(found.map(|found| Box::new(found) as Box<dyn Check>))
}

/// Whether an exception, or one that led to it, says that time ran out.
fn is_of_time(exception: &Exception) -> bool {
    let mut all = exception.chain.iter().chain([exception]);
    all.any(|raised| raised.short_class().contains("Timeout"))
}

impl Observer for Waits {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(waiting(candidate.program))
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        // A call that the script does not make has no limit to compare with.
        let is_as_long = are_no_shorter(&self.limits, &limits(observed.stderr));
        let is_ended = self.ending.is_subset(&ending(observed.stderr));
        (!is_as_long || !is_ended).then_some(Verdict::Vacuous)
    }
}

impl Check for Waits {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        Some("it waits as long, for what others would end".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
