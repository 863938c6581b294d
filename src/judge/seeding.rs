//! Tries seeds for a bug that does not show each time. If it shows each time under one, all runs
//! get that seed, and the bug is reduced as a steady one. Called by the baseline when the script's
//! own runs differ.

use std::{sync::Arc, time::Duration};

use minrepro_reducers::{
    syntax::Program,
    torch::{ablation as conditions, seeds::seeded},
};

use super::subject::Subject;
use crate::{
    oracle::{Baseline, Seed, Signature, Spec},
    runner::{Outcome, RunError},
};

/// A script with its random numbers seeded, and its bytes.
type Seeded = (Arc<Program>, Vec<u8>);

/// A script that shows its bug each time, and by what.
pub(super) struct Steady {
    pub(super) stabilizer: Seed,
    /// The script that is run, with its bytes, where that is not the one given.
    pub(super) seeded: Option<Seeded>,
    pub(super) baseline: Baseline,
}

/// Tries seeds for a script that shows its bug in this share of runs.
pub(super) fn steady(
    subject: &Subject,
    rate: f64,
    signature: Option<&Signature>,
    timeout: Duration,
) -> Result<Option<Steady>, RunError> {
    let Some(enough) = Seed::enough(rate) else {
        return Ok(None);
    };
    let shows = |outcome: &Outcome| match signature {
        Some(signature) => signature.matches(outcome),
        None => Baseline::new(&subject.settings.specs, vec![outcome.clone()]).is_ok(),
    };
    for (stabilizer, seeded) in tried(subject) {
        subject.set_variables(stabilizer.variable().into_iter().collect());
        let text = seeded.as_ref().map_or(&subject.bytes, |(_, bytes)| bytes);
        let mut outcomes = Vec::new();
        // Most seeds show at once that they do not help, so one run comes first; the others are
        // made together, since a seed that got so far will most likely need all of them.
        for more in [1, 2, enough - 3] {
            let found = subject.run_times(text, more, timeout)?;
            let missed = found.iter().any(|outcome| !shows(outcome));
            outcomes.extend(found);
            if missed {
                break;
            }
        }
        if outcomes.len() == enough
            && outcomes.iter().all(shows)
            && let Ok(baseline) = Baseline::new(&subject.settings.specs, outcomes)
        {
            return Ok(Some(Steady {
                stabilizer,
                seeded,
                baseline,
            }));
        }
    }
    subject.set_variables(Vec::new());
    Ok(None)
}

/// The seeds that are tried, with the script that each makes: first those that leave it as it is.
fn tried(subject: &Subject) -> Vec<(Seed, Option<Seeded>)> {
    let mut all = Vec::new();
    let env = subject.env();
    let of_user = env
        .iter()
        .find(|(name, _)| name == "PYTHONHASHSEED")
        .map(|(_, value)| value);
    // A seed of hashes that the user set is the user's word on it.
    let is_free = of_user.is_none_or(|value| value == "random");
    if is_free && conditions::minds_hashes(&subject.program) {
        all.extend(Seed::TRIED.map(|seed| (Seed::Hash(seed), None)));
    }
    for seed in Seed::TRIED {
        let Some((text, calls)) = seeded(&subject.program, seed) else {
            continue;
        };
        let found = program_of(subject, text);
        all.extend(found.map(|seeded| (Seed::Calls(seed, calls), Some(seeded))));
    }
    all
}

/// Applies again the seed that an earlier session found.
pub(super) fn again(subject: &Subject, stabilizer: &Seed) -> Option<Seeded> {
    subject.set_variables(stabilizer.variable().into_iter().collect());
    match stabilizer {
        Seed::Hash(_) => None,
        Seed::Calls(seed, _) => {
            let (text, _) = seeded(&subject.program, *seed)?;
            program_of(subject, text)
        }
    }
}

fn program_of(subject: &Subject, text: String) -> Option<Seeded> {
    let program = subject.program.sibling(text).ok()?;
    let bytes = program.encode()?;
    Some((Arc::new(program), bytes))
}

/// Whether a seed may help runs that do not show the bug at all: only if the user says what to look
/// for.
pub(super) fn may_help_what_never_shows(subject: &Subject) -> bool {
    !subject.settings.specs.is_empty() && !subject.settings.specs.iter().any(Spec::is_hang)
}
