//! Whether a program that catches an exception and reports a failure itself still catches the same
//! one: `except Exception: print("failed")` says the same of any.

use minrepro_reducers::analysis::caught::{catching, caught, reports_only_what_is_caught};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    objection::Shown,
    observer::{Observed, Observer, Wish},
};
use crate::{
    oracle::{Caught, Verdict},
    runner::{Exception, Outcome, traceback},
};

pub(super) const ID: &str = "caught";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<SameCaught>(found.clone()).ok()?,
        ))
    },
};

/// The number of runs of the script that show what varies in the caught exceptions.
const RUNS: usize = 2;

/// The first exception that a script catches before it reports the bug.
pub(super) fn first_caught(so_far: &Checks) -> Option<Exception> {
    let found = serde_json::from_value::<SameCaught>(so_far.finding(ID)?).ok()?;
    Some(found.caught.first().clone())
}

/// Refuses candidates that catch something else, or report as well if there is nothing to catch.
#[derive(Debug, Serialize, Deserialize)]
struct SameCaught {
    caught: Caught,
    /// Whether the script reports only what it catches.
    only: bool,
}

/// Applies where a statement of the script reports the bug, and an exception that the script caught
/// led to it.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let Some(showing) = script
        .showing
        .filter(|_| !script.is_flaky && !probe.measure.is_loose())
    else {
        return Ok(None);
    };
    let site = probe.measure.report_site(showing);
    let only = site
        .as_ref()
        .is_some_and(|site| reports_only_what_is_caught(program, site));
    let text = site.and_then(|site| catching(program, &site).text(program));
    let Some(job) = text.and_then(|text| probe.changed_job(program, text)) else {
        return Ok(None);
    };
    let runs = probe.run(&vec![job; RUNS])?;
    let runs: Vec<(Outcome, Vec<Exception>)> = runs
        .into_iter()
        .map(|outcome| {
            let caught = exceptions(&outcome.stderr.text());
            (outcome, caught)
        })
        .collect();
    let found = Caught::common(&runs).map(|mut caught| {
        caught.forget(&program.defined_names(), &program.texts());
        Box::new(SameCaught { caught, only }) as Box<dyn Check>
    });
    Ok(found)
}

/// The exceptions that a run wrote down as caught.
fn exceptions(stderr: &str) -> Vec<Exception> {
    caught(stderr).filter_map(traceback::parse).collect()
}

impl Observer for SameCaught {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        let is_only = |site| reports_only_what_is_caught(candidate.program, site);
        let site = candidate.report_site.as_ref();
        let site = site.filter(|site| !self.only || is_only(site));
        let observation = site.map(|site| catching(candidate.program, site));
        match observation.filter(|observation| !observation.is_empty()) {
            Some(observation) => Wish::Run(observation),
            None => Wish::Nothing(Some(Verdict::Vacuous)),
        }
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let caught = exceptions(observed.stderr);
        let is_same = self.caught.is_among(observed.outcome, &caught);
        (!is_same).then_some(Verdict::Vacuous)
    }
}

impl Check for SameCaught {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        Some("it catches what the script catches".to_owned())
    }

    fn describe(&self) -> Vec<String> {
        let first = self.caught.headline();
        vec![format!(
            "caught: the script catches `{first}`; so must every candidate"
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
