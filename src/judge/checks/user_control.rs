//! The control that the user named: a candidate counts only if it does not show the bug under
//! other variables, or by a command of their own.

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    error::BaselineFailure,
    probe::Probe,
};
use crate::{
    judge::confirmation::RUNS,
    oracle::Verdict,
    runner::{Job, Outcome, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "user-control",
    establish,
    recall: |_| Some(Box::new(UserControl)),
};

#[derive(Debug)]
struct UserControl;

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
    match outcomes.into_iter().find(|outcome| probe.shows(outcome)) {
        Some(outcome) => Err(BaselineFailure::ShowsUnderControl(Box::new(outcome))),
        None => Ok(Some(Box::new(UserControl))),
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
            Objection::after(outcome, probe.shows(outcome).then_some(Verdict::Passed))
        };
        Ok(outcomes.iter().map(objection).collect())
    }
}
