//! Control runs without the part of PyTorch that may be at fault (its compiler, its export,
//! `TorchScript`, vmap, checkpointing, autocast), or with another implementation of it. A repro of
//! a bug in such a part passes without it. If it does not, it shows something else: a failure of
//! the program itself that uses the same words, or a claim that any program can make.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::handed_on::{ran_from, running_from},
    syntax::Program,
    torch::control::{Control, Without},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Asked, Check, Checks, Kind, Script, ask},
    control_run::ControlRun,
    measure::{Measure, failed_at},
    objection::{Objection, Shown},
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{Job, Outcome, RunError},
};

pub(super) const ID: &str = "automatic-control";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<AutomaticControl>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that show the bug without a part of PyTorch as well, and those that fail in
/// another way without it if the script does not: their code is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AutomaticControl {
    /// The part without which the script does not show the bug.
    pub(super) control: Control,
    /// The behaviour of the script without it.
    run: ControlRun,
    /// The functions that run there once the script has come to the place where it fails. Those of a
    /// candidate must run as well: code that nothing calls is not valid by that. None if that cannot
    /// be observed.
    #[serde(default)]
    ran: BTreeSet<String>,
}

/// Applies where the script does not show the bug without a part of PyTorch.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, .. } = script;
    // A control that is known already replaces ours; where chance decides, one control run says nothing. It does
    // not matter who reports the failure: PyTorch, too, uses the same words for several causes.
    if script.is_flaky || so_far.has_control() || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    // Another implementation is tried only where no part can be left out.
    let mut found = tried(script, &Control::PARTS)?;
    if !found.iter().any(|check| check.run.succeeds) {
        let mut others = tried(script, &Control::ALTERNATIVES)?;
        others.retain(|check| check.run.succeeds);
        found.extend(others);
    }
    if found.is_empty() {
        found = tried(script, &Control::CHECKED)?;
        found.retain(|check| check.run.fails());
    }
    // A control under which the script succeeds asks more of candidates than one under which it
    // fails in another way.
    let best = found
        .iter()
        .find(|check| check.run.succeeds)
        .or(found.first());
    let Some(mut best) = best.cloned() else {
        return Ok(None);
    };
    if let Some(nearer) = best.control.nearer().filter(|_| best.run.succeeds) {
        let mut nearer = tried(script, &[nearer])?.into_iter();
        best = nearer.rfind(|check| check.run.succeeds).unwrap_or(best);
    }
    // What only a compiler reads may be no valid code.
    if best.compiles_uncalled() {
        let line = script.showing.and_then(|showing| failed_at(showing).pop());
        let job = best.job(probe, script.program, line);
        let outcomes = probe.run(&job.into_iter().collect::<Vec<_>>())?;
        // Where it cannot write that down and succeed, nothing is asked of candidates either.
        let succeeding = outcomes
            .iter()
            .filter(|run| best.run.verdict(probe, run).is_none());
        let ran = succeeding.flat_map(|run| ran_from(&run.stderr.text()));
        best.ran = ran.collect();
    }
    Ok(Some(Box::new(best)))
}

/// Those of some controls under which the script does not show the bug, but for those by which it
/// does not come as far.
fn tried(script: &Script<'_>, controls: &[Control]) -> Result<Vec<AutomaticControl>, RunError> {
    let Script { probe, program, .. } = script;
    let texts = controls
        .iter()
        .map(|control| (*control, control.without(program)));
    let (jobs, controls): (Vec<Job>, Vec<(Control, usize)>) = texts
        .filter_map(|(control, without)| {
            let lines = lines_of(&without, program);
            Some((job(probe, program, without)?, (control, lines)))
        })
        .unzip();
    let outcomes = controls.into_iter().zip(probe.run(&jobs)?);
    let found = outcomes.filter_map(|((control, lines), outcome)| {
        let run = ControlRun::of(probe, &outcome)?;
        let says_nothing = run.fails_by_replacement() && !script.is_passed_in(&outcome, lines);
        (!says_nothing).then_some(AutomaticControl {
            control,
            run,
            ran: BTreeSet::new(),
        })
    });
    Ok(found.collect())
}

