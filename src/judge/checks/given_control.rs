//! The controls that are no part of the script: a candidate counts only if it does not show the bug
//! with other variables or when a command of the user runs it, and if it succeeds in another
//! interpreter. The user named that interpreter, or it is another version of Python on this machine;
//! or the program imports a package that goes by a variable.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    control_run::ControlRun,
    error::BaselineFailure,
    objection::{Objection, Shown},
    probe::{Demand, GivenControl, Probe},
};
use crate::{
    judge::confirmation::CONFIRMING_RUNS,
    runner::{Job, Outcome, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "given-control",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<GivenControls>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that show the bug under one of these controls, and those that fail there in
/// another way if the script does not.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct GivenControls(Vec<KnownControl>);

/// One of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KnownControl {
    /// Its name.
    name: String,
    /// The behaviour of the original script under it.
    run: ControlRun,
}

/// Applies where the user named a control, or the script succeeds in another version of Python, or
/// only fails there by something that it does later.
///
/// # Errors
///
/// The script itself shows the bug under a control that the user named, or does not succeed where
/// it has to.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let mut found: Vec<KnownControl> = Vec::new();
    // Whether the control before is one, so that a nearer one takes its place.
    let mut is_last_one = false;
    for control in script.probe.controls {
        let is_demanded = is_demanded(control);
        let is_nearer = is_last_one && control.demand != Demand::IfBetter;
        // One other version says as much as two.
        let is_first = found.is_empty() && control.demand != Demand::IfNearer;
        if !is_demanded && (script.is_flaky || !is_nearer && !is_first) {
            is_last_one = false;
            continue;
        }
        let known = known(script, control)?;
        if is_nearer {
            let last = found.last_mut();
            let as_good = last.zip(known);
            let as_good = as_good.filter(|(last, known)| known.run.succeeds || !last.run.succeeds);
            is_last_one = as_good.is_some();
            if let Some((last, known)) = as_good {
                *last = known;
            }
        } else {
            is_last_one = known.is_some() && !is_demanded;
            found.extend(known);
        }
    }
    Ok((!found.is_empty()).then(|| Box::new(GivenControls(found)) as Box<dyn Check>))
}

/// Whether the user named a control.
fn is_demanded(control: &GivenControl) -> bool {
    matches!(control.demand, Demand::NotShow | Demand::Succeed)
}

/// What the script does under a control; none if that says nothing.
fn known(
    script: &Script<'_>,
    control: &GivenControl,
) -> Result<Option<KnownControl>, BaselineFailure> {
    let Script { probe, bytes, .. } = script;
    let is_demanded = is_demanded(control);
    let lines = script.program.text().lines().count();
    let name = control.name.clone();
    let mut worst: Option<(ControlRun, Outcome)> = None;
    let job = Job::new((*bytes).into(), probe.timeout);
    // Where nothing is demanded, the first run mostly shows that this is no control.
    let batches = if is_demanded {
        [CONFIRMING_RUNS, 0]
    } else {
        [1, CONFIRMING_RUNS - 1]
    };
    for runs in batches {
        let outcomes = match control.run(probe, vec![job.clone(); runs]) {
            // An interpreter that does not start is no control.
            Err(RunError::NotStarted { .. }) if !is_demanded => return Ok(None),
            outcomes => outcomes?,
        };
        for outcome in outcomes {
            let run = ControlRun::of(probe, &outcome);
            let comes_further = |run: &ControlRun| {
                run.succeeds || run.fails() && script.is_passed_in(&outcome, lines)
            };
            if !is_demanded && !run.as_ref().is_some_and(comes_further) {
                return Ok(None);
            }
            let Some(run) = run else {
                let outcome = Box::new(outcome);
                return Err(BaselineFailure::ShowsUnderControl { name, outcome });
            };
            // If its behaviour varies, the failure says what may happen.
            let is_worse = |(worst, _): &(ControlRun, _)| worst.succeeds && !run.succeeds;
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some((run, outcome));
            }
        }
    }
    match worst {
        Some((run, outcome)) if control.demand == Demand::Succeed && !run.succeeds => {
            let outcome = Box::new(outcome);
            Err(BaselineFailure::FailsUnderControl { name, outcome })
        }
        worst => Ok(worst.map(|(run, _)| KnownControl { name, run })),
    }
}

impl Check for GivenControls {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let mut objections = vec![Objection::default(); shown.len()];
        for KnownControl { name, run } in &self.0 {
            let Some(control) = probe.control(name) else {
                continue;
            };
            // One that is refused already needs no further run.
            let open: Vec<usize> = (0..shown.len())
                .filter(|&at| objections[at].verdict.is_none())
                .collect();
            let programs = open.iter().map(|&at| shown[at].program.encode());
            let jobs: Vec<Job> = programs
                .map(|bytes| Job::new(bytes.unwrap_or_default().into(), probe.timeout))
                .collect();
            let outcomes = control.run(probe, jobs)?;
            let objection = |outcome: &Outcome| {
                let verdict = run.verdict(probe, outcome);
                Objection::after(outcome, verdict)
            };
            for (at, outcome) in open.into_iter().zip(&outcomes) {
                objections[at].add(objection(outcome));
            }
        }
        Ok(objections)
    }

    fn claim(&self) -> Option<String> {
        let claims: Vec<String> = self.0.iter().map(KnownControl::claim).collect();
        Some(format!("it {}", claims.join(" and ")))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn is_full_control(&self) -> bool {
        self.0.iter().any(|control| control.run.succeeds)
    }

    fn describe(&self) -> Vec<String> {
        let of = |control: &KnownControl| {
            let (does, demand) = (control.run.description(), control.run.demand());
            format!(
                "control: the script {does} under `{}`; {demand}",
                control.name
            )
        };
        self.0.iter().map(of).collect()
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl KnownControl {
    /// The statement that holds under it, as a sentence without its subject.
    fn claim(&self) -> String {
        format!("{} under `{}`", self.run.claim(), self.name)
    }
}
