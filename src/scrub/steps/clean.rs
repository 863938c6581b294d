//! Step 5, once a script has passed: runs it again as its reporter may have run it, with other hash
//! seeds and more threads, and as often as a reported rate asks for. One clean run proves nothing.

use std::time::{Duration, Instant};

use super::{
    ScrubContext,
    analyze::Ready,
    expected::{ExpectedBug, passes, run_again},
};
use crate::{
    cli::Failure,
    runner::Outcome,
    scrub::chance::{Chance, runs_for},
};

/// Variables under which a script is run again.
struct Setting {
    name: &'static str,
    env: &'static [(&'static str, &'static str)],
}

/// A run has hash seed 0 and one thread unless a setting says otherwise.
const SETTINGS: [Setting; 3] = [
    Setting {
        name: "hash seed 0",
        env: &[],
    },
    Setting {
        name: "random hash seeds",
        env: &[("PYTHONHASHSEED", "random")],
    },
    Setting {
        name: "four threads",
        env: &[
            ("PYTHONHASHSEED", "random"),
            ("OMP_NUM_THREADS", "4"),
            ("MKL_NUM_THREADS", "4"),
        ],
    },
];
/// Runs under each setting, and of a script that takes long.
const EACH: usize = 2;
const LONG: Duration = Duration::from_secs(30);
/// All runs of a script that draws random values.
const RUNS_OF_VALUES: usize = 12;
/// The time for all runs, and the runs between looks at the clock.
const BUDGET: Duration = Duration::from_mins(10);
const BATCH: usize = 10;

/// The result of running a script again.
pub(super) enum RunsAgain {
    /// The bug showed after all, with these variables, in one of so many runs.
    Shows {
        env: Vec<(String, String)>,
        outcome: Box<Outcome>,
        of: usize,
    },
    /// All runs passed.
    Clean(CleanRuns),
    /// One failed in another way.
    Fails(Box<Outcome>, usize),
}

/// Runs that all passed.
pub(super) struct CleanRuns {
    pub(super) count: usize,
    /// The settings, for people.
    pub(super) settings: Vec<String>,
}

/// Repeats a script whose first run passed, or failed as `is_as_before` says.
pub(super) fn repeat(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    ready: &Ready,
    first: &Outcome,
    chance: &Chance,
    is_as_before: &dyn Fn(&Outcome) -> bool,
) -> Result<RunsAgain, Failure> {
    let started = Instant::now();
    let each = if first.timing.wall > LONG { 1 } else { EACH };
    let mut count = 1;
    let percent = cx
        .found
        .claims
        .chance
        .as_ref()
        .and_then(|claim| claim.percent);
    let needed = match (percent, chance) {
        (Some(percent), _) => runs_for(percent),
        (None, Chance::Values) => RUNS_OF_VALUES,
        _ => 0,
    };
    let settings = SETTINGS.iter().map(|setting| (setting, each));
    let more = std::iter::repeat((&SETTINGS[1], BATCH));
    for (at, (setting, times)) in settings.chain(more).enumerate() {
        let is_over = count >= needed || started.elapsed() > BUDGET;
        if at >= SETTINGS.len() && is_over {
            break;
        }
        let times = if at >= SETTINGS.len() {
            times.min(needed - count)
        } else {
            times
        };
        let mut env = ready.env.clone();
        env.extend(
            setting
                .env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        for outcome in run_again(cx, &ready.code, &env, times, at + 1)? {
            count += 1;
            if expected.is_shown_by(&outcome) {
                return Ok(RunsAgain::Shows {
                    env,
                    outcome: Box::new(outcome),
                    of: count,
                });
            }
            if !is_as_before(&outcome) {
                return Ok(RunsAgain::Fails(Box::new(outcome), count));
            }
        }
    }
    let settings = SETTINGS.iter().map(|setting| setting.name.to_owned());
    let runs = CleanRuns {
        count,
        settings: settings.collect(),
    };
    let verb = if passes(first) { "pass" } else { "fail alike" };
    cx.decided(&format!(
        "{count} runs {verb}, with {}",
        runs.settings.join(", ")
    ));
    Ok(RunsAgain::Clean(runs))
}
