//! Whether a failure that the script reports itself still depends on the same operations. Any
//! program can raise, print or exit. So the reporting statement must still depend on the operations
//! that it depends on in the original script, and its condition on the same values.

use minrepro_reducers::{
    analysis::{
        dependence_check::{
            Grounds, Operations, Receivers, ReportSite, include, operations, receivers,
        },
        watch::{Told, expects_constants, sides, watched, without_numbers},
    },
    syntax::Program,
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Asked, Check, Checks, Kind, Objection, Script, Shown, ask},
        probe::Probe,
    },
    automatic_control,
};
use crate::{
    oracle::Verdict,
    runner::{Job, Outcome, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "dependence",
    establish,
    recall,
};

/// Refuses reports that do not depend on all of this.
#[derive(Debug, Serialize, Deserialize)]
struct Dependence {
    grounds: Grounds,
    /// Whether a traced run of the script shows the bug. Where none does, a traced run of a
    /// candidate says nothing.
    can_trace: bool,
    /// Whether it compares arrays of one shape that are not empty. Arrays of two shapes differ, and
    /// empty ones do not, for reasons of their own.
    #[serde(default)]
    compares_alike: bool,
}

/// Applies where no other check does, a statement of the script's own reports the bug, and depends
/// on something.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    // Another implementation says less about a claim than the claim's dependences do.
    let says_less =
        automatic_control::is_alternative(so_far) || automatic_control::may_end_early(so_far);
    let is_open = so_far.is_empty() || so_far.is_single() && says_less;
    let Some(showing) = script.showing.filter(|_| is_open) else {
        return Ok(None);
    };
    let Some(report_site) = probe.measure.report_site(showing) else {
        return Ok(None);
    };
    // The trace says which statements ran: only on those can the report depend.
    let evidence = probe.traced(script.bytes)?;
    // If several statements may have reported it, the common dependences of all.
    let all = operations(program, &report_site, evidence.as_ref())
        .into_iter()
        .reduce(|all, operations| &all & &operations);
    let Some(operations) = all.filter(|operations| !operations.is_empty()) else {
        return Ok(None);
    };
    let sides = operations_by_side(program, &report_site, evidence.as_ref());
    let receivers = receivers(program, &report_site, evidence.as_ref())
        .into_iter()
        .map(Receivers::told_apart)
        .reduce(|all, receivers| all.common(&receivers))
        .unwrap_or_default();
    let job = watching(probe, program, &report_site, evidence.as_ref());
    // A value that differs from run to run proves nothing.
    let jobs = job.map(|job| vec![job.clone(), job]).unwrap_or_default();
    let outcomes = probe.run(&jobs)?;
    let mut compared = outcomes
        .iter()
        .map(|outcome| Told::read(&outcome.stderr.text()));
    let told = compared
        .next()
        .filter(|one| compared.all(|other| *one == other))
        .unwrap_or_default();
    let compares_alike = told.compares_alike() && !script.is_flaky;
    let mut values = told.nearest;
    // A computed side may change along with the script, but a written side is true only of the
    // script's own numbers.
    if !expects_constants(program, &report_site) {
        for value in &mut values {
            *value = without_numbers(value).to_owned();
        }
    }
    if script.is_flaky {
        // Chance decides about the compared values.
        values.clear();
    }
    Ok(Some(Box::new(Dependence {
        grounds: Grounds {
            operations,
            values,
            sides,
            receivers,
        },
        can_trace: evidence.is_some(),
        compares_alike,
    })))
}

fn recall(findings: &Value) -> Option<Box<dyn Check>> {
    Some(Box::new(
        serde_json::from_value::<Dependence>(findings.clone()).ok()?,
    ))
}

impl Dependence {
    /// Whether one of the statements that report the bug depends on all operations that it must.
    /// With evidence, only operations that ran count.
    fn is_supported(&self, shown: &Shown<'_>, evidence: Option<&Evidence>) -> bool {
        shown.report_site.as_ref().is_some_and(|site| {
            let found = operations(shown.program, site, evidence);
            let mut found = found.iter();
            found.any(|operations| include(operations, &self.grounds.operations))
                && self.has_receivers(shown.program, site, evidence)
                && self.has_sides(shown.program, site, evidence)
        })
    }

    /// Whether methods are called on all that they must be called on.
    fn has_receivers(
        &self,
        program: &Program,
        site: &ReportSite,
        evidence: Option<&Evidence>,
    ) -> bool {
        let mut found = receivers(program, site, evidence).into_iter();
        found.any(|receivers| receivers.include(&self.grounds.receivers))
    }

    /// Whether each side of the condition has its required dependences, if the condition still has
    /// as many sides.
    fn has_sides(&self, program: &Program, site: &ReportSite, evidence: Option<&Evidence>) -> bool {
        let its = operations_by_side(program, site, evidence);
        let mut pairs = self.grounds.sides.iter().zip(&its);
        its.len() != self.grounds.sides.len() || pairs.all(|(known, its)| include(its, known))
    }

    /// Whether a run of a watched candidate compared the required values.
    fn compares(&self, outcome: &Outcome) -> bool {
        let compared = Told::read(&outcome.stderr.text());
        if self.compares_alike && compared.compares_arrays() && !compared.compares_alike() {
            return false;
        }
        // Each value once: a script that compares the same twice must go on to do so. Conditions
        // may have become outer ones when blocks were unwrapped or calls inlined.
        let mut left = [compared.nearest, compared.outer].concat();
        self.grounds.values.iter().all(|value| {
            let is_same = |other: &String| other == value || without_numbers(other) == value;
            let found = left.iter().position(is_same);
            found.map(|at| left.swap_remove(at)).is_some()
        })
    }
}

impl Check for Dependence {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        // The dependence on operations is read from the text, which costs nothing and refuses most
        // candidates. A run then shows which operations ran, and which values were compared.
        let asked = |candidate: &Shown<'_>| {
            let is_supported = self.is_supported(candidate, None);
            let site = candidate.report_site.as_ref().filter(|_| is_supported);
            let job = site.and_then(|site| {
                if self.grounds.values.is_empty() {
                    return Some(probe.job(&candidate.program.encode()?));
                }
                watching(probe, candidate.program, site, None)
            });
            job.map_or(Asked::Nothing(Some(Verdict::Vacuous)), |job| {
                let traced = self.can_trace;
                Asked::Run(Job { traced, ..job })
            })
        };
        ask(probe, shown, asked, |candidate, outcome| {
            let evidence = probe.evidence(std::slice::from_ref(outcome));
            let ran = evidence.is_none_or(|evidence| self.is_supported(candidate, Some(&evidence)));
            (!ran || !self.compares(outcome)).then_some(Verdict::Vacuous)
        })
    }

    fn claim(&self) -> Option<String> {
        Some("its report depends on the same operations".to_owned())
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        (!self.is_supported(shown, None)).then_some(Verdict::Vacuous)
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The operations that each side of the nearest condition depends on.
fn operations_by_side(
    program: &Program,
    site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Operations> {
    let sides = sides(program, site, evidence).into_iter();
    sides.map(|side| side.operations).collect()
}

/// A run of a program that prints the values that its conditions compare.
fn watching(
    probe: &Probe<'_>,
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Option<Job> {
    let text = watched(program, report_site, evidence)?;
    Some(probe.job(&program.sibling(text).ok()?.encode()?))
}
