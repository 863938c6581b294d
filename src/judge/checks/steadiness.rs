//! Whether a candidate shows the bug each time, as the script does. One run is enough for a program
//! that always computes the same. It is not if chance or the contents of memory decide.

use minrepro_reducers::{
    syntax::Program,
    torch::seeds::{draws_random_numbers, reseeded, seeds_random_numbers},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    objection::{Objection, Shown},
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

/// How many other seeds are tried.
const SEEDS: u64 = 4;

/// Refuses candidates that do not show the bug in further runs, or show it by chance.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Steadiness {
    /// Whether the script dies of a signal. Then each candidate is run again.
    dies: bool,
    /// Whether the script needs the seed that it sets. Then candidates that draw random numbers
    /// without one show the bug by chance.
    needs_seed: bool,
}

/// Applies if the script does one of these each time.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Some(showing) = script.showing.filter(|_| !script.is_flaky) else {
        return Ok(None);
    };
    let reports = script.probe.measure.report_site(showing).is_some();
    let check = Steadiness {
        dies: matches!(showing.end, End::Signal(_)),
        needs_seed: reports && needs_seed(script)?,
    };
    let applies = check.dies || check.needs_seed;
    Ok(applies.then(|| Box::new(check) as Box<dyn Check>))
}

/// Whether the script does not show the bug under one of some other seeds.
fn needs_seed(script: &Script<'_>) -> Result<bool, RunError> {
    let Script { probe, program, .. } = script;
    let texts = (1..=SEEDS).filter_map(|by| reseeded(program, by));
    let jobs: Vec<Job> = texts
        .filter_map(|text| Some(probe.job(&program.sibling(text).ok()?.encode()?)))
        .collect();
    let outcomes = probe.run(&jobs)?;
    Ok(outcomes.iter().any(|outcome| !probe.shows_words(outcome)))
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
        if !self.dies {
            return Ok(objections);
        }
        let jobs: Vec<Job> = shown
            .iter()
            .map(|candidate| probe.job(&candidate.program.encode().unwrap_or_default()))
            .flat_map(|job| vec![job; MORE])
            .collect();
        let outcomes = probe.run(&jobs)?;
        for (objection, runs) in objections.iter_mut().zip(outcomes.chunks(MORE)) {
            for outcome in runs {
                let verdict = Some(probe.judge(outcome)).filter(|verdict| !verdict.is_same());
                objection.add(Objection::after(outcome, verdict));
            }
        }
        Ok(objections)
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.needs_seed && draws_random_numbers(program) && !seeds_random_numbers(program)
    }

    fn claim(&self) -> Option<String> {
        // Each result is confirmed by several runs.
        None
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
