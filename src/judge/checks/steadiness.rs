//! Whether a candidate dies each time, as the script does. One run tells how a program fails that
//! computes the same each time; it does not where what lies in memory decides.

use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    probe::Probe,
};
use crate::runner::{End, Job, RunError};

pub(super) const KIND: Kind = Kind {
    id: "steadiness",
    establish,
    recall: |_| Some(Box::new(Steadiness)),
};

/// How often a candidate is run once more.
const MORE: usize = 2;

/// Refuses candidates that do not show the bug in further runs.
#[derive(Debug)]
struct Steadiness;

/// Applies where the script dies of a signal each time.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let showing = script.showing.filter(|_| !script.is_flaky);
    let dies = showing.is_some_and(|outcome| matches!(outcome.end, End::Signal(_)));
    Ok(dies.then(|| Box::new(Steadiness) as Box<dyn Check>))
}

impl Check for Steadiness {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let programs = shown.iter().map(|candidate| candidate.program);
        let jobs: Vec<Job> = programs
            .map(|program| probe.job(&program.encode().unwrap_or_default()))
            .flat_map(|job| vec![job; MORE])
            .collect();
        let outcomes = probe.run(&jobs)?;
        let of_candidates = outcomes.chunks(MORE).map(|runs| {
            let mut objection = Objection::default();
            for outcome in runs {
                let verdict = Some(probe.judge(outcome)).filter(|verdict| !verdict.is_same());
                objection.add(Objection::after(outcome, verdict));
            }
            objection
        });
        Ok(of_candidates.collect())
    }

    fn claim(&self) -> Option<String> {
        // Each result is confirmed by several runs.
        None
    }

    fn findings(&self) -> Value {
        Value::Bool(true)
    }
}
