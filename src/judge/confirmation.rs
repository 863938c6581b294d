//! The last runs of a result: in fresh interpreters, and, if it compiles, once without cached
//! compiled code.

use std::{sync::Arc, time::Duration};

use minrepro_reducers::{
    cost::Cost,
    syntax::Program,
    torch::{environment::CompilerRank, variables::NO_CACHES},
};
use serde::{Deserialize, Serialize};

use super::{probe::Probe, repetition::repeated};
use crate::{
    oracle::SequentialTest,
    runner::{Job, RunError},
};

/// How often the script is run before, and the result after, the reduction.
pub const CONFIRMING_RUNS: usize = 3;

/// The last runs of the result.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Confirmed {
    /// Runs that showed the bug.
    pub same: usize,
    /// All runs.
    pub of: usize,
    /// Whether these are enough of them, for a bug that does not show each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub enough: bool,
}

impl Confirmed {
    /// Whether every run showed the bug, and there was one; or enough of them did.
    pub fn is_certain(self) -> bool {
        self.of > 0 && (self.same == self.of || self.enough)
    }
}

/// Runs a result in fresh interpreters, except for runs that `already` showed the bug. Also returns
/// its place of failure, if it fails elsewhere in a library than the script.
///
/// # Errors
///
/// A run could not be made.
pub fn confirm(
    probe: &Probe<'_>,
    program: &Program,
    steadiness: Option<&SequentialTest>,
    already: usize,
) -> Result<(Confirmed, Option<String>), RunError> {
    // Each program is made of the script's own characters, so its encoding has them all.
    let bytes: Arc<[u8]> = program.encode().unwrap_or_default().into();
    if let Some(steadiness) = steadiness {
        let job = Job::new(bytes, probe.timeout);
        let found = repeated(probe, &[job], &steadiness.strict())?.remove(0);
        let enough = found.verdict.is_same();
        return Ok((
            Confirmed {
                same: found.same,
                of: found.of,
                enough,
            },
            None,
        ));
    }
    // Runs that showed the bug already are not repeated: a fresh interpreter each, they are as
    // good.
    let outcomes = probe.run(&last_runs(program, bytes, probe.timeout, already))?;
    let failed = outcomes
        .iter()
        .filter(|outcome| !probe.shows(outcome))
        .count();
    let elsewhere = outcomes
        .iter()
        .find_map(|outcome| probe.measure.mismatch(outcome));
    Ok((
        Confirmed {
            same: CONFIRMING_RUNS - failed,
            of: CONFIRMING_RUNS,
            enough: false,
        },
        elsewhere,
    ))
}

/// The runs of a result in fresh interpreters, except for runs that `already` showed the bug. If
/// the result compiles, the first run finds no code that another run has compiled, and no other run
/// replaces it.
pub(super) fn last_runs(
    program: &Program,
    bytes: Arc<[u8]>,
    timeout: Duration,
    already: usize,
) -> Vec<Job> {
    let mut jobs = vec![Job::new(bytes, timeout); CONFIRMING_RUNS];
    let compiles = Cost::of(program).environment.compiler > CompilerRank::Eager;
    if compiles {
        jobs[0].variables = NO_CACHES
            .iter()
            .map(|name| ((*name).to_owned(), Some("1".to_owned())))
            .collect();
    }
    // However many runs there were, the one without compiled code is made: a bug may live in a
    // graph that an earlier candidate left in the cache.
    jobs.truncate(
        CONFIRMING_RUNS
            .saturating_sub(already)
            .max(usize::from(compiles)),
    );
    jobs
}
