//! Control runs without the script's side effects on the values that it checks. If the script
//! succeeds without them, the bug needs them. A candidate that also fails without them checks
//! something that was never true.

use minrepro_reducers::{
    analysis::{dependence_check::ReportSite, without_side_effects::without_side_effects},
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Asked, Check, Checks, Kind, Script, ask},
        control_run::ControlRun,
        measure::Measure,
        objection::{Objection, Shown},
        probe::Probe,
    },
    automatic_control,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "side-effects",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<SideEffects>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that do not succeed without their side effects.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SideEffects(ControlRun);

/// Applies where a check of the script's own reports the bug, no part of a library can be left out,
/// and the script succeeds without side effects.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let has_control = so_far.has_control() && !automatic_control::is_alternative(so_far);
    if script.is_flaky || has_control || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    let Some(job) = site.and_then(|site| job(probe, program, &site)) else {
        return Ok(None);
    };
    let run = ControlRun::of_success(probe, job)?;
    Ok(run.map(|run| Box::new(SideEffects(run)) as Box<dyn Check>))
}

impl Check for SideEffects {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            let site = candidate.report_site.as_ref();
            // A program without side effects is its own control run, and showed the bug.
            site.and_then(|site| job(probe, candidate.program, site))
                .map_or(Asked::Nothing(Some(Verdict::Vacuous)), Asked::Run)
        };
        ask(probe, shown, asked, |_, outcome| {
            self.0.verdict(probe, outcome).map(|_| Verdict::Vacuous)
        })
    }

    fn claim(&self) -> Option<String> {
        Some("it succeeds without its side effects on what it checks".to_owned())
    }

    fn is_control(&self) -> bool {
        true
    }

    /// Two objects that are compared differ as well when only one of them is changed.
    fn is_full_control(&self) -> bool {
        false
    }

    fn describe(&self) -> Vec<String> {
        vec![
            "control: the script succeeds without its side effects on what it checks; so must \
             every candidate"
                .to_owned(),
        ]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A run of a program without its side effects; none if it has none.
fn job(probe: &Probe<'_>, program: &Program, site: &ReportSite) -> Option<Job> {
    let text = without_side_effects(program, site)?;
    probe.changed_job(program, text)
}
