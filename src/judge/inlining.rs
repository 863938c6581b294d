//! Inlines the modules that a script imports from beside it, and the packages that the user names,
//! before the script is judged and reduced. One traced run shows what was executed, and the joined
//! script must fail as the script did. Called by the commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use minrepro_reducers::{
    modules::{Joined, join, standard::packages_of},
    syntax::Program,
    trace::evidence::Evidence,
};

use serde::{Deserialize, Serialize};

use super::{
    probe::Probe,
    subject::{FIRST_TIMEOUT, Subject},
};
use crate::{
    oracle::{Baseline, Signature, summary},
    runner::{Exception, Job, Outcome, RunError, Runner, Start, TracebackFrame},
};

/// The outcome of inlining a script's modules.
#[derive(Clone, Debug, Default)]
pub struct Inlining {
    /// The script with modules inlined, and its bytes; none where nothing was inlined.
    pub script: Option<(Arc<Program>, Vec<u8>)>,
    /// The modules that it no longer imports.
    pub modules: Vec<String>,
    /// Those that could not be inlined, each with the reason.
    pub left: BTreeMap<String, String>,
}

/// Inlines the modules that traced runs look into, as far as the script shows the same bug with
/// them.
///
/// # Errors
///
/// A run could not be made.
pub fn inline(subject: &Subject) -> Result<Inlining, RunError> {
    let mut inlining = Inlining::default();
    // A test may not run the script by Python at all.
    if packages_of(&subject.program).is_empty() || subject.settings.test.is_some() {
        return Ok(inlining);
    }
    let timeout = subject.settings.timeout.unwrap_or(FIRST_TIMEOUT);
    let plain = Job::new(subject.bytes.as_slice().into(), timeout);
    let traced = Job {
        traced: true,
        ..plain.clone()
    };
    let outcomes = subject.runner.run_all(&[traced, plain], &mut |_, _| {})?;
    let evidence = outcomes
        .first()
        .and_then(|outcome| outcome.trace.as_deref());
    let Some(evidence) = evidence.and_then(|text| serde_json::from_str::<Evidence>(text).ok())
    else {
        return Ok(inlining);
    };
    if evidence.modules.is_empty() {
        return Ok(inlining);
    }
    let outcomes = outcomes
        .into_iter()
        .map(|outcome| as_one_file(outcome, &evidence.files));
    let outcomes: Vec<Outcome> = outcomes.collect();
    // Where the script does not show the bug, the baseline says so.
    let Ok(Baseline { signature, .. }) = Baseline::new(&subject.settings.specs, outcomes) else {
        return Ok(inlining);
    };
    for wanted in attempts(&evidence) {
        let joined = join(&subject.program, &evidence, &|name| {
            wanted.contains(top(name))
        });
        inlining.left.extend(joined.left.clone());
        let Some(script) = program_of(subject, &joined) else {
            continue;
        };
        let outcomes = subject.run_times(&script.1, 1, timeout)?;
        if outcomes.iter().any(|outcome| signature.matches(outcome)) {
            inlining.modules = joined.inlined;
            inlining.script = Some(script);
            break;
        }
        let reason = not_the_same(&signature, outcomes.first(), &joined.doubts);
        for module in joined.inlined {
            inlining
                .left
                .entry(module)
                .or_insert_with(|| reason.clone());
        }
    }
    for module in &inlining.modules {
        inlining.left.remove(module);
    }
    Ok(inlining)
}

/// How a result runs without the inlined modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Alone {
    /// It shows the bug in an empty folder.
    Empty,
    /// It shows the bug only beside other files of the script's folder, such as these.
    Beside(Vec<String>),
    /// It does not show the bug; this was the outcome instead.
    Not(String),
}

/// Runs a result once more where none of the inlined modules can be imported: by the first runner
/// in an empty folder, else by the second beside these other files.
///
/// # Errors
///
/// A run could not be made.
pub fn stands_alone(
    probe: &Probe<'_>,
    program: &Program,
    runners: [&Runner; 2],
    files: &[String],
) -> Result<Alone, RunError> {
    let bytes = program.encode().unwrap_or_default();
    let mut seen = String::new();
    for (runner, alone) in runners.into_iter().zip([
        Alone::Empty,
        Alone::Beside(
            files
                .iter()
                .filter(|name| program.text().contains(name.as_str()))
                .cloned()
                .collect(),
        ),
    ]) {
        let probe = Probe {
            runner,
            start: Start::Cold,
            ..*probe
        };
        for outcome in probe.run(&[probe.job(&bytes)])? {
            if probe.shows(&outcome) {
                return Ok(alone);
            }
            seen = summary(&outcome);
        }
    }
    Ok(Alone::Not(seen))
}

/// The packages that are inlined together, by attempts: all of them, then each by itself.
fn attempts(evidence: &Evidence) -> Vec<BTreeSet<&str>> {
    let all: BTreeSet<&str> = evidence
        .modules
        .iter()
        .map(|module| top(&module.name))
        .collect();
    let single = all.iter().filter(|_| all.len() > 1);
    let singles: Vec<BTreeSet<&str>> = single.map(|name| BTreeSet::from([*name])).collect();
    std::iter::once(all.clone()).chain(singles).collect()
}

fn top(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn program_of(subject: &Subject, joined: &Joined) -> Option<(Arc<Program>, Vec<u8>)> {
    if joined.inlined.is_empty() {
        return None;
    }
    let program = subject.program.sibling(joined.text.as_str()).ok()?;
    let bytes = program.encode()?;
    Some((Arc::new(program), bytes))
}

/// Why a joined script was not taken.
fn not_the_same(signature: &Signature, outcome: Option<&Outcome>, doubts: &[String]) -> String {
    let seen = outcome.map(summary).unwrap_or_default();
    let doubt = doubts.first().map(|doubt| format!(" ({doubt})"));
    format!(
        "inlined, the script does not show {signature} but {seen}{}",
        doubt.unwrap_or_default()
    )
}

/// A run as if all of these files, the first of which is the script, were one: failures in inlined
/// code are the script's own.
fn as_one_file(mut outcome: Outcome, files: &[String]) -> Outcome {
    if let Some(exception) = &mut outcome.exception {
        let script = exception.frames.first().map(|frame| frame.file.clone());
        if let Some(script) = script {
            exception_as_one_file(exception, &script, files);
        }
    }
    outcome
}

fn exception_as_one_file(exception: &mut Exception, script: &str, files: &[String]) {
    let folder = script.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_ours = |frame: &TracebackFrame| {
        let beside = frame
            .file
            .strip_prefix(folder)
            .map(|path| path.trim_start_matches('/'));
        let mut files = files.iter().skip(1);
        files.any(|file| frame.file == *file || beside == Some(file))
    };
    for frame in &mut exception.frames {
        if is_ours(frame) {
            script.clone_into(&mut frame.file);
        }
    }
    for inner in exception.chain.iter_mut().chain(&mut exception.members) {
        exception_as_one_file(inner, script, files);
    }
}
