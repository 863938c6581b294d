//! Whether a failure that the script reports itself still depends on the same operations. Any
//! program can raise, print or exit; so the reporting statement must go on depending on the
//! operations that it depends on in the script as given, and its condition on the same values.

use minrepro_reducers::{
    trace::evidence::Evidence,
    analysis::dependence_check::{Grounds, ReportSite, Told, operations, watched},
    syntax::Program,
};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
        probe::Probe,
    },
    automatic_control,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "dependence",
    establish,
    recall,
};

/// Refuses what does not depend on all of this.
#[derive(Debug)]
struct Dependence(Grounds);

/// Applies where no other check does, a statement of the script's own reports the bug, and depends
/// on something.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    // Another implementation says less of a claim than what the claim depends on.
    let is_open = so_far.is_empty() || automatic_control::is_alternative(so_far);
    let Some(showing) = script.showing.filter(|_| is_open) else {
        return Ok(None);
    };
    let Some(report_site) = probe.measure.report_site(showing) else {
        return Ok(None);
    };
    // The trace says which statements ran: only on those can the report depend.
    let evidence = probe.traced(script.bytes)?;
    // Of several statements that may have reported it, what all of them depend on.
    let all = operations(program, &report_site, evidence.as_ref())
        .into_iter()
        .reduce(|all, operations| &all & &operations);
    let Some(operations) = all.filter(|operations| !operations.is_empty()) else {
        return Ok(None);
    };
    let job = watching(probe, program, &report_site, evidence.as_ref());
    // A value that differs from run to run proves nothing.
    let jobs = job.map(|job| vec![job.clone(), job]).unwrap_or_default();
    let outcomes = probe.run(&jobs)?;
    let mut compared = outcomes
        .iter()
        .map(|outcome| Told::read(&outcome.stderr.text()).nearest);
    let mut values = compared
        .next()
        .filter(|one| compared.all(|other| *one == other))
        .unwrap_or_default();
    if script.is_flaky {
        // Chance decides what is compared.
        values.clear();
    }
    Ok(Some(Box::new(Dependence(Grounds { operations, values }))))
}

fn recall(findings: &Value) -> Option<Box<dyn Check>> {
    let grounds = serde_json::from_value(findings.clone()).ok()?;
    Some(Box::new(Dependence(grounds)))
}

impl Dependence {
    /// Whether one of the statements that report the bug depends on all operations that it must.
    fn is_supported(&self, shown: &Shown<'_>) -> bool {
        let supports = |report_site: &ReportSite| {
            operations(shown.program, report_site, None)
                .iter()
                .any(|operations| self.0.operations.is_subset(operations))
        };
        shown.report_site.as_ref().is_some_and(supports)
    }
}

impl Check for Dependence {
    fn review(
        &self,
        probe: &Probe<'_>,
        shown: &[Shown<'_>],
    ) -> Result<Vec<Objection>, RunError> {
        let Self(Grounds { values, .. }) = self;
        let mut objections = Vec::new();
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for (place, candidate) in shown.iter().enumerate() {
            // The dependence on operations is read off the text; that costs nothing and refuses
            // most.
            let report_site = candidate
                .report_site
                .as_ref()
                .filter(|_| self.is_supported(candidate));
            let is_vacuous = report_site.is_none() || !values.is_empty();
            objections.push(Objection {
                verdict: is_vacuous.then_some(Verdict::Vacuous),
                ..Objection::default()
            });
            // Only where values are compared does a run say more than the text does.
            if let Some(report_site) = report_site.filter(|_| is_vacuous)
                && let Some(job) = watching(probe, candidate.program, report_site, None)
            {
                jobs.push(job);
                places.push(place);
            }
        }
        for (place, outcome) in places.into_iter().zip(probe.run(&jobs)?) {
            let compared = Told::read(&outcome.stderr.text());
            // Each value once: a script that compares the same twice must go on to do so.
            // Conditions may have become outer ones when blocks were unwrapped or calls inlined.
            let mut left = [compared.nearest, compared.outer].concat();
            let is_kept = values.iter().all(|value| {
                let found = left.iter().position(|other| other == value);
                found.map(|at| left.swap_remove(at)).is_some()
            });
            let verdict = (!is_kept).then_some(Verdict::Vacuous);
            objections[place] = Objection::after(&outcome, verdict);
        }
        Ok(objections)
    }

    fn claim(&self) -> Option<String> {
        Some("what it reports depends on the same operations".to_owned())
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        (!self.is_supported(shown)).then_some(Verdict::Vacuous)
    }

    fn findings(&self) -> Value {
        serde_json::to_value(&self.0).unwrap_or_default()
    }
}

/// A run of a program that prints what its conditions compare.
fn watching(
    probe: &Probe<'_>,
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Option<Job> {
    let text = watched(program, report_site, evidence)?;
    Some(probe.job(&program.sibling(text).ok()?.encode()?))
}
