//! Finds the versions between which a bug appeared or was fixed: runs the script in installed
//! environments as the search asks. Versions that cannot run are skipped and reported.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::{
    issue::{failure::ReportedFailure, log::of_run},
    script_runner::{ScriptRunner, Trial},
    version_environments::VersionEnvironment,
    version_search::{VersionProbe, VersionSearch},
};
use crate::{
    cli::{Exit, Failure, Printer},
    oracle::{Spec, summary},
    runner::Outcome,
};

/// The result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct BisectAnswer {
    /// Each version with the result of its probe; none if it needed no probe.
    pub versions: Vec<(String, Option<VersionProbe>)>,
    /// The last version before the change, and the first after it.
    pub change: Option<(String, String)>,
    /// Whether the bug was fixed there; if not, it appeared.
    pub is_fixed: bool,
    /// The number of rounds.
    pub rounds: u32,
    /// The failure of the newest version that shows the bug.
    #[serde(skip)]
    pub failure: Option<ReportedFailure>,
}

impl BisectAnswer {
    /// The version next to the change in which the script passes.
    pub fn passing(&self) -> Option<&str> {
        let (before, after) = self.change.as_ref()?;
        Some(if self.is_fixed { after } else { before })
    }

    /// A summary in one sentence.
    pub fn describe(&self) -> String {
        let of = |is_wanted: fn(&VersionProbe) -> bool| -> Vec<&str> {
            self.versions
                .iter()
                .filter(|(_, probe)| probe.as_ref().is_some_and(is_wanted))
                .map(|(version, _)| version.as_str())
                .collect()
        };
        let notes: Vec<String> = [
            (
                "fails in another way",
                of(|probe| matches!(probe, VersionProbe::Other(_))),
            ),
            (
                "skipped",
                of(|probe| matches!(probe, VersionProbe::Broken(_))),
            ),
        ]
        .into_iter()
        .filter(|(_, versions)| !versions.is_empty())
        .map(|(what, versions)| format!("{what}: {}", versions.join(", ")))
        .collect();
        let skipped = if notes.is_empty() {
            String::new()
        } else {
            format!(" ({})", notes.join("; "))
        };
        match &self.change {
            Some((before, after)) if self.is_fixed => {
                format!("fixed between {before} and {after}{skipped}")
            }
            Some((before, after)) => format!("broken between {before} and {after}{skipped}"),
            None if self
                .versions
                .iter()
                .any(|(_, probe)| matches!(probe, Some(VersionProbe::Shows(_)))) =>
            {
                format!("every version that was tried shows the bug{skipped}")
            }
            None if self
                .versions
                .iter()
                .any(|(_, probe)| matches!(probe, Some(VersionProbe::Gone(_)))) =>
            {
                format!("no version that was tried shows the bug{skipped}")
            }
            None => format!("no version gave an answer{skipped}"),
        }
    }
}

/// The parameters of a search.
pub struct BisectQuestion<'a> {
    /// The script.
    pub code: &'a str,
    /// Its environment variables.
    pub env: &'a [(String, String)],
    /// The signature of the bug.
    pub specs: &'a [Spec],
    /// Probes at a time.
    pub at_once: usize,
    /// The time limit of each probe.
    pub timeout: Duration,
    /// Runs of each version.
    pub times: usize,
    /// The first line of an error that counts as a cure: a crash became it.
    pub cure: Option<String>,
}

