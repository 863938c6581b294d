//! Whether a candidate shows the bug each time, as the script does. One run tells that of a program
//! that computes the same each time. It does not of one that dies by what happens to lie in memory,
//! nor of one that draws random numbers: where the script draws none, no candidate may.

use minrepro_reducers::{syntax::Program, torch::seeds::draws_random_numbers};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    measure::Measure,
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{End, Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "steadiness",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Steadiness>(found.clone()).ok()?,
        ))
    },
};

/// How often a candidate is run once more.
const MORE: usize = 2;

/// Refuses candidates that do not show the bug in further runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Steadiness {
    /// Whether the script dies of a signal.
    dies: bool,
    /// Whether the script draws random numbers and shows the bug all the same.
    is_random: bool,
}

/// Applies where the script shows the bug each time.
#[expect(clippy::unnecessary_wraps, reason = "other kinds run the script and may fail")]
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    if script.is_flaky || matches!(script.probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let showing = script.showing.map(|outcome| outcome.end);
    let check = Steadiness {
        dies: matches!(showing, Some(End::Signal(_))),
        is_random: draws_random_numbers(script.program),
    };
    let applies = check.dies || !check.is_random;
    Ok(applies.then(|| Box::new(check) as Box<dyn Check>))
}

impl Check for Steadiness {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let mut objections: Vec<Objection> = shown
            .iter()
            .map(|candidate| Objection {
                verdict: self.review_without_runs(candidate),
                ..Objection::default()
            })
            .collect();
        let open: Vec<usize> = (0..shown.len())
            .filter(|&at| self.dies && objections[at].verdict.is_none())
            .collect();
        let jobs: Vec<Job> = open
            .iter()
            .map(|&at| probe.job(&shown[at].program.encode().unwrap_or_default()))
            .flat_map(|job| vec![job; MORE])
            .collect();
        let outcomes = probe.run(&jobs)?;
        for (at, runs) in open.into_iter().zip(outcomes.chunks(MORE)) {
            for outcome in runs {
                let verdict = Some(probe.judge(outcome)).filter(|verdict| !verdict.is_same());
                objections[at].add(Objection::after(outcome, verdict));
            }
        }
        Ok(objections)
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        !self.is_random && draws_random_numbers(program)
    }

    fn claim(&self) -> Option<String> {
        // Each result is confirmed by several runs.
        None
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
