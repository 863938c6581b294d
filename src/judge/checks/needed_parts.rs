//! Control runs without single parts of the script, where none of PyTorch's is known to be at fault.
//! Those that it succeeds without, it needs to fail, and so must a candidate: without the smallest of
//! them it succeeds as well, or its code is not valid. The others a candidate only has to have, as
//! each would be a further run.

use minrepro_reducers::{
    analysis::omissions::{ProgramPart, parts, words},
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Asked, Check, Checks, Kind, Objection, Script, Shown, ask},
    control_run::ControlRun,
    measure::{Measure, failed_at},
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "needed-parts",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<NeededParts>(found.clone()).ok()?,
        ))
    },
};

/// How many parts are left out at most, the last of the text first: each is a run.
const MOST: usize = 24;

/// Refuses candidates that lack one of these parts, and those that do not succeed without the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NeededParts {
    parts: Vec<ProgramPart>,
    /// What the script does without the first.
    run: ControlRun,
}

/// Applies where no control is known and the script succeeds without one of its parts.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_test = matches!(probe.measure, Measure::Test(_));
    if script.is_flaky || so_far.has_control() || is_test {
        return Ok(None);
    }
    let failed_at = script.showing.map(failed_at).unwrap_or_default();
    let tried = parts(program, &failed_at).into_iter().rev();
    let tried = tried.filter_map(|part| Some((job(probe, program, &part)?, part)));
    let (jobs, tried): (Vec<Job>, Vec<ProgramPart>) = tried.take(MOST).unzip();
    let outcomes = probe.run(&jobs)?;
    let runs = outcomes
        .iter()
        .map(|outcome| ControlRun::of(probe, outcome));
    let succeeds = |(_, run): &(ProgramPart, ControlRun)| run.succeeds && !run.prints_words();
    let mut needed: Vec<_> = tried.into_iter().zip(runs).filter(succeeds).collect();
    needed.sort_by_key(|(part, _)| part.size);
    let Some((_, run)) = needed.first().cloned() else {
        return Ok(None);
    };
    let parts = needed.into_iter().map(|(part, _)| part).collect();
    Ok(Some(Box::new(NeededParts { parts, run })))
}

impl Check for NeededParts {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            let verdict = self.review_without_runs(candidate);
            let control = self.parts.first().filter(|_| verdict.is_none());
            control
                .and_then(|part| job(probe, candidate.program, part))
                .map_or(Asked::Nothing(verdict), Asked::Run)
        };
        ask(probe, shown, asked, |_, outcome| {
            self.run.verdict(probe, outcome)
        })
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        let words = words(program);
        self.parts.iter().any(|part| !part.is_among(&words))
    }

    fn claim(&self) -> Option<String> {
        let part = self.parts.first()?.omission.name();
        Some(format!("it succeeds without `{part}`"))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn describe(&self) -> Vec<String> {
        let names: Vec<_> = self
            .parts
            .iter()
            .map(|part| format!("`{}`", part.omission.name()))
            .collect();
        let (names, it) = (
            names.join(", without "),
            if names.len() == 1 { "it" } else { "them" },
        );
        vec![format!(
            "control: the script succeeds without {names}; so every candidate needs {it}"
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The run of a program without a part; none if it does not have the part where it can go.
fn job(probe: &Probe<'_>, program: &Program, part: &ProgramPart) -> Option<Job> {
    let text = part.without(program)?;
    Some(probe.job(&program.sibling(text).ok()?.encode()?))
}
