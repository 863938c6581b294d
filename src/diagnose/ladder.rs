//! The ladder: the script with less and less of the compiler, and with other settings of it. Each
//! rung is run once. Called by the diagnosis.

use std::{sync::Arc, time::Duration};

use minrepro_reducers::{
    syntax::Program,
    torch::{
        control::{Control, Without},
        environment::{
            COMPILER_OFF, CompilerRank, compiled_by_setting, compiled_with, exported_by_setting,
        },
    },
};
use serde::Serialize;

use crate::{
    oracle::{Signature, summary},
    runner::{End, Job, Outcome, RunError, Runner},
};

/// The change of a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RungKind {
    /// The compiler goes as far as this backend.
    Backend(#[schemars(with = "String")] CompilerRank),
    /// Sizes are dynamic, or static.
    Dynamic(bool),
    /// Graph breaks are errors.
    FullGraph,
    /// Dynamo traces the exported function, or Python runs it.
    Strict(bool),
    /// The exported function is called instead.
    NotExported,
}

/// The outcome of a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RungOutcome {
    /// The bug shows.
    Shows,
    /// The script succeeds.
    Passes,
    /// The script fails in another way.
    FailsOtherwise,
}

/// A rung that was run.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Rung {
    /// Its change.
    pub kind: RungKind,
    /// Its name for people.
    pub name: String,
    /// Its outcome.
    pub outcome: RungOutcome,
    /// The end of the run in one line.
    pub seen: String,
}

/// Runs all rungs of a script that shows the bug `signature`.
pub(super) fn climb(
    runner: &Runner,
    program: &Program,
    signature: &Signature,
    timeout: Duration,
) -> Result<Vec<Rung>, RunError> {
    let rungs = rungs(program);
    let jobs: Vec<Job> = rungs
        .iter()
        .map(|(kind, _, text)| {
            let off = *kind == RungKind::Backend(CompilerRank::None);
            let (name, value) = COMPILER_OFF;
            let off = off.then(|| (name.to_owned(), Some(value.to_owned())));
            Job {
                variables: off.into_iter().collect(),
                ..Job::new(Arc::from(text.as_slice()), timeout)
            }
        })
        .collect();
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    // Without a part of the compiler the way to the failure differs, so the words count alone.
    let words = Signature {
        loose: true,
        ..signature.clone()
    };
    Ok(rungs
        .into_iter()
        .zip(outcomes)
        .map(|((kind, name, _), outcome)| Rung {
            kind,
            name,
            outcome: outcome_of(&words, &outcome),
            seen: summary(&outcome),
        })
        .collect())
}

fn outcome_of(words: &Signature, outcome: &Outcome) -> RungOutcome {
    if words.matches(outcome) {
        RungOutcome::Shows
    } else if outcome.end == End::Exit(0) {
        RungOutcome::Passes
    } else {
        RungOutcome::FailsOtherwise
    }
}

/// The rungs that apply to a script: the change, the name and the bytes of each.
fn rungs(program: &Program) -> Vec<(RungKind, String, Vec<u8>)> {
    let bytes = |text: String| {
        let program = program.sibling(text).ok()?;
        program.encode()
    };
    let mut found = Vec::new();
    let mut add = |kind, name: &str, text: Option<String>| {
        if let Some(bytes) = text.and_then(bytes) {
            found.push((kind, name.to_owned(), bytes));
        }
    };
    let text = program.text().to_owned();
    add(
        RungKind::Backend(CompilerRank::None),
        "without the compiler",
        Some(text.clone()),
    );
    for rank in CompilerRank::ALL.into_iter().skip(1) {
        // A script whose compilations have no backend to name is the same on all rungs.
        let changed = compiled_with(program, rank);
        let is_compiled = compiled_by_setting(program, "backend=\"none\"").is_some();
        let changed = changed.filter(|_| is_compiled);
        add(
            RungKind::Backend(rank),
            &format!("backend {}", rank.backend()),
            changed,
        );
    }
    for (kind, setting) in [
        (RungKind::Dynamic(true), "dynamic=True"),
        (RungKind::Dynamic(false), "dynamic=False"),
        (RungKind::FullGraph, "fullgraph=True"),
    ] {
        add(kind, setting, compiled_by_setting(program, setting));
    }
    for (kind, setting) in [
        (RungKind::Strict(true), "strict=True"),
        (RungKind::Strict(false), "strict=False"),
    ] {
        add(kind, setting, exported_by_setting(program, setting));
    }
    if let Without::As(text) = Control::Export.without(program) {
        add(
            RungKind::NotExported,
            "called instead of exported",
            Some(text),
        );
    }
    found
}

/// The outcome of a rung, if there is one.
pub(super) fn of(rungs: &[Rung], kind: RungKind) -> Option<RungOutcome> {
    rungs
        .iter()
        .find(|rung| rung.kind == kind)
        .map(|rung| rung.outcome)
}

/// The lowest backend with which the bug shows.
pub(super) fn lowest(rungs: &[Rung]) -> Option<CompilerRank> {
    CompilerRank::ALL
        .into_iter()
        .find(|rank| of(rungs, RungKind::Backend(*rank)) == Some(RungOutcome::Shows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        rungs(&program).into_iter().map(|rung| rung.1).collect()
    }

    #[test]
    fn rungs_are_those_that_change_something() {
        assert_eq!(
            names("import torch\nf = torch.compile(g, dynamic=True)\n"),
            [
                "without the compiler",
                "backend eager",
                "backend aot_eager",
                "backend aot_eager_decomp_partition",
                "backend inductor",
                "dynamic=False",
                "fullgraph=True"
            ]
        );
        assert_eq!(
            names("import torch\ntorch.export.export(m, (x,))\n"),
            [
                "without the compiler",
                "strict=True",
                "strict=False",
                "called instead of exported"
            ]
        );
        assert_eq!(names("import torch\nf(x)\n"), ["without the compiler"]);
    }
}
