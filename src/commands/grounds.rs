//! Whether what the script says of itself still rests on something. Where a statement of the script
//! tells of the bug, by an exception, a printed line or its exit status, it must go on depending on
//! the operations that it depends on in the script as given, and its condition on the same values,
//! or an empty claim would pass. Called by the session.

use std::{collections::BTreeSet, time::Duration};

use minrepro_reducers::{
    analysis::dependence_check::{Grounds, Telling, Told, operations, watched},
    syntax::Program,
    trace::evidence::Evidence,
};

use super::{live::Doubt, measure::Measure};
use crate::{
    oracle::{Part, Verdict, claim},
    runner::{End, Job, Outcome, RunError, Runner, Start},
};

/// What the script as given rests on; none if no statement of its own tells of the bug, or it rests
/// on nothing.
pub(super) fn of_script(
    runner: &Runner,
    bytes: &[u8],
    outcome: &Outcome,
    measure: &Measure,
    timeout: Duration,
    start: Start,
) -> Result<Option<Grounds>, RunError> {
    let (Some(telling), Ok(program)) = (telling(outcome, measure), Program::read(bytes)) else {
        return Ok(None);
    };
    let job = Job {
        traced: true,
        start,
        ..Job::new(bytes.into(), timeout)
    };
    let traced = runner.run_all(&[job], &mut |_, _| {})?.into_iter().next();
    let evidence: Option<Evidence> = traced
        .filter(|it| measure.judge(it, timeout).is_same())
        .and_then(|it| serde_json::from_str(it.trace.as_deref()?).ok());
    // Of several statements that may have said it, what all of them rest on.
    let all = operations(&program, &telling, evidence.as_ref())
        .into_iter()
        .reduce(|all, it| &all & &it);
    let Some(operations) = all.filter(|it| !it.is_empty()) else {
        return Ok(None);
    };
    let job = watching(&program, &telling, evidence.as_ref(), timeout, start);
    // What differs from run to run is no ground.
    let jobs = job.map(|job| vec![job.clone(), job]).unwrap_or_default();
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    let mut told = outcomes
        .iter()
        .map(|it| Told::read(&it.stderr.text()).nearest);
    let values = told
        .next()
        .filter(|one| told.all(|other| *one == other))
        .unwrap_or_default();
    Ok(Some(Grounds { operations, values }))
}

/// Whether what tells of the bug in a program rests on the operations that it has to.
pub(super) fn rests_on(wanted: &Grounds, program: &Program, telling: Option<&Telling>) -> bool {
    let rests = |it: &Telling| {
        operations(program, it, None)
            .iter()
            .any(|it| wanted.operations.is_subset(it))
    };
    telling.is_some_and(rests)
}

/// Which of the candidates that show the bug do not rest on all that they have to.
pub(super) fn doubts(
    wanted: &Grounds,
    runner: &Runner,
    candidates: &[(&Program, Option<Telling>)],
    timeout: Duration,
    start: Start,
) -> Result<Vec<Doubt>, RunError> {
    let mut doubts = Vec::new();
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, (program, telling)) in candidates.iter().enumerate() {
        let telling = telling
            .as_ref()
            .filter(|it| rests_on(wanted, program, Some(it)));
        let is_hollow = telling.is_none() || !wanted.values.is_empty();
        doubts.push(Doubt {
            verdict: is_hollow.then_some(Verdict::Vacuous),
            ..Doubt::default()
        });
        if let Some(telling) = telling.filter(|_| is_hollow)
            && let Some(job) = watching(program, telling, None, timeout, start)
        {
            jobs.push(job);
            places.push(place);
        }
    }
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    for (place, outcome) in places.into_iter().zip(&outcomes) {
        let told = Told::read(&outcome.stderr.text());
        let mut left = [told.nearest, told.outer].concat();
        let is_kept = wanted.values.iter().all(|value| {
            let found = left.iter().position(|it| it == value);
            found.map(|at| left.swap_remove(at)).is_some()
        });
        let verdict = (!is_kept).then_some(Verdict::Vacuous);
        doubts[place] = Doubt {
            verdict,
            seconds: outcome.wall.as_secs_f64(),
            runs: 1,
        };
    }
    Ok(doubts)
}

/// A run of a program that tells what its conditions compare.
fn watching(
    program: &Program,
    telling: &Telling,
    evidence: Option<&Evidence>,
    timeout: Duration,
    start: Start,
) -> Option<Job> {
    let bytes = program
        .sibling(watched(program, telling, evidence)?)
        .ok()?
        .encode()?;
    Some(Job {
        start,
        ..Job::new(bytes.into(), timeout)
    })
}

/// Which statements of the script tell of the bug, if it is the script that does.
pub(super) fn telling(outcome: &Outcome, measure: &Measure) -> Option<Telling> {
    let Measure::Signature(signature) = measure else {
        return None;
    };
    if let Some(exception) = outcome
        .exception
        .as_ref()
        .filter(|_| !signature.is_printed_alone())
    {
        return claim(exception).map(Telling::Raised);
    }
    let mut words = BTreeSet::new();
    for part in &signature.parts {
        match part {
            Part::Stdout(pattern) | Part::Stderr(pattern) => words.extend(pattern.words()),
            Part::Exit(_) => {}
            _ => return None,
        }
    }
    match outcome.end {
        _ if !words.is_empty() => Some(Telling::Words(words)),
        End::Exit(_) => Some(Telling::Exit),
        // A status that stands for a signal is none that the script gave.
        End::Signal(_) | End::Timeout | End::Limit(_) => None,
    }
}
