//! Whether a failure that the script reports itself still depends on the same operations. Any
//! program can raise, print or exit. So the reporting statement must still depend on the operations
//! that it depends on in the original script, and its condition on the same values.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::{
        aborted::aborted,
        dependence_check::{
            Grounds, Operations, Receivers, ReportSite, Sought, effect_times, flow, include,
            missed, operations, receivers,
        },
        observation::Observation,
        watch::{Told, expects_constants, sides, watching, without_numbers},
    },
    syntax::Program,
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control,
};
use crate::oracle::Verdict;

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
    /// The functions that others leave in the middle.
    #[serde(default)]
    aborted: BTreeSet<String>,
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
    let evidence = script.evidence()?;
    // If several statements may have reported it, the common dependences of all.
    let all = operations(program, &report_site, evidence)
        .into_iter()
        .reduce(|all, operations| &all & &operations);
    let Some(operations) = all.filter(|operations| !operations.is_empty()) else {
        return Ok(None);
    };
    let flow = flow(program, &report_site, evidence)
        .into_iter()
        .reduce(|all, operations| &all & &operations)
        .unwrap_or_default();
    let missed = evidence.map(|evidence| missed(program, &report_site, evidence));
    let missed = missed.into_iter().flatten();
    let missed = missed.reduce(|all, operations| &all & &operations);
    let sides = operations_by_side(program, &report_site, evidence);
    let receivers = receivers(program, &report_site, evidence)
        .into_iter()
        .map(Receivers::told_apart)
        .reduce(|all, receivers| all.common(&receivers))
        .unwrap_or_default();
    let text = watching(program, &report_site, evidence).text(program);
    let job = text.and_then(|text| probe.changed_job(program, text));
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
    let expects_constants = expects_constants(program, &report_site);
    let counted = evidence.filter(|_| expects_constants);
    let times = counted.map(|evidence| common_times(program, &report_site, evidence));
    // A computed side may change along with the script, but a written side is true only of the
    // script's own numbers.
    if !expects_constants {
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
            flow,
            missed: missed.unwrap_or_default(),
            values,
            sides,
            receivers,
            sought: Sought::of(program, &report_site, evidence),
            times: times.unwrap_or_default(),
        },
        can_trace: evidence.is_some(),
        compares_alike,
        aborted: evidence.map_or_else(BTreeSet::new, |evidence| aborted(program, evidence)),
    })))
}

/// How often the same calls were made for nothing else, whichever statement reports the bug.
fn common_times(
    program: &Program,
    report_site: &ReportSite,
    evidence: &Evidence,
) -> BTreeMap<String, u64> {
    let found = effect_times(program, report_site, evidence).into_iter();
    let common = found.reduce(|mut all, its| {
        all.retain(|operation, times| its.get(operation) == Some(times));
        all
    });
    common.unwrap_or_default()
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
            let flowing = flow(shown.program, site, evidence);
            let mut found = found.iter().zip(&flowing);
            let grounds = &self.grounds;
            found.any(|(operations, flowing)| {
                include(operations, &grounds.operations) && include(flowing, &grounds.flow)
            }) && evidence.is_none_or(|evidence| {
                self.has_missed(shown.program, site, evidence)
                    && self.has_times(shown.program, site, evidence)
            }) && grounds.sought.allows(shown.program, site, evidence)
                && self.has_receivers(shown.program, site, evidence)
                && self.has_sides(shown.program, site, evidence)
        })
    }

    /// Whether what decided in loops that something was not set still decides so.
    fn has_missed(&self, program: &Program, site: &ReportSite, evidence: &Evidence) -> bool {
        let known = &self.grounds.missed;
        let mut found = missed(program, site, evidence).into_iter();
        known.is_empty() || found.any(|missed| include(&missed, known))
    }

    /// Whether as much is done as the expected number says.
    fn has_times(&self, program: &Program, site: &ReportSite, evidence: &Evidence) -> bool {
        // More or fewer of them would give another number, with or without the bug.
        let known = &self.grounds.times;
        let mut found = effect_times(program, site, evidence).into_iter();
        known.is_empty()
            || found.any(|its| {
                let mut known = known.iter();
                known.all(|(operation, times)| its.get(operation) == Some(times))
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
    fn compares(&self, stderr: &str) -> bool {
        let compared = Told::read(stderr);
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

impl Observer for Dependence {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        // The dependence on operations is read from the text, which costs nothing and refuses most
        // candidates. A run then shows which operations ran, and which values were compared.
        let is_supported = self.is_supported(candidate, None);
        let Some(site) = candidate.report_site.as_ref().filter(|_| is_supported) else {
            return Wish::Nothing(Some(Verdict::Vacuous));
        };
        if self.grounds.values.is_empty() {
            return Wish::Run(Observation::default());
        }
        let observation = watching(candidate.program, site, None);
        if observation.is_empty() {
            return Wish::Nothing(Some(Verdict::Vacuous));
        }
        Wish::Run(observation)
    }

    fn traces(&self) -> bool {
        self.can_trace
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let is_supported = |evidence: &Evidence| {
            self.is_supported(candidate, Some(evidence))
                && self
                    .aborted
                    .is_subset(&aborted(candidate.program, evidence))
        };
        let holds = observed.evidence.is_none_or(is_supported) && self.compares(observed.stderr);
        (!holds).then_some(Verdict::Vacuous)
    }
}

impl Check for Dependence {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
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
