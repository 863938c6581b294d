//! Where a script says that PyTorch's compiler computes something else than PyTorch: whether what is compiled is further from
//! the truth than what is not, which no claim of the script's own can bring about. Called by the session.

use std::time::Duration;

use minrepro_reducers::{
    grounds::Telling,
    ladder::{Uncompiled, uncompiled},
    numbers::{Measured, Numbers, is_further_off, measured},
    syntax::Program,
};

use super::{grounds::telling, measure::Measure};
use crate::runner::{Job, Outcome, RunError, Runner, Start};

/// What came of one program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Precision {
    /// Whether it is further off when it is compiled; none if that can not be told.
    pub(super) is_further_off: Option<bool>,
    /// How many runs that took.
    pub(super) runs: u64,
    /// And how many seconds.
    pub(super) seconds: f64,
}

/// Whether it can be told of the script as given that it is further off when it is compiled: then candidates have to be.
pub(super) fn is_wanted(
    runner: &Runner,
    bytes: &[u8],
    outcome: &Outcome,
    measure: &Measure,
    timeout: Duration,
) -> Result<bool, RunError> {
    let (Some(telling @ Telling::Raised(_)), Ok(program)) = (telling(outcome, measure), Program::read(bytes))
    else {
        return Ok(false);
    };
    let found = precisions(runner, &[(&program, Some(telling))], timeout, Start::Cold)?;
    Ok(found.iter().all(|it| it.is_further_off == Some(true)))
}

/// Runs programs that tell what they compare: as they are, without the compiler, and without it in double precision.
pub(super) fn precisions(
    runner: &Runner,
    programs: &[(&Program, Option<Telling>)],
    timeout: Duration,
    start: Start,
) -> Result<Vec<Precision>, RunError> {
    let mut found = vec![Precision::default(); programs.len()];
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, (program, telling)) in programs.iter().enumerate() {
        if let Some(texts) = telling.as_ref().and_then(|telling| variants(program, telling)) {
            jobs.extend(texts.map(|bytes| Job { start, ..Job::new(bytes.into(), timeout) }));
            places.push(place);
        }
    }
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    for (place, outcomes) in places.into_iter().zip(outcomes.chunks(3)) {
        let [compiled, plain, truth] = [0, 1, 2]
            .map(|at| outcomes.get(at).map(|it| Numbers::read(&it.stderr.text())).unwrap_or_default());
        found[place] = Precision {
            is_further_off: is_further_off(&compiled, &plain, &truth),
            runs: outcomes.len() as u64,
            seconds: outcomes.iter().map(|it| it.wall.as_secs_f64()).sum(),
        };
    }
    Ok(found)
}

/// The program that tells its numbers; without the compiler; and in double precision.
fn variants(program: &Program, telling: &Telling) -> Option<[Vec<u8>; 3]> {
    let compiled = program.sibling(measured(program, telling)?.text()).ok()?;
    let Uncompiled::As(plain) = uncompiled(&compiled) else { return None };
    let truth = Measured::in_double(&plain);
    let encode = |text: String| program.sibling(text).ok()?.encode();
    Some([compiled.encode()?, encode(plain)?, encode(truth)?])
}
