//! Control runs without PyTorch's compiler. A repro of the compiler's bug passes without the
//! compiler, or it is a repro of something else: of a failure of the program itself that uses the
//! same words, or of a claim that any program can make.

use minrepro_reducers::{
    torch::environment::{Uncompiled, uncompiled},
    syntax::Program,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    measure::Measure,
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{End, Outcome, RunError},
};

pub(super) const ID: &str = "compiler-control";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| Some(Box::new(serde_json::from_value::<CompilerControl>(found.clone()).ok()?)),
};

/// The line that the user sees of this check.
pub(super) const NOTICE: &str = "control: the script does not show the bug without the compiler; \
                                 candidates that do, or that fail there, do not count";

/// Refuses candidates that show the bug without the compiler as well, and those that fail in
/// another way without it if the script does not: their code is not valid.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct CompilerControl {
    /// Whether the script as given succeeds without the compiler.
    pub(super) succeeds: bool,
}

/// Applies where the script does not show the bug without the compiler.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    // The user's control replaces ours; where chance decides, one control run says nothing. It does
    // not matter who reports the failure: PyTorch, too, uses the same words for several causes.
    if script.is_flaky
        || probe.control.is_some()
        || matches!(probe.measure, Measure::Test(_))
        || !matches!(uncompiled(program), Uncompiled::As(_))
    {
        return Ok(None);
    }
    let found = control_runs(probe, &[program])?;
    let Some(outcome) = found.into_iter().find_map(|control| control.outcome) else {
        return Ok(None);
    };
    let check = CompilerControl {
        succeeds: succeeds(&outcome),
    };
    Ok((!probe.shows(&outcome)).then(|| Box::new(check) as Box<dyn Check>))
}

/// Whether a run ended without a failure.
fn succeeds(outcome: &Outcome) -> bool {
    outcome.end == End::Exit(0)
}

impl Check for CompilerControl {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let programs: Vec<&Program> = shown.iter().map(|candidate| candidate.program).collect();
        let found = control_runs(probe, &programs)?;
        let objection = |control: Control| match control.outcome {
            Some(outcome) => Objection::after(&outcome, self.verdict(probe, &outcome)),
            // A program that nothing compiles would fail its control run.
            None => Objection {
                verdict: control.is_plain.then_some(Verdict::Passed),
                ..Objection::default()
            },
        };
        Ok(found.into_iter().map(objection).collect())
    }

    /// Nothing in such a program is compiled, so it would fail its control run.
    fn is_hopeless(&self, program: &Program) -> bool {
        uncompiled(program) == Uncompiled::Itself
    }

    fn describe(&self) -> &'static [&'static str] {
        &[NOTICE]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl CompilerControl {
    /// The verdict on a candidate by its control run, if that speaks against it.
    fn verdict(self, probe: &Probe<'_>, outcome: &Outcome) -> Option<Verdict> {
        if probe.shows(outcome) {
            return Some(Verdict::Passed);
        }
        (self.succeeds && !succeeds(outcome)).then_some(Verdict::Invalid)
    }
}

/// The control run of a program.
struct Control {
    /// Whether the program is not compiled as it is.
    is_plain: bool,
    /// The run; none if the compiler cannot be left out.
    outcome: Option<Outcome>,
}

/// Runs programs without the compiler, where it can be left out.
fn control_runs(probe: &Probe<'_>, programs: &[&Program]) -> Result<Vec<Control>, RunError> {
    let mut controls = Vec::new();
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        // A program without anything to leave out was its own control run just now, and showed it.
        let plain = uncompiled(program);
        controls.push(Control {
            is_plain: plain == Uncompiled::Itself,
            outcome: None,
        });
        let Uncompiled::As(text) = plain else {
            continue;
        };
        if let Some(bytes) = program
            .sibling(text)
            .ok()
            .and_then(|program| program.encode())
        {
            jobs.push(probe.job(&bytes));
            places.push(place);
        }
    }
    for (place, outcome) in places.into_iter().zip(probe.run(&jobs)?) {
        controls[place].outcome = Some(outcome);
    }
    Ok(controls)
}
