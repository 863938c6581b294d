//! Whether the functions that the script passes on still run. If nobody calls them, the code that
//! receives them does something else, often in the same words. Where a library fails by itself,
//! before it calls them or instead, those that do not run take as many arguments as in the script:
//! whoever mends the library has it call them.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::{
        handed_on::{handed_on, ran, registered, running, take_any},
        results::{called_by_others, needed_by_others},
    },
    syntax::Program,
    torch::environment::captures_graphs,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    measure::Measure,
    objection::Shown,
    observer::{Observed, Observer, Wish},
};
use crate::oracle::Verdict;

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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Callbacks {
    /// Those that run.
    ran: BTreeSet<String>,
    /// How many arguments they need, if they need not run as long as they take those.
    #[serde(default)]
    needed: BTreeMap<String, BTreeSet<usize>>,
    /// The methods among them that only a decorator hands on, each with its class. A candidate with
    /// the class has them.
    registered: BTreeSet<(String, String)>,
}

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
    if !reports {
        let found = Callbacks {
            needed: needed_by_others(program),
            ..Callbacks::default()
        };
        return Ok((!found.needed.is_empty()).then(|| Box::new(found) as Box<dyn Check>));
    }
    let text = running(program, &handed_on(program)).text(program);
    let Some(job) = text.and_then(|text| probe.changed_job(program, text)) else {
        return Ok(None);
    };
    let outcomes = probe.run(&[job])?;
    let showing = outcomes
        .iter()
        .find(|outcome| probe.shows_words_while_observed(outcome));
    let ran = showing
        .map(|outcome| ran(&outcome.stderr.text()))
        .unwrap_or_default();
    let mut registered = registered(program);
    registered.retain(|(_, method)| ran.contains(method));
    let found = Callbacks {
        ran,
        registered,
        ..Callbacks::default()
    };
    Ok((!found.ran.is_empty()).then(|| Box::new(found) as Box<dyn Check>))
}

impl Callbacks {
    /// Those of the functions that others still call and that must run.
    fn left(&self, candidate: &Shown<'_>) -> BTreeSet<String> {
        let its = called_by_others(candidate.program);
        let mut left = &self.ran & &its;
        let changed = self.needed.iter().filter(|(name, numbers)| {
            its.contains(name.as_str()) && !take_any(candidate.program, name, numbers)
        });
        left.extend(changed.map(|(name, _)| name.clone()));
        left
    }

    /// Whether a class of a candidate lacks one of its methods.
    fn is_incomplete(&self, candidate: &Program) -> bool {
        // A class that is left out altogether is the business of other checks.
        let has = registered(candidate);
        let classes = candidate.defined_names();
        let mut missing = self.registered.difference(&has);
        missing.any(|(class, _)| classes.contains(class))
    }
}

impl Observer for Callbacks {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        if self.is_incomplete(candidate.program) {
            return Wish::Nothing(Some(Verdict::Vacuous));
        }
        let observation = running(candidate.program, &self.left(candidate));
        if observation.is_empty() {
            Wish::Nothing(None)
        } else {
            Wish::Run(observation)
        }
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let all_ran = self.left(candidate).is_subset(&ran(observed.stderr));
        (!all_ran).then_some(Verdict::Vacuous)
    }
}

impl Check for Callbacks {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        if self.ran.is_empty() {
            let what = "the functions that others call run, or take what they took";
            return Some(what.to_owned());
        }
        let names: Vec<String> = self.ran.iter().map(|name| format!("`{name}`")).collect();
        Some(format!(
            "the functions that it passes on run: {}",
            names.join(", ")
        ))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
