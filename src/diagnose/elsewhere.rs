//! The script, and the test that was made of it, under other interpreters and builds: whether the
//! bug shows there. Runs them; the command starts the runners. Called by the command.

use std::{path::PathBuf, time::Duration};

use serde::Serialize;

use super::ReproducedFailure;
use crate::{
    oracle::{Signature, obstacle, summary},
    runner::{End, Job, Outcome, RunError, Runner},
};

/// How often each program is run where the bug shows each time.
const RUNS: usize = 3;

/// Another interpreter.
pub struct OtherBuild {
    /// The user's name for it.
    pub name: String,
    /// Its path.
    pub python: PathBuf,
    /// The interpreter and its PyTorch, in words.
    pub description: String,
    /// Its runner, or why it has none.
    pub runner: Result<Runner, String>,
}

/// What happened under another interpreter.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ElsewhereFinding {
    /// The user's name for it.
    pub name: String,
    /// Its path.
    pub python: String,
    /// The interpreter and its PyTorch, in words.
    pub build: String,
    /// The runs of the script.
    pub script: ElsewhereRuns,
    /// The runs of the test, if there is one.
    pub test: Option<ElsewhereRuns>,
}

/// The runs of a program under another interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ElsewhereRuns {
    /// What they show.
    pub outcome: ElsewhereOutcome,
    /// How many runs show that.
    pub shown: usize,
    /// How many runs were made.
    pub of: usize,
    /// The end of the first of them, or the reason for none, in one line.
    pub seen: String,
    /// How the failure differs from the bug, if its words are the same.
    pub difference: Option<String>,
}

/// What runs under another interpreter show; the first that any run shows counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElsewhereOutcome {
    /// It fails in the same way.
    Shows,
    /// It fails with the same words, but the traceback differs.
    SameWords,
    /// It fails in another way.
    FailsOtherwise,
    /// It succeeds.
    Passes,
    /// It cannot run there.
    CannotRun,
}

impl ElsewhereOutcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Shows => "fails in the same way",
            Self::SameWords => "fails with the same words, raised elsewhere",
            Self::FailsOtherwise => "fails in another way",
            Self::Passes => "passes",
            Self::CannotRun => "cannot run",
        }
    }
}

/// Runs the script, and its test if there is one, under each interpreter.
///
/// # Errors
///
/// A run could not be made.
pub fn elsewhere(
    script: &[u8],
    test: Option<&[u8]>,
    reproduced: &ReproducedFailure,
    builds: Vec<OtherBuild>,
) -> Result<Vec<ElsewhereFinding>, RunError> {
    let mut found = Vec::new();
    for build in builds {
        let runs = |program: &[u8], is_test| match &build.runner {
            Ok(runner) => runs(program, is_test, reproduced, runner),
            Err(reason) => Ok(ElsewhereRuns {
                outcome: ElsewhereOutcome::CannotRun,
                shown: 0,
                of: 0,
                seen: reason.clone(),
                difference: None,
            }),
        };
        found.push(ElsewhereFinding {
            script: runs(script, false)?,
            test: test.map(|test| runs(test, true)).transpose()?,
            python: build.python.display().to_string(),
            name: build.name,
            build: build.description,
        });
    }
    Ok(found)
}

/// The runs of one program.
fn runs(
    program: &[u8],
    is_test: bool,
    reproduced: &ReproducedFailure,
    runner: &Runner,
) -> Result<ElsewhereRuns, RunError> {
    let is_steady = reproduced.same == reproduced.outcomes.len();
    let times = if is_steady {
        RUNS
    } else {
        reproduced.outcomes.len()
    };
    // Another build may be slower, as one for debugging is.
    let timeout: Duration = reproduced.timeout * 2;
    let jobs = vec![Job::new(program.into(), timeout); times];
    let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
    Ok(decided(&reproduced.signature, is_test, &outcomes))
}

