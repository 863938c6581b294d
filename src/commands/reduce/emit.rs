//! Writes the result as a test (`--emit-test`) after a run has shown that the test fails because of
//! the bug. Called by `reduce`.

use std::path::Path;

use minrepro_reducers::{
    cost::Cost,
    rewrite::test_body::Names,
    torch::{
        components::component_of,
        test_harness::{TestHarness, is_of_harness},
    },
};

use crate::{
    commands::{minimize::Minimized, session::Session},
    judge::Measure,
    oracle::summary,
    report::{Emitted, OurFiles, TestCase},
    runner::{Job, Outcome, RunError},
};

/// Why there is no test.
pub(super) enum Unwritten {
    /// Runs were stopped or could not be made.
    Stopped(RunError),
    /// In words.
    Because(String),
}

impl From<RunError> for Unwritten {
    fn from(error: RunError) -> Self {
        Self::Stopped(error)
    }
}

/// Writes the first form of the test that fails because of the bug; the form that people would
/// write is tried first.
pub(super) fn emit(
    session: &Session,
    minimized: &Minimized,
    path: &Path,
    ours: &OurFiles,
) -> Result<Emitted, Unwritten> {
    let Measure::Signature(signature) = &minimized.established.measure else {
        return Err(Unwritten::Because(
            "there is no signature to check the test against".to_owned(),
        ));
    };
    if !minimized.confirmed.is_certain() {
        return Err(Unwritten::Because("the result is not confirmed".to_owned()));
    }
    let program = &*minimized.reduction.program;
    let environment = Cost::of(program).environment;
    let env = session.subject.env();
    let mut test = TestCase {
        program,
        signature,
        env: &env,
        component: None,
    };
    let times = minimized.steadiness().map_or(1, |test| test.patience());
    let mut harness = TestHarness::of(program);
    let mut last = None;
    for names in [Names::Local, Names::Global] {
        let mut runs = 0;
        while runs < times {
            let text = test.render(harness, names);
            let job = Job::new(text.into_bytes().into(), minimized.established.timeout);
            let Some(outcome) = session
                .subject
                .runner
                .run_all(&[job], &mut |_, _| {})?
                .pop()
            else {
                break;
            };
            if let Some(fallback) = harness.fallback()
                && lacks_harness(&outcome)
            {
                harness = fallback;
                continue;
            }
            runs += 1;
            if signature.fails_test(&outcome) {
                test.component = component_of(program, environment, &files(&outcome));
                let text = test.render(harness, names);
                ours.write(path, text.as_bytes()).map_err(|error| {
                    Unwritten::Because(format!("could not write `{}`: {error}", path.display()))
                })?;
                return Ok(Emitted {
                    file: path.display().to_string(),
                    folder: test.component.map(|component| component.folder.to_owned()),
                    runs,
                });
            }
            last = Some(outcome);
        }
    }
    let seen = last
        .as_ref()
        .map_or_else(|| "it was not run".to_owned(), summary);
    Err(Unwritten::Because(format!(
        "the result behaves differently as the body of a test: {seen}"
    )))
}

/// The files in the traceback of an outcome, or else on the stack that it died with.
fn files(outcome: &Outcome) -> Vec<&str> {
    let frames = outcome
        .exception
        .as_ref()
        .map_or(&outcome.stack, |raised| &raised.frames);
    frames.iter().map(|frame| frame.file.as_str()).collect()
}

/// Whether a package that PyTorch's tests need is not installed.
fn lacks_harness(outcome: &Outcome) -> bool {
    outcome.exception.as_ref().is_some_and(|exception| {
        exception.short_class() == "ModuleNotFoundError"
            && exception
                .frames
                .iter()
                .any(|frame| is_of_harness(&frame.file))
    })
}
