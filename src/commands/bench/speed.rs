//! `minrepro bench --speed`: times the scripts of a case cold and warm. Minimizes nothing.

use std::{path::Path, time::Duration};

use anyhow::anyhow;
use serde::Serialize;

use crate::{
    cli::{Exit, Failure, RunArgs},
    commands::session::Session,
    runner::{Outcome, Start},
    target::Target,
};

/// The number of pairs of runs; the fastest of each kind counts, since the rest is noise of the
/// machine.
const PAIRS: usize = 3;

/// The figures of one script.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Speed {
    pub(super) case: String,
    pub(super) script: String,
    /// Seconds in a fresh interpreter.
    pub(super) cold: f64,
    /// Seconds in a fork of a warm one.
    pub(super) warm: f64,
    /// The cold seconds divided by the warm ones.
    pub(super) faster: f64,
    /// The expectations that are not met; empty if all are.
    pub(super) faults: Vec<String>,
}

/// Times a script in turns in a fresh interpreter and in a fork. Anything that a run compiles is in
/// the session's cache for the next run of either kind.
pub(super) fn speed(case: &str, script: &Path, args: &RunArgs) -> Result<Speed, Failure> {
    let session = Session::start(&Target::Script(script.to_owned()), args)?;
    let timeout = session.subject.timeout(Duration::from_secs(15));
    let (mut cold, mut warm) = (Duration::MAX, Duration::MAX);
    let mut faults = Vec::new();
    session.subject.run_from(Start::Recorded, timeout)?;
    // The first run of each kind fills caches: the zygote's and the session's.
    for _ in 0..=PAIRS {
        let (fresh, forked) = (
            session.subject.run_from(Start::Cold, timeout)?,
            session.subject.run_from(Start::Warm, timeout)?,
        );
        (cold, warm) = (
            cold.min(fresh.timing.alone()),
            warm.min(forked.timing.alone()),
        );
        let (plain, said) = (ended(&fresh), ended(&forked));
        if plain != said && faults.is_empty() {
            faults.push(format!("{said} forked instead of {plain}"));
        }
    }
    faults.extend(
        session
            .subject
            .runner
            .why_cold()
            .map(|reason| format!("it cannot be forked: {reason}")),
    );
    let (cold, warm) = (cold.as_secs_f64(), warm.as_secs_f64());
    let script = script
        .file_name()
        .ok_or_else(|| Failure::new(Exit::Usage, anyhow!("no script")))?;
    Ok(Speed {
        case: case.to_owned(),
        script: script.to_string_lossy().into_owned(),
        cold,
        warm,
        faster: cold / warm.max(1e-6),
        faults,
    })
}

/// How a run ended. Only the first line of a message counts: others hold paths that differ from run
/// to run.
fn ended(outcome: &Outcome) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let error = outcome
        .exception
        .as_ref()
        .map(|exception| format!(" {}: {}", exception.class, first(&exception.message)));
    format!("{:?}{}", outcome.end, error.unwrap_or_default())
}

impl Speed {
    pub(super) fn header() -> String {
        format!(
            "{:24} {:10} {:>7} {:>7} {:>7}\n",
            "case", "script", "cold", "warm", "faster"
        )
    }

    pub(super) fn line(&self) -> String {
        let Self {
            case,
            script,
            cold,
            warm,
            faster,
            faults,
        } = self;
        let short = if faults.is_empty() {
            ""
        } else {
            "  FALLS SHORT"
        };
        format!("{case:24} {script:10} {cold:>7.2} {warm:>7.3} {faster:>7.1}{short}\n")
    }
}
