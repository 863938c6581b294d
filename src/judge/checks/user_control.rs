//! The control that the user named: a candidate counts only if it does not show the bug under
//! other variables, or by a command of their own.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    control_run::ControlRun,
    error::BaselineFailure,
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
            serde_json::from_value::<UserControl>(found.clone()).ok()?,
        ))
    },
};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct UserControl {
    /// What the script as given does under the control.
    run: ControlRun,
}

/// Applies where the user named a control.
///
/// # Errors
///
/// The script itself shows the bug under the control.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, bytes, .. } = script;
    let Some(control) = probe.control else {
        return Ok(None);
    };
    let jobs = vec![Job::new((*bytes).into(), probe.timeout); RUNS];
    let outcomes = control.run_all(&jobs, &mut |_, _| {})?;
    if let Some(outcome) = outcomes.iter().find(|outcome| probe.shows_words(outcome)) {
        return Err(BaselineFailure::ShowsUnderControl(Box::new(outcome.clone())));
    }
    let runs = outcomes.iter().map(|outcome| ControlRun::of(probe, outcome));
    // Where it does not do the same each time, the failure says what may happen.
    let run = runs.reduce(|one, other| if one.succeeds { other } else { one });
    Ok(run.map(|run| Box::new(UserControl { run }) as Box<dyn Check>))
}

impl Check for UserControl {
    fn review(
        &self,
        probe: &Probe<'_>,
        shown: &[Shown<'_>],
    ) -> Result<Vec<Objection>, RunError> {
        let Some(control) = probe.control else {
            return Ok(vec![Objection::default(); shown.len()]);
        };
        let jobs: Vec<Job> = shown
            .iter()
            .map(|candidate| candidate.program.encode().unwrap_or_default())
            .map(|bytes| Job::new(bytes.into(), probe.timeout))
            .collect();
        let outcomes = control.run_all(&jobs, &mut |_, _| {})?;
        let objection = |outcome: &Outcome| {
            let verdict = self.run.verdict(probe, outcome);
            Objection::after(outcome, verdict)
        };
        Ok(outcomes.iter().map(objection).collect())
    }

    fn claim(&self) -> Option<String> {
        let does = self.run.description();
        Some(format!("it {does} under the control"))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