/// How many lines a control run's program has.
fn lines_of(without: &Without, program: &Program) -> usize {
    match without {
        Without::As(text) => text.lines().count(),
        Without::Itself => program.text().lines().count(),
    }
}

/// The control that was found.
fn found(so_far: &Checks) -> Option<AutomaticControl> {
    serde_json::from_value(so_far.finding(ID)?).ok()
}

/// Whether the control is one that has another implementation do the same.
pub(super) fn is_alternative(so_far: &Checks) -> bool {
    found(so_far).is_some_and(|found| found.control.is_alternative())
}

/// Whether this control was found.
pub(super) fn is(so_far: &Checks, control: Control) -> bool {
    found(so_far).is_some_and(|found| found.control == control)
}

/// Whether a program may end under the control before it reaches its own check.
pub(super) fn may_end_early(so_far: &Checks) -> bool {
    is(so_far, Control::Export)
}

/// Whether the script succeeds under a control by running the same operations to the end, so that
/// the compared values are equal there.
pub(super) fn is_exact(so_far: &Checks) -> bool {
    found(so_far).is_some_and(|found| {
        let is_same = matches!(
            found.control,
            Control::Compile | Control::Checkpoint | Control::Reentrant | Control::Vmap
        );
        found.run.succeeds && is_same
    })
}

impl AutomaticControl {
    /// Whether the part compiles functions that nothing need call.
    fn compiles_uncalled(&self) -> bool {
        self.control == Control::Script && self.run.succeeds
    }

    /// The control run of a program that fails on a line, unless the program is its own control.
    fn job(&self, probe: &Probe<'_>, program: &Program, line: Option<u32>) -> Option<Job> {
        let observing = line.and_then(|line| running_from(program, line).text(program));
        let observing = observing.and_then(|text| program.sibling(text).ok());
        let program = observing.as_ref().unwrap_or(program);
        job(probe, program, self.control.without(program))
    }

    /// The verdict on a candidate whose control run does not call a function that the script's calls.
    fn misses_call(&self, program: &Program, outcome: &Outcome) -> Option<Verdict> {
        let required = &self.ran & &program.defined_names();
        let called = ran_from(&outcome.stderr.text());
        (!required.is_subset(&called)).then_some(Verdict::Vacuous)
    }
}

impl Check for AutomaticControl {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            let line = candidate.failed_at.last().copied();
            let line = line.filter(|_| !self.ran.is_empty());
            // A program that does not name the part is its own control run, and showed the bug. What
            // is no program without the part is none with it to whoever mends the part.
            self.job(probe, candidate.program, line)
                .map_or(Asked::Nothing(Some(Verdict::Passed)), Asked::Run)
        };
        ask(probe, shown, asked, |candidate, outcome| {
            let verdict = self.run.verdict(probe, outcome);
            verdict.or_else(|| self.misses_call(candidate.program, outcome))
        })
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.control.without(program) == Without::Itself
    }

    fn claim(&self) -> Option<String> {
        let does = self.run.claim();
        Some(format!("it {does} {}", self.control.description()))
    }

    fn is_control(&self) -> bool {
        true
    }

    fn is_full_control(&self) -> bool {
        self.run.succeeds
    }

    fn describe(&self) -> Vec<String> {
        let (does, without) = (self.run.description(), self.control.description());
        let demand = self.run.demand();
        vec![format!("control: the script {does} {without}; {demand}")]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The control run of a program, unless the program is its own control.
fn job(probe: &Probe<'_>, program: &Program, without: Without) -> Option<Job> {
    let Without::As(text) = without else {
        return None;
    };
    probe.changed_job(program, text)
}
