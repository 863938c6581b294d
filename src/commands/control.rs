//! Control runs. Where it is the script's own words that say how a compiled program differs from
//! the plain one, any program can say them; so a candidate counts only if it does not say them
//! without the compiler. Called by the session.

use std::time::Duration;

use minrepro_reducers::{
    syntax::Program,
    torch::environment::{Uncompiled, uncompiled},
};

use super::measure::Measure;
use crate::{
    cli::Failure,
    oracle::{is_check, is_in_library},
    runner::{Command, End, Job, Outcome, RunError, Runner, Setup, Start},
};

/// Whether candidates need control runs: the script itself tells that it failed, and does not
/// without the compiler.
pub(super) fn is_wanted(
    runner: &Runner,
    bytes: &[u8],
    outcome: &Outcome,
    measure: &Measure,
    timeout: Duration,
    start: Start,
) -> Result<bool, RunError> {
    let is_own = match &outcome.exception {
        Some(exception) => !is_in_library(exception) || is_check(exception),
        None => matches!(outcome.end, End::Exit(_)),
    };
    let Ok(program) = Program::read(bytes) else {
        return Ok(false);
    };
    if !is_own
        || matches!(measure, Measure::Test(_))
        || !matches!(uncompiled(&program), Uncompiled::As(_))
    {
        return Ok(false);
    }
    let controls = uncompiled_runs(runner, &[&program], measure, timeout, start)?;
    Ok(controls.iter().all(|control| !control.shows))
}

/// What came of a program without the compiler.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// Whether it shows the bug all the same.
    pub(super) shows: bool,
    /// How many runs that took.
    pub(super) runs: u64,
    /// And how many seconds.
    pub(super) seconds: f64,
}

/// Runs programs without the compiler. Where it can not be left out a program has the benefit of
/// the doubt.
pub(super) fn uncompiled_runs(
    runner: &Runner,
    programs: &[&Program],
    measure: &Measure,
    timeout: Duration,
    start: Start,
) -> Result<Vec<Control>, RunError> {
    let mut controls = Vec::new();
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        let plain = uncompiled(program);
        controls.push(Control {
            shows: plain == Uncompiled::Itself,
            ..Control::default()
        });
        let Uncompiled::As(text) = plain else {
            continue;
        };
        if let Some(bytes) = program
            .sibling(text)
            .ok()
            .and_then(|program| program.encode())
        {
            jobs.push(Job {
                start,
                ..Job::new(bytes.into(), timeout)
            });
            places.push(place);
        }
    }
    for (place, outcome) in places
        .into_iter()
        .zip(runner.run_all(&jobs, &mut |_, _| {})?)
    {
        let shows = measure.judge(&outcome, timeout).is_same();
        controls[place] = Control {
            shows,
            runs: 1,
            seconds: outcome.wall.as_secs_f64(),
        };
    }
    Ok(controls)
}

/// How the control that the user named is run: under other variables, or by a command of its own.
pub(super) fn setup(named: &str, setup: &Setup) -> Result<Setup, Failure> {
    let words = shlex::split(named)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{named}` is no control")).hint("are all quotes closed?")
        })?;
    let is_variable = |word: &str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let variables = words.iter().take_while(|word| is_variable(word)).count();
    let mut control = setup.clone();
    control.env.extend(
        words[..variables]
            .iter()
            .filter_map(|it| it.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    if variables < words.len() {
        control.command = Command::Test(words[variables..].to_vec());
    }
    Ok(control)
}

/// Whether a program can not count, since nothing in it is compiled.
pub(super) fn is_hopeless(program: &Program) -> bool {
    uncompiled(program) == Uncompiled::Itself
}
