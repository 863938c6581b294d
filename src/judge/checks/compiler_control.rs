//! Control runs without PyTorch's compiler. Where the script's own words say how a compiled program
//! differs from the plain one, any program can say them; so a candidate counts only if it does not
//! say them without the compiler.

use minrepro_reducers::{
    torch::environment::{Uncompiled, uncompiled},
    syntax::Program,
};

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    measure::Measure,
    probe::Probe,
};
use crate::{
    oracle::{Verdict, is_check, is_in_library},
    runner::{End, RunError},
};

pub(super) const ID: &str = "compiler-control";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |_| Some(Box::new(CompilerControl)),
};

/// What the user is told of this check.
pub(super) const NOTICE: &str = "candidates that show the bug without the compiler do not count";

/// Refuses what shows the bug without the compiler as well.
#[derive(Debug)]
pub(super) struct CompilerControl;

/// Applies where the script itself reports that it failed, and does not without the compiler.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    // The user's control takes the place of ours; where chance decides, one control run says
    // nothing.
    let Some(first) = script.first.filter(|_| !script.is_flaky && probe.control.is_none()) else {
        return Ok(None);
    };
    // An exception of the library is the compiler's own word; the script's words could be anyone's.
    let is_own = match &first.exception {
        Some(exception) => !is_in_library(exception) || is_check(exception),
        None => matches!(first.end, End::Exit(_)),
    };
    if !is_own
        || matches!(probe.measure, Measure::Test(_))
        || !matches!(uncompiled(program), Uncompiled::As(_))
    {
        return Ok(None);
    }
    let objections = review_programs(probe, &[program])?;
    let is_wanted = objections.iter().all(|objection| objection.verdict.is_none());
    Ok(is_wanted.then(|| Box::new(CompilerControl) as Box<dyn Check>))
}

impl Check for CompilerControl {
    fn review(
        &self,
        probe: &Probe<'_>,
        shown: &[Shown<'_>],
    ) -> Result<Vec<Objection>, RunError> {
        let programs: Vec<&Program> = shown.iter().map(|candidate| candidate.program).collect();
        review_programs(probe, &programs)
    }

    /// Nothing in such a program is compiled, so it would fail its control run.
    fn is_hopeless(&self, program: &Program) -> bool {
        uncompiled(program) == Uncompiled::Itself
    }

    fn describe(&self) -> &'static [&'static str] {
        &[NOTICE]
    }
}

/// Runs programs without the compiler. Where it cannot be left out, nothing speaks against a
/// program.
fn review_programs(
    probe: &Probe<'_>,
    programs: &[&Program],
) -> Result<Vec<Objection>, RunError> {
    let mut objections = Vec::new();
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        // A program without anything to leave out was its own control run just now, and showed it.
        let plain = uncompiled(program);
        objections.push(Objection {
            verdict: (plain == Uncompiled::Itself).then_some(Verdict::Passed),
            ..Objection::default()
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
        let verdict = probe.shows(&outcome).then_some(Verdict::Passed);
        objections[place] = Objection::after(&outcome, verdict);
    }
    Ok(objections)
}