/// What the outcomes of a program show.
fn decided(signature: &Signature, is_test: bool, outcomes: &[Outcome]) -> ElsewhereRuns {
    let seen = outcomes
        .iter()
        .map(|outcome| (outcome_of(signature, is_test, outcome), outcome));
    let seen: Vec<_> = seen.collect();
    let first = seen.iter().min_by_key(|(what, _)| *what);
    let Some(&(outcome, first)) = first else {
        return ElsewhereRuns {
            outcome: ElsewhereOutcome::CannotRun,
            shown: 0,
            of: 0,
            seen: "nothing was run".to_owned(),
            difference: None,
        };
    };
    let is_same_words = outcome == ElsewhereOutcome::SameWords;
    ElsewhereRuns {
        outcome,
        shown: seen.iter().filter(|(what, _)| *what == outcome).count(),
        of: outcomes.len(),
        seen: summary(first),
        difference: is_same_words.then(|| signature.mismatch(first)).flatten(),
    }
}

fn outcome_of(signature: &Signature, is_test: bool, outcome: &Outcome) -> ElsewhereOutcome {
    let shows = |signature: &Signature| {
        if is_test {
            signature.fails_test(outcome)
        } else {
            signature.matches(outcome)
        }
    };
    let loose = Signature {
        loose: true,
        ..signature.clone()
    };
    // A script that another version cannot read or import says nothing of the bug.
    let is_foreign = outcome.exception.as_ref().is_some_and(|raised| {
        let class = raised.short_class();
        ["SyntaxError", "IndentationError", "ImportError"].contains(&class)
    });
    if shows(signature) {
        ElsewhereOutcome::Shows
    } else if shows(&loose) {
        ElsewhereOutcome::SameWords
    } else if outcome.end == End::Exit(0) {
        ElsewhereOutcome::Passes
    } else if is_foreign || obstacle(outcome).is_some() {
        ElsewhereOutcome::CannotRun
    } else {
        ElsewhereOutcome::FailsOtherwise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        oracle::{Baseline, Spec},
        runner::{Captured, Timing, traceback},
    };

    fn outcome(status: i32, stderr: &str) -> Outcome {
        Outcome {
            end: End::Exit(status),
            timing: Timing::default(),
            stdout: Captured::default(),
            stderr: Captured::whole(stderr),
            exception: traceback::parse(stderr),
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        }
    }

    fn raised(headline: &str) -> Outcome {
        let frames = "  File \"/w/x.py\", line 2, in <module>\n    f()";
        outcome(
            1,
            &format!("Traceback (most recent call last):\n{frames}\n{headline}\n"),
        )
    }

    #[test]
    fn runs_elsewhere_show_the_bug_or_say_why_not() {
        let specs = [Spec::parse("ValueError: bad scale").unwrap()];
        let baseline = Baseline::new(&specs, vec![raised("ValueError: bad scale")]);
        let signature = baseline.unwrap().signature;
        let of = |outcomes: &[Outcome]| {
            let found = decided(&signature, false, outcomes);
            (found.outcome, found.shown, found.of)
        };
        let passes = outcome(0, "");
        assert_eq!(
            of(&[passes.clone(), raised("ValueError: bad scale")]),
            (ElsewhereOutcome::Shows, 1, 2)
        );
        assert_eq!(
            of(&[passes.clone(), passes]),
            (ElsewhereOutcome::Passes, 2, 2)
        );
        assert_eq!(
            of(&[raised("KeyError: 'x'")]),
            (ElsewhereOutcome::FailsOtherwise, 1, 1)
        );
        for headline in [
            "ModuleNotFoundError: No module named 'torch'",
            "ImportError: cannot import name 'a' from 'torch'",
            "SyntaxError: invalid syntax",
        ] {
            assert_eq!(of(&[raised(headline)]), (ElsewhereOutcome::CannotRun, 1, 1));
        }
        assert_eq!(of(&[]), (ElsewhereOutcome::CannotRun, 0, 0));
    }
}
