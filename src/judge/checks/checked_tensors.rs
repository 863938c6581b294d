//! Runs in which PyTorch checks the sparse tensors that it accepts unchecked by default. A script
//! that shows the bug there has valid sparse tensors. A candidate that does not may only show the
//! effect of an invalid tensor.

use minrepro_reducers::{
    syntax::Program,
    torch::control::{Control, Without},
};

use super::{
    super::{
        check::{Applied, Asked, Check, Checks, Kind, Script, ask},
        measure::Measure,
        objection::{Objection, Shown},
        probe::Probe,
    },
    automatic_control,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "checked-tensors",
    establish,
    recall: |_| Some(Box::new(CheckedTensors)),
};

/// Refuses candidates that do not show the bug where their sparse tensors are checked.
#[derive(Debug)]
struct CheckedTensors;

/// Applies where the script makes sparse tensors, and shows the bug though they are checked.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_test = matches!(probe.measure, Measure::Test(_));
    if script.is_flaky || is_test || automatic_control::is(so_far, Control::Unchecked) {
        return Ok(None);
    }
    let Some(job) = job(probe, program) else {
        return Ok(None);
    };
    // A script whose own tensors are invalid says nothing about those of candidates.
    let outcomes = probe.run(&[job])?;
    let shows = outcomes.iter().any(|outcome| probe.shows_words(outcome));
    Ok(shows.then(|| Box::new(CheckedTensors) as Box<dyn Check>))
}

impl Check for CheckedTensors {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            job(probe, candidate.program).map_or(Asked::Nothing(None), Asked::Run)
        };
        // The words are enough: the way to the failure is the judge's matter, and is checked there.
        ask(probe, shown, asked, |_, outcome| {
            (!probe.shows_words(outcome)).then_some(Verdict::Invalid)
        })
    }

    fn claim(&self) -> Option<String> {
        Some("its sparse tensors are valid".to_owned())
    }
}

/// A run of a program in which its sparse tensors are checked; none if it makes none.
fn job(probe: &Probe<'_>, program: &Program) -> Option<Job> {
    let Without::As(text) = Control::Unchecked.without(program) else {
        return None;
    };
    probe.changed_job(program, text)
}
