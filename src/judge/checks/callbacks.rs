//! Whether the functions that the script passes on still run. If nobody calls them, the code that
//! receives them does something else, often in the same words.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::handed_on::{handed_on, ran, saying_what_runs},
    syntax::Program,
    torch::environment::captures_graphs,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Asked, Check, Checks, Kind, Objection, Script, Shown, ask},
    measure::Measure,
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "callbacks",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Callbacks>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that pass on one of these functions without it being called.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Callbacks(BTreeSet<String>);

/// Applies if such functions run, nothing captures them instead, and no control shows what is
/// valid.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_judged = !matches!(probe.measure, Measure::Test(_)) && !probe.measure.is_loose();
    if script.is_flaky || so_far.has_control() || !is_judged || captures_graphs(program) {
        return Ok(None);
    }
    // An exception that a library raises itself shows what happened there.
    let reports = script
        .showing
        .is_some_and(|showing| probe.measure.report_site(showing).is_some());
    let job = job(probe, program, &handed_on(program));
    let Some(job) = job.filter(|_| reports) else {
        return Ok(None);
    };
    let outcomes = probe.run(&[job])?;
    let showing = outcomes.iter().find(|outcome| probe.shows_words(outcome));
    let found = showing
        .map(|outcome| ran(&outcome.stderr.text()))
        .unwrap_or_default();
    Ok((!found.is_empty()).then(|| Box::new(Callbacks(found)) as Box<dyn Check>))
}

/// A run of a program that says which of some functions run; none if it defines none.
fn job(probe: &Probe<'_>, program: &Program, names: &BTreeSet<String>) -> Option<Job> {
    let text = saying_what_runs(program, names)?;
    Some(probe.job(&program.sibling(text).ok()?.encode()?))
}

impl Check for Callbacks {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let names = |candidate: &Shown<'_>| &self.0 & &handed_on(candidate.program);
        let asked = |candidate: &Shown<'_>| {
            job(probe, candidate.program, &names(candidate))
                .map_or(Asked::Nothing(None), Asked::Run)
        };
        ask(probe, shown, asked, |candidate, outcome| {
            let all_ran = names(candidate).is_subset(&ran(&outcome.stderr.text()));
            (!all_ran).then_some(Verdict::Vacuous)
        })
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        Some(format!(
            "the functions that it passes on run: {}",
            names.join(", ")
        ))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
