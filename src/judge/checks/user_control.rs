//! The control that the user named: a candidate counts only if it does not show the bug under
//! other variables, or by a command of their own.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
        error::BaselineFailure,
        probe::Probe,
    },
    automatic_control::{control_verdict, succeeds},
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

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct UserControl {
    /// Whether the script as given succeeds under the control.
    succeeds: bool,
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
    let check = UserControl {
        succeeds: outcomes.iter().all(succeeds),
    };
    match outcomes.into_iter().find(|outcome| probe.shows_words(outcome)) {
        Some(outcome) => Err(BaselineFailure::ShowsUnderControl(Box::new(outcome))),
        None => Ok(Some(Box::new(check))),
    }
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
            let verdict = control_verdict(probe, outcome, self.succeeds);
            Objection::after(outcome, verdict)
        };
        Ok(outcomes.iter().map(objection).collect())
    }

    fn claim(&self) -> Option<String> {
        let does = if self.succeeds {
            "succeeds"
        } else {
            "does not show the bug"
        };
        Some(format!("it {does} under the control"))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