/// Searches the environments.
pub fn search(
    question: &BisectQuestion<'_>,
    environments: &[VersionEnvironment],
    runner: &dyn ScriptRunner,
    printer: Printer,
) -> Result<BisectAnswer, Failure> {
    let mut search = VersionSearch::new(environments.len());
    let mut failures = BTreeMap::new();
    loop {
        let next = search.next(question.at_once);
        if next.is_empty() {
            break;
        }
        let names: Vec<&str> = next
            .iter()
            .map(|&at| environments[at].version.as_str())
            .collect();
        printer.note(format!(
            "     round {}: {}",
            search.rounds + 1,
            names.join(", ")
        ));
        let mut found = Vec::new();
        for (at, outcomes) in probe(question, environments, &next, runner) {
            let probe = match outcomes {
                Ok(outcomes) => {
                    let failure = outcomes.iter().find_map(of_run);
                    failures.extend(failure.map(|failure| (at, failure)));
                    judge(&outcomes, question)
                }
                Err(failure) if matches!(failure.exit, Exit::Interrupted(_)) => {
                    return Err(failure);
                }
                Err(failure) => VersionProbe::Broken(failure.error.to_string()),
            };
            let (mark, seen) = match &probe {
                VersionProbe::Shows(seen) => ("shows the bug", seen),
                VersionProbe::Gone(seen) => ("passes", seen),
                VersionProbe::Other(seen) => ("fails in another way", seen),
                VersionProbe::Broken(seen) => ("gives no answer", seen),
            };
            printer.note(format!(
                "       {:<16} {mark}: {seen}",
                environments[at].version
            ));
            found.push((at, probe));
        }
        search.learn(found);
    }
    let change = search.change();
    if let Some((before, after)) = change
        && search.probes[before..after].iter().any(|probe| {
            matches!(
                probe,
                Some(VersionProbe::Other(_) | VersionProbe::Broken(_))
            )
        })
    {
        printer.note("     a version without an answer may show the bug in other words; a `--signature` that matches both narrows the range");
    }
    let version = |at: usize| environments[at].version.clone();
    let newest = (0..environments.len())
        .rev()
        .find(|&at| search.shows(at) == Some(true));
    Ok(BisectAnswer {
        is_fixed: change.is_some_and(|(before, _)| search.shows(before) == Some(true)),
        change: change.map(|(before, after)| (version(before), version(after))),
        versions: environments
            .iter()
            .map(|environment| environment.version.clone())
            .zip(search.probes)
            .collect(),
        rounds: search.rounds,
        failure: newest.and_then(|at| failures.remove(&at)),
    })
}

/// Runs the script in these versions.
fn probe(
    question: &BisectQuestion<'_>,
    environments: &[VersionEnvironment],
    places: &[usize],
    runner: &dyn ScriptRunner,
) -> Vec<(usize, Result<Vec<Outcome>, Failure>)> {
    let trial = |&at: &usize| Trial {
        python: Some(environments[at].python.clone()),
        code: question.code.to_owned(),
        env: question
            .env
            .iter()
            .chain(&environments[at].env)
            .cloned()
            .collect(),
        times: question.times,
        timeout: question.timeout,
    };
    let trials: Vec<Trial> = places.iter().map(trial).collect();
    places.iter().copied().zip(runner.run(&trials)).collect()
}

/// Judges the runs of a version, of which one that shows the bug suffices. A script that fails in
/// another way leaves open whether the bug is there.
fn judge(outcomes: &[Outcome], question: &BisectQuestion<'_>) -> VersionProbe {
    let is_shown = |outcome: &&Outcome| {
        let outcomes = std::slice::from_ref(*outcome);
        let specs = question.specs;
        !specs.is_empty() && specs.iter().all(|spec| spec.resolve(outcomes).1 == 1)
    };
    let same = outcomes.iter().filter(is_shown).count();
    if let Some(shown) = outcomes.iter().find(is_shown) {
        let seen = summary(shown);
        return VersionProbe::Shows(if same == outcomes.len() {
            seen
        } else {
            format!("{seen} ({same} of {} runs)", outcomes.len())
        });
    }
    let is_clean = |outcome: &&Outcome| match &outcome.exception {
        None => outcome.end == crate::runner::End::Exit(0),
        Some(exception) => question.cure.as_ref().is_some_and(|cure| {
            outcome.end == crate::runner::End::Exit(1)
                && exception.short_class() == cure.split(':').next().unwrap_or_default()
        }),
    };
    let Some(other) = outcomes.iter().find(|outcome| !is_clean(outcome)) else {
        return VersionProbe::Gone(outcomes.first().map(summary).unwrap_or_default());
    };
    let does_not_run = other.exception.as_ref().is_none_or(|exception| {
        matches!(
            exception.short_class(),
            "ImportError" | "ModuleNotFoundError" | "SyntaxError" | "IndentationError" | "OSError"
        )
    });
    let seen = summary(other);
    if does_not_run {
        VersionProbe::Broken(seen)
    } else {
        VersionProbe::Other(seen)
    }
}
