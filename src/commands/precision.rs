//! Where a script says that PyTorch's compiler computes something else than PyTorch: whether what
//! is compiled is further from the truth than what is not, which no claim of the script's own can
//! bring about. Called by the session.

use std::time::Duration;

use minrepro_reducers::{
    analysis::dependence_check::Telling,
    syntax::Program,
    torch::{
        environment::{Uncompiled, uncompiled},
        numeric_divergence::{Measured, Numbers, is_further_off, measured},
    },
};

use super::{grounds::telling, measure::Measure};
use crate::runner::{Job, Outcome, RunError, Runner, Start};

/// What came of one program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Precision {
    /// Whether it is further off when it is compiled; none if that can not be told.
    pub(super) is_further_off: Option<bool>,
    /// Whether it shows the bug without the compiler; none if that was not run.
    pub(super) shows_plain: Option<bool>,
    /// How many runs that took.
    pub(super) runs: u64,
    /// And how many seconds.
    pub(super) seconds: f64,
}

/// Whether it can be told of the script as given that it is further off when it is compiled: then
/// candidates have to be.
pub(super) fn is_wanted(
    runner: &Runner,
    bytes: &[u8],
    outcome: &Outcome,
    measure: &Measure,
    timeout: Duration,
    start: Start,
) -> Result<bool, RunError> {
    let (Some(telling @ Telling::Raised(_)), Ok(program)) =
        (telling(outcome, measure), Program::read(bytes))
    else {
        return Ok(false);
    };
    let found = precisions(
        runner,
        &[(&program, Some(telling))],
        measure,
        timeout,
        start,
    )?;
    Ok(found.iter().all(|it| it.is_further_off == Some(true)))
}

/// Runs programs that tell what they compare: without the compiler, and what does not show the bug
/// there as it is and without the compiler in double precision.
pub(super) fn precisions(
    runner: &Runner,
    programs: &[(&Program, Option<Telling>)],
    measure: &Measure,
    timeout: Duration,
    start: Start,
) -> Result<Vec<Precision>, RunError> {
    let mut found = vec![Precision::default(); programs.len()];
    let texts: Vec<Option<[Vec<u8>; 3]>> = programs
        .iter()
        .map(|(program, telling)| variants(program, telling.as_ref()?))
        .collect();
    let run = |text: &[u8]| Job {
        start,
        ..Job::new(text.into(), timeout)
    };
    let open: Vec<(usize, &[Vec<u8>; 3])> = texts
        .iter()
        .enumerate()
        .filter_map(|(place, it)| Some((place, it.as_ref()?)))
        .collect();
    let jobs: Vec<Job> = open.iter().map(|(_, [_, plain, _])| run(plain)).collect();
    let plain = runner.run_all(&jobs, &mut |_, _| {})?;
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for ((place, [compiled, _, truth]), outcome) in open.into_iter().zip(plain) {
        let shows = measure.judge(&outcome, timeout).is_same();
        found[place] = Precision {
            is_further_off: None,
            shows_plain: Some(shows),
            runs: 1,
            seconds: outcome.wall.as_secs_f64(),
        };
        if !shows {
            jobs.extend([run(compiled), run(truth)]);
            places.push((place, outcome));
        }
    }
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    for ((place, plain), others) in places.into_iter().zip(outcomes.chunks(2)) {
        let [compiled, plain, truth] = [others.first(), Some(&plain), others.get(1)]
            .map(|it| it.map(|it| Numbers::read(&it.stderr.text())));
        let precision = &mut found[place];
        if let (Some(compiled), Some(plain), Some(truth)) = (compiled, plain, truth) {
            precision.is_further_off = is_further_off(&compiled, &plain, &truth);
        }
        precision.runs += others.len() as u64;
        precision.seconds += others.iter().map(|it| it.wall.as_secs_f64()).sum::<f64>();
    }
    Ok(found)
}

/// The program that tells its numbers; without the compiler; and in double precision.
fn variants(program: &Program, telling: &Telling) -> Option<[Vec<u8>; 3]> {
    let compiled = program.sibling(measured(program, telling)?.text()).ok()?;
    let Uncompiled::As(plain) = uncompiled(&compiled) else {
        return None;
    };
    let truth = Measured::in_double(&plain);
    let encode = |text: String| program.sibling(text).ok()?.encode();
    Some([compiled.encode()?, encode(plain)?, encode(truth)?])
}
