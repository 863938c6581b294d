//! Tries seeds for a bug that does not show each time: if it shows each time under one, all runs
//! get that, and the reduction is that of a sure bug. Called by the session when the script's own
//! runs differ.

use minrepro_reducers::{
    syntax::Program,
    torch::{ablation as conditions, seeds::seeded},
};

use super::session::Session;
use crate::{
    oracle::{Baseline, Seed, Signature, Spec},
    runner::{Outcome, RunError},
};

/// A script that shows its bug each time, and by what.
pub(super) struct Steady {
    pub(super) stabilizer: Seed,
    /// Its bytes, where they are not those of the script.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) baseline: Baseline,
}

/// Tries seeds for a script that shows its bug in this share of runs.
pub(super) fn steady(
    session: &Session,
    rate: f64,
    signature: Option<&Signature>,
    timeout: std::time::Duration,
) -> Result<Option<Steady>, RunError> {
    let Some(enough) = Seed::enough(rate) else {
        return Ok(None);
    };
    let Ok(program) = Program::read(&session.bytes) else {
        return Ok(None);
    };
    let shows = |outcome: &Outcome| match signature {
        Some(signature) => signature.matches(outcome),
        None => Baseline::new(&session.specs, vec![outcome.clone()]).is_ok(),
    };
    for (stabilizer, bytes) in tried(session, &program) {
        session.set_variables(stabilizer.variable().into_iter().collect());
        let text = bytes.as_deref().unwrap_or(&session.bytes);
        let mut outcomes = Vec::new();
        // Most seeds show at once that they do not help.
        for more in [1, 2, enough - 3] {
            let found = session.run_times(text, more, timeout)?;
            let missed = found.iter().any(|it| !shows(it));
            outcomes.extend(found);
            if missed {
                break;
            }
        }
        if outcomes.len() == enough
            && outcomes.iter().all(shows)
            && let Ok(baseline) = Baseline::new(&session.specs, outcomes)
        {
            return Ok(Some(Steady {
                stabilizer,
                bytes,
                baseline,
            }));
        }
    }
    session.set_variables(Vec::new());
    Ok(None)
}

/// What is tried, with the bytes that it makes of the script: first what leaves that as it is.
fn tried(session: &Session, program: &Program) -> Vec<(Seed, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    let env = session.env();
    let of_user = env
        .iter()
        .find(|(name, _)| name == "PYTHONHASHSEED")
        .map(|(_, value)| value);
    if of_user.is_none_or(|it| it == "random") && conditions::minds_hashes(program) {
        all.extend(Seed::TRIED.map(|seed| (Seed::Hash(seed), None)));
    }
    for seed in Seed::TRIED {
        let Some((text, calls)) = seeded(program, seed) else {
            continue;
        };
        let bytes = program
            .sibling(text.as_str())
            .ok()
            .and_then(|it| it.encode());
        all.extend(bytes.map(|bytes| (Seed::Calls(seed, calls), Some(bytes))));
    }
    all
}

/// Applies again what an earlier session found.
pub(super) fn again(session: &Session, stabilizer: &Seed) -> Option<Vec<u8>> {
    session.set_variables(stabilizer.variable().into_iter().collect());
    match stabilizer {
        Seed::Hash(_) => None,
        Seed::Calls(seed, _) => {
            let program = Program::read(&session.bytes).ok()?;
            let (text, _) = seeded(&program, *seed)?;
            program.sibling(text.as_str()).ok()?.encode()
        }
    }
}

/// Whether runs that do not show the bug at all may show it under a seed: only where the user says
/// what to look for.
pub(super) fn may_help_what_never_shows(session: &Session) -> bool {
    !session.specs.is_empty() && !session.specs.iter().any(Spec::is_hang)
}
