//! The controls that the user named: a candidate counts only if it does not show the bug with other
//! variables or when a command of the user runs it, and if it succeeds in another interpreter.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    control_run::ControlRun,
    error::BaselineFailure,
    objection::{Objection, Shown},
    probe::Probe,
};
use crate::{
    judge::confirmation::RUNS,
    runner::{Job, Outcome, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "user-control",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<UserControls>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that show the bug under one of the user's controls, and those that fail there
/// in another way if the script does not.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UserControls(Vec<UserControl>);

/// One of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UserControl {
    /// As it was typed.
    typed: String,
    /// The behaviour of the original script under it.
    run: ControlRun,
}

/// Applies where the user named a control.
///
/// # Errors
///
/// The script itself shows the bug under one, or does not succeed where it has to.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, bytes, .. } = script;
    let mut found = Vec::new();
    for control in probe.controls {
        let jobs = vec![Job::new((*bytes).into(), probe.timeout); RUNS];
        let outcomes = control.runner.run_all(&jobs, &mut |_, _| {})?;
        let typed = control.typed.clone();
        let of_bug = outcomes.iter().find(|outcome| probe.shows_words(outcome));
        if let Some(outcome) = of_bug {
            let outcome = Box::new(outcome.clone());
            return Err(BaselineFailure::ShowsUnderControl { typed, outcome });
        }
        let runs = outcomes
            .iter()
            .filter_map(|outcome| ControlRun::of(probe, outcome));
        // If its behaviour varies, the failure says what may happen.
        let run = runs.zip(&outcomes).min_by_key(|(run, _)| run.succeeds);
        let Some((run, outcome)) = run else {
            continue;
        };
        if control.must_succeed && !run.succeeds {
            let outcome = Box::new(outcome.clone());
            return Err(BaselineFailure::FailsUnderControl { typed, outcome });
        }
        found.push(UserControl { typed, run });
    }
    Ok((!found.is_empty()).then(|| Box::new(UserControls(found)) as Box<dyn Check>))
}

impl Check for UserControls {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let mut objections = vec![Objection::default(); shown.len()];
        for (control, UserControl { run, .. }) in probe.controls.iter().zip(&self.0) {
            // One that is refused already needs no further run.
            let open: Vec<usize> = (0..shown.len())
                .filter(|&at| objections[at].verdict.is_none())
                .collect();
            let programs = open.iter().map(|&at| shown[at].program.encode());
            let jobs: Vec<Job> = programs
                .map(|bytes| Job::new(bytes.unwrap_or_default().into(), probe.timeout))
                .collect();
            let outcomes = control.runner.run_all(&jobs, &mut |_, _| {})?;
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
        let claims: Vec<String> = self.0.iter().map(UserControl::claim).collect();
        Some(format!("it {}", claims.join(" and ")))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn describe(&self) -> Vec<String> {
        let of = |control: &UserControl| {
            let (does, demand) = (control.run.description(), control.run.demand());
            format!(
                "control: the script {does} under `{}`; {demand}",
                control.typed
            )
        };
        self.0.iter().map(of).collect()
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl UserControl {
    /// The statement that holds under it, as a sentence without its subject.
    fn claim(&self) -> String {
        format!("{} under `{}`", self.run.claim(), self.typed)
    }
}
