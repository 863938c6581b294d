//! Control runs without single parts of the script, if no other control says enough. The script
//! needs a part to fail if it succeeds without it, and so must a candidate: it must also succeed
//! without each of the smallest of these parts, or its code is not valid. A candidate only has to
//! contain the others, as each would cost a further run. A script that hangs must end without its
//! parts, and a candidate without some of them.

use std::time::{Duration, Instant};

use minrepro_reducers::{
    analysis::{
        names::ImportedNames,
        omissions::{Libraries, ProgramPart, parts, words},
    },
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Asked, Check, Checks, Kind, Script, ask},
        control_run::ControlRun,
        measure::{Measure, failed_at},
        objection::{Objection, Shown},
        probe::Probe,
    },
    caught,
};
use crate::{
    oracle::{Verdict, is_in_library},
    runner::{End, Exception, Job, Outcome, RunError},
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

/// How long these runs may take, and how many there are at least. A script that hangs takes as long
/// as it is allowed to.
const MOST_TIME: Duration = Duration::from_mins(2);
const LEAST: usize = 6;

/// The share of the time left that these runs may take: the reduction itself needs the rest.
const OF_TIME_LEFT: u32 = 3;

/// The number of parts without which a candidate is run, one at a time. A program that fails for
/// another reason may succeed without a single one.
const LEFT_OUT: usize = 3;

/// The same if the script hangs. Anything that waits ends once nothing waits, so a single part says
/// even less.
const OF_HANG: usize = 4;

/// Refuses candidates that lack one of these parts, and those that do not succeed, or end, without
/// each of the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NeededParts {
    parts: Vec<ProgramPart>,
    /// The behaviour of the script without each of the first of them.
    runs: Vec<ControlRun>,
}

/// Applies where no control says enough and the script succeeds without one of its parts; a script
/// that hangs has to end.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_test = matches!(probe.measure, Measure::Test(_));
    if script.is_flaky || so_far.has_full_control() || is_test {
        return Ok(None);
    }
    let lines = script.showing.map(places).unwrap_or_default();
    let (of, most_runs) = libraries(script, so_far);
    let tried = parts(program, of, &lines).into_iter().rev();
    let tried = tried.filter_map(|part| Some((job(probe, program, &part)?, part)));
    let (jobs, tried): (Vec<Job>, Vec<ProgramPart>) = tried.take(MOST).unzip();
    let outcomes = run_in_time(probe, &jobs)?;
    let is_hang = probe.measure.is_hang();
    let run = |outcome: &Outcome| {
        let run = ControlRun::of(probe, outcome)?;
        let ends = is_hang && matches!(outcome.end, End::Exit(_)) && !run.fails_by_replacement();
        ((run.succeeds || ends) && !run.prints_words()).then_some(run)
    };
    let runs = outcomes.iter().map(run);
    let found = tried.into_iter().zip(runs);
    let mut needed: Vec<_> = found.filter_map(|(part, run)| Some((part, run?))).collect();
    // A part without which the script succeeds says more than one without which it fails in another
    // way.
    needed.sort_by_key(|(part, run)| (!run.succeeds, part.size));
    if needed.is_empty() {
        return Ok(None);
    }
    let (parts, mut runs): (Vec<_>, Vec<_>) = needed.into_iter().unzip();
    runs.truncate(most_runs);
    Ok(Some(Box::new(NeededParts { parts, runs })))
}

/// The lines of the script that are not among its parts: those on which it failed or hangs.
fn places(showing: &Outcome) -> Vec<u32> {
    let mut places = failed_at(showing);
    places.extend(showing.own_stack_lines());
    places
}

/// The libraries whose names are parts, and without how many of them candidates are run. Most
/// programs that hang wait in Python's own modules, and only the place of a hang is known. A script
/// that imports nothing else blames them if it reports the failure itself and catches no exception,
/// so that nothing else tells how they fail. Of a module that is not written in Python, neither the
/// stack nor the lines are seen, but an exception of its own class tells that it fails: candidates
/// only have to have the parts.
fn libraries(script: &Script<'_>, so_far: &Checks) -> (Libraries, usize) {
    let Script { probe, program, .. } = script;
    if probe.measure.is_hang() {
        return (Libraries::All, OF_HANG);
    }
    if ImportedNames::of(program.tree()).has_installed() {
        return (Libraries::Installed, LEFT_OUT);
    }
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref());
    let is_native = |raised: &Exception| raised.class.contains('.') && !is_in_library(raised);
    match site {
        Some(_) if !so_far.has(caught::ID) => (Libraries::All, LEFT_OUT),
        None if exception.is_some_and(is_native) => (Libraries::All, 0),
        _ => (Libraries::Installed, LEFT_OUT),
    }
}

/// The outcomes of these runs, until the time for them is up.
fn run_in_time(probe: &Probe<'_>, jobs: &[Job]) -> Result<Vec<Outcome>, RunError> {
    let begin = Instant::now();
    let left = probe
        .runner
        .deadline()
        .map(|deadline| deadline.saturating_duration_since(begin));
    let time = left.map_or(MOST_TIME, |left| MOST_TIME.min(left / OF_TIME_LEFT));
    let mut outcomes = Vec::new();
    for some in jobs.chunks(LEAST) {
        if outcomes.is_empty() || begin.elapsed() < time {
            outcomes.extend(probe.run(some)?);
        }
    }
    Ok(outcomes)
}

impl Check for NeededParts {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let mut objections = vec![Objection::default(); shown.len()];
        for (part, run) in self.parts.iter().zip(&self.runs) {
            let asked = |candidate: &Shown<'_>| {
                let verdict = self.review_without_runs(candidate);
                let control = Some(part).filter(|_| verdict.is_none());
                control
                    .and_then(|part| job(probe, candidate.program, part))
                    .map_or(Asked::Nothing(verdict), Asked::Run)
            };
            let found = ask(probe, shown, asked, |_, outcome| {
                run.verdict(probe, outcome)
            })?;
            for (objection, found) in objections.iter_mut().zip(found) {
                objection.add(found);
            }
        }
        Ok(objections)
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        let words = words(program);
        self.parts.iter().any(|part| !part.is_in(program, &words))
    }

    fn claim(&self) -> Option<String> {
        // No result was accepted without its parts, and no run can change the text.
        self.is_control().then(|| {
            let names = names(self.parts.iter().take(self.runs.len()));
            format!("it {} without {names}", self.does())
        })
    }

    fn is_control(&self) -> bool {
        !self.runs.is_empty()
    }

    fn describe(&self) -> Vec<String> {
        let names = names(self.parts.iter());
        let it = if self.parts.len() == 1 { "it" } else { "them" };
        let does = self.does();
        vec![format!(
            "control: the script {does} without {names}; so every candidate needs {it}"
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl NeededParts {
    /// The behaviour of the script without its parts.
    fn does(&self) -> &'static str {
        if self.runs.iter().all(|run| run.succeeds) {
            "succeeds"
        } else {
            "ends"
        }
    }
}

/// The names of parts, after `without`.
fn names<'a>(parts: impl Iterator<Item = &'a ProgramPart>) -> String {
    let names: Vec<_> = parts
        .map(|part| format!("`{}`", part.omission.name()))
        .collect();
    names.join(", without ")
}

/// The run of a program without a part; none if it does not have the part where it can go.
fn job(probe: &Probe<'_>, program: &Program, part: &ProgramPart) -> Option<Job> {
    probe.incomplete_job(program, part.without(program)?)
}
