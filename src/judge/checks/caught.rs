//! Whether a program that catches an exception and reports a failure itself still catches the same
//! one: `except Exception: print("failed")` says the same of any.

use minrepro_reducers::{
    analysis::{
        caught::{caught, showing_caught},
        dependence_check::ReportSite,
    },
    syntax::Program,
};
use serde_json::Value;

use super::super::{
    check::{Applied, Asked, Check, Checks, Kind, Objection, Script, Shown, ask},
    probe::Probe,
};
use crate::{
    oracle::{Caught, Verdict},
    runner::{Exception, Job, Outcome, RunError, traceback},
};

pub(super) const ID: &str = "caught";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| {
        let caught = serde_json::from_value(found.clone()).ok()?;
        Some(Box::new(SameCaught(caught)))
    },
};

/// The number of runs of the script that show what varies in the caught exceptions.
const RUNS: usize = 2;

/// Refuses candidates that catch something else.
#[derive(Debug)]
struct SameCaught(Caught);

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
    let Some(job) = site.and_then(|site| job(probe, program, &site)) else {
        return Ok(None);
    };
    let runs = probe.run(&vec![job; RUNS])?;
    let runs: Vec<(Outcome, Vec<Exception>)> = runs
        .into_iter()
        .map(|outcome| {
            let caught = exceptions(&outcome);
            (outcome, caught)
        })
        .collect();
    let found = Caught::common(&runs).map(|mut caught| {
        caught.forget(&program.defined_names(), &program.texts());
        Box::new(SameCaught(caught)) as Box<dyn Check>
    });
    Ok(found)
}

/// A run of a program that prints the exceptions that it catches before it reports; none if it
/// catches none there.
fn job(probe: &Probe<'_>, program: &Program, site: &ReportSite) -> Option<Job> {
    let text = showing_caught(program, site)?;
    Some(probe.job(&program.sibling(text).ok()?.encode()?))
}

/// The exceptions that a run of such a program caught.
fn exceptions(outcome: &Outcome) -> Vec<Exception> {
    let stderr = outcome.stderr.text();
    caught(&stderr).filter_map(traceback::parse).collect()
}

impl Check for SameCaught {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            let site = candidate.report_site.as_ref();
            let job = site.and_then(|site| job(probe, candidate.program, site));
            job.map_or(Asked::Nothing(Some(Verdict::Vacuous)), Asked::Run)
        };
        ask(probe, shown, asked, |_, outcome| {
            let is_same = self.0.is_among(outcome, &exceptions(outcome));
            (!is_same).then_some(Verdict::Vacuous)
        })
    }

    fn claim(&self) -> Option<String> {
        Some("it catches what the script catches".to_owned())
    }

    fn describe(&self) -> Vec<String> {
        let first = self.0.first();
        vec![format!(
            "caught: the script catches `{first}`; so must every candidate"
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(&self.0).unwrap_or_default()
    }
}
