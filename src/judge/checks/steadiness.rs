//! Whether a candidate shows the bug each time, as the script does. One run is enough for a program
//! that always computes the same. It is not if chance or the contents of memory decide.

use std::cell::Cell;

use minrepro_reducers::{
    syntax::Program,
    torch::seeds::{draws_anew, reseeded},
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
    runner::{End, Job, Outcome, RunError, Start},
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

/// How often a candidate is run once more if the script dies.
const MORE: usize = 2;

/// How often a program that draws random numbers is run once more, by forking.
const DRAWS: usize = 6;

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
    /// Whether a program that draws random numbers was seen to show the bug by chance. Then each
    /// candidate that does so is run again.
    #[serde(skip)]
    is_doubted: Cell<bool>,
}

/// Applies if the script shows the bug each time.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Some(showing) = script.showing.filter(|_| !script.is_flaky) else {
        return Ok(None);
    };
    let reports = script.probe.measure.report_site(showing).is_some();
    let check = Steadiness {
        dies: matches!(showing.end, End::Signal(_)),
        needs_seed: reports && needs_seed(script)?,
        is_doubted: Cell::default(),
    };
    Ok(Some(Box::new(check)))
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

/// Runs a program again if it draws random numbers anew in each run.
fn redraw(probe: &Probe<'_>, program: &Program) -> Result<Vec<Outcome>, RunError> {
    // An interpreter of its own takes its time, and three more of them will run the result.
    let draws = match probe.start {
        _ if !draws_anew(program) => 0,
        Start::Cold => 1,
        _ => DRAWS,
    };
    probe.run(&vec![job(probe, program); draws])
}

/// One more run of a program.
fn job(probe: &Probe<'_>, program: &Program) -> Job {
    probe.job(&program.encode().unwrap_or_default())
}

/// The objection that a run does not show the bug.
fn if_not_shown(probe: &Probe<'_>, outcome: &Outcome) -> Objection {
    let verdict = Some(probe.judge(outcome)).filter(|verdict| !verdict.is_same());
    Objection::after(outcome, verdict)
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
        for (objection, candidate) in objections.iter_mut().zip(shown) {
            if objection.verdict.is_none() && self.is_doubted.get() {
                for outcome in redraw(probe, candidate.program)? {
                    objection.add(if_not_shown(probe, &outcome));
                }
            }
        }
        if !self.dies {
            return Ok(objections);
        }
        let jobs = shown
            .iter()
            .flat_map(|candidate| vec![job(probe, candidate.program); MORE]);
        let outcomes = probe.run(&jobs.collect::<Vec<_>>())?;
        for (objection, runs) in objections.iter_mut().zip(outcomes.chunks(MORE)) {
            for outcome in runs {
                objection.add(if_not_shown(probe, outcome));
            }
        }
        Ok(objections)
    }

    fn is_by_chance(
        &self,
        probe: &Probe<'_>,
        program: &Program,
        shows: bool,
    ) -> Result<bool, RunError> {
        let outcomes = redraw(probe, program)?;
        let is_so = outcomes.iter().any(|outcome| probe.shows(outcome) != shows);
        self.is_doubted.set(self.is_doubted.get() || is_so);
        Ok(is_so)
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.needs_seed && draws_anew(program)
    }

    fn claim(&self) -> Option<String> {
        // Each result is confirmed by several runs.
        None
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
