//! Step 5: finds out whether the bug still reproduces. Runs the original script, then a repaired
//! one, then one with changes that turn the bug into a failure. Distinguishes crashes, hangs and
//! nondeterministic bugs.

use minrepro_reducers::{syntax::Program, torch::seeds::seeded};

use super::{
    ScrubContext, ScrubEnd, Step, Tested,
    analyze::{Ready, adaptation},
};
use crate::{
    cli::{Exit, Failure},
    oracle::{Spec, derive, summary},
    runner::{End as RunEnd, Exception, Outcome},
    scrub::{
        issue::{analyze, reported::ReportedFailure},
        repair::REPAIRS,
        script_runner::Trial,
    },
    text::first_line,
};

/// The number of runs of a script that showed the bug once.
const RUNS: usize = 3;
/// The number of runs of a script that shows the bug only sometimes.
const RUNS_IF_FLAKY: usize = 5;
/// The most repairs that one script may need.
const REPAIRS_AT_MOST: usize = 8;

/// The result of the step.
pub(in crate::scrub) enum Reproduced {
    /// The bug shows.
    Same(Reproduction),
    /// The script passes.
    Passes(Reproduction),
}

/// A script, its environment and the signature of its bug.
pub(in crate::scrub) struct Reproduction {
    pub(in crate::scrub) code: String,
    pub(in crate::scrub) env: Vec<(String, String)>,
    pub(in crate::scrub) signature: Vec<String>,
    /// Whether every run shows the bug.
    pub(in crate::scrub) is_steady: bool,
}

/// The failure that a run must show.
struct ExpectedBug {
    what: Option<ReportedFailure>,
    specs: Vec<Spec>,
    typed: Vec<String>,
}

/// Runs the script.
pub(in crate::scrub) fn reproduce(
    cx: &mut ScrubContext<'_>,
    ready: Ready,
) -> Result<Step<Reproduced>, Failure> {
    cx.step("5", "does it still reproduce?");
    let with_version = version(cx)?;
    cx.decided(&format!("with {with_version}"));
    let mut expected = expected(cx)?;
    let Ready { mut code, env } = ready;
    let mut outcome = once(cx, &code, &env)?;
    for _ in 0..REPAIRS_AT_MOST {
        if shows(&expected, &outcome) {
            break;
        }
        let Some((fixed, what)) = repaired(&code, &outcome) else {
            break;
        };
        adaptation(cx, &what);
        code = fixed;
        outcome = once(cx, &code, &env)?;
    }
    if !shows(&expected, &outcome) {
        for (changed, what) in [
            (
                with(&code, analyze::with_assertions)
                    .filter(|_| matches!(expected.what, Some(ReportedFailure::WrongResult))),
                "added an assertion of the printed comparison, which the issue expects to be true",
            ),
            (
                with(&code, analyze::with_resets),
                "added `torch._dynamo.reset()` between compilations",
            ),
        ] {
            let Some(changed) = changed else { continue };
            let other = once(cx, &changed, &env)?;
            let is_better = shows(&expected, &other)
                || (matches!(expected.what, Some(ReportedFailure::WrongResult))
                    && is_assertion(&other));
            if is_better {
                adaptation(cx, what);
                (code, outcome) = (changed, other);
                break;
            }
        }
    }
    if matches!(expected.what, Some(ReportedFailure::WrongResult)) && expected.specs.is_empty() {
        // An assertion of the script is a signature; output that only a person can judge is none.
        if is_assertion(&outcome) {
            derive_signature(&mut expected, &outcome)?;
        } else if outcome.end == RunEnd::Exit(0)
            && outcome.exception.is_none()
            && with(&code, analyze::with_assertions).is_none()
            && !code.contains("assert")
        {
            cx.found.ran_with = Some(tested(with_version, 0, 1, &outcome));
            cx.found.next = Some(
                "check what the script prints; if it is wrong, name it: `--signature \"stdout:TEXT\"`"
                    .to_owned(),
            );
            return Ok(Step::End(
                ScrubEnd::NeedsRepro,
                "the script only prints, and nothing shows whether its output is right".to_owned(),
            ));
        }
    }
    if expected.what.is_none() && expected.specs.is_empty() && !passes(&outcome) {
        // Without an issue, the failure of the script is the bug.
        derive_signature(&mut expected, &outcome)?;
    }
    if shows(&expected, &outcome) {
        let showing = settle(cx, &expected, code, env, with_version, &outcome)?;
        return Ok(Step::Next(Reproduced::Same(showing)));
    }
    not_shown(cx, &expected, Ready { code, env }, with_version, &outcome)
}

fn not_shown(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    ready: Ready,
    version: String,
    outcome: &Outcome,
) -> Result<Step<Reproduced>, Failure> {
    let seen = summary(outcome);
    cx.found.ran_with = Some(tested(version, 0, 1, outcome));
    if passes(outcome) {
        cx.decided("the script passes");
        let signature = expected.typed.clone();
        return Ok(Step::Next(Reproduced::Passes(Reproduction {
            code: ready.code,
            env: ready.env,
            signature,
            is_steady: true,
        })));
    }
    if outcome.end == RunEnd::Timeout {
        cx.decided(&format!(
            "the script did not end within {} s; if the hang is the bug, use `--signature timeout`, else a longer `--timeout`",
            cx.settings.timeout.as_secs()
        ));
    }
    cx.decided(&format!("the script fails in another way: {seen}"));
    let mut env = ready.env;
    env.push(("TORCH_LOGS".to_owned(), "+dynamo".to_owned()));
    let logged = run(cx, &ready.code, &env, 1)?;
    if let Some(outcome) = logged.first() {
        let file = cx.file(&format!("repro_{}_dynamo.log", cx.name()));
        let log = outcome.stderr.text();
        if crate::report::write_atomically(&file, log.as_bytes()).is_ok() {
            cx.decided(&format!(
                "the log of a run with TORCH_LOGS=+dynamo is in {}",
                file.display()
            ));
        }
    }
    cx.found.next = Some(
        "if it is the same bug with another message, name it by `--signature`; otherwise adapt the script"
            .to_owned(),
    );
    let wanted = expected
        .what
        .as_ref()
        .map_or_else(|| expected.typed.join(" and "), ReportedFailure::describe);
    Ok(Step::End(
        ScrubEnd::DifferentError,
        format!("expected {wanted}; seen {seen}"),
    ))
}

/// Repeats the run to find out whether every run shows the bug.
fn settle(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    mut code: String,
    env: Vec<(String, String)>,
    version: String,
    first: &Outcome,
) -> Result<Reproduction, Failure> {
    if first.end == RunEnd::Timeout {
        // A second hang would show nothing new.
        let limit = cx.settings.timeout.as_secs();
        cx.decided(&format!(
            "the script does not end within {limit} s, which is the reported bug"
        ));
        cx.found.ran_with = Some(tested(version, 1, 1, first));
        return Ok(Reproduction {
            code,
            env,
            signature: expected.typed.clone(),
            is_steady: true,
        });
    }
    let count = |outcomes: &[Outcome]| {
        outcomes
            .iter()
            .filter(|outcome| shows(expected, outcome))
            .count()
    };
    let mut outcomes = run(cx, &code, &env, RUNS)?;
    let mut same = count(&outcomes);
    if same < outcomes.len() {
        outcomes = run(cx, &code, &env, RUNS_IF_FLAKY)?;
        same = count(&outcomes);
        if same < outcomes.len()
            && let Ok(program) = Program::parse(code.as_str())
            && let Some((seeded, calls)) = seeded(&program, 0)
        {
            let with_seed = run(cx, &seeded, &env, RUNS)?;
            if count(&with_seed) == with_seed.len() {
                adaptation(
                    cx,
                    &format!("added `{calls}`, since not every run shows the bug"),
                );
                (code, outcomes, same) = (seeded, with_seed, RUNS);
            }
        }
    }
    let of = outcomes.len();
    let shown = outcomes
        .iter()
        .find(|outcome| shows(expected, outcome))
        .unwrap_or(first);
    cx.decided(&format!(
        "the bug reproduces in {same} of {of} runs: {}",
        summary(shown)
    ));
    cx.found.ran_with = Some(tested(version, same, of, shown));
    Ok(Reproduction {
        code,
        env,
        signature: expected.typed.clone(),
        is_steady: same == of,
    })
}

fn tested(version: String, same: usize, of: usize, outcome: &Outcome) -> Tested {
    Tested {
        with: version,
        same,
        of,
        seen: summary(outcome),
    }
}

fn run(
    cx: &mut ScrubContext<'_>,
    code: &str,
    env: &[(String, String)],
    times: usize,
) -> Result<Vec<Outcome>, Failure> {
    let timeout = cx.settings.timeout;
    cx.run(Trial {
        python: None,
        code: code.to_owned(),
        env: env.to_vec(),
        times,
        timeout,
    })
}

fn once(
    cx: &mut ScrubContext<'_>,
    code: &str,
    env: &[(String, String)],
) -> Result<Outcome, Failure> {
    run(cx, code, env, 1)?
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new(Exit::Bug, anyhow::anyhow!("a run has no outcome")))
}

/// The signature of the user, or else the reported failure.
fn expected(cx: &ScrubContext<'_>) -> Result<ExpectedBug, Failure> {
    let what = cx
        .found
        .reported
        .as_ref()
        .map(|reported| reported.what.clone());
    let mut typed = cx.settings.signature.clone();
    if typed.is_empty() {
        typed.extend(what.as_ref().and_then(ReportedFailure::signature));
    }
    let specs = typed
        .iter()
        .map(|text| Spec::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| {
            let hint = error.hint;
            Failure::new(Exit::Usage, error).hint(hint)
        })?;
    Ok(ExpectedBug { what, specs, typed })
}

fn shows(expected: &ExpectedBug, outcome: &Outcome) -> bool {
    let outcomes = std::slice::from_ref(outcome);
    !expected.specs.is_empty()
        && expected
            .specs
            .iter()
            .all(|spec| spec.resolve(outcomes).1 == 1)
}

fn passes(outcome: &Outcome) -> bool {
    outcome.end == RunEnd::Exit(0) && outcome.exception.is_none()
}

fn is_assertion(outcome: &Outcome) -> bool {
    outcome
        .exception
        .as_ref()
        .is_some_and(|exception| exception.short_class() == "AssertionError")
}

/// Derives the signature from a run.
fn derive_signature(expected: &mut ExpectedBug, outcome: &Outcome) -> Result<(), Failure> {
    match derive(std::slice::from_ref(outcome)) {
        Ok(signature) => {
            expected.typed = signature.to_arguments();
            expected.specs = expected
                .typed
                .iter()
                .filter_map(|text| Spec::parse(text).ok())
                .collect();
            Ok(())
        }
        Err(error) => Err(Failure::new(
            Exit::NotReproduced,
            anyhow::anyhow!("could not derive a signature of the bug: {error}"),
        )
        .hint("name the signature: `--signature \"stdout:TEXT\"`")),
    }
}

fn with(code: &str, change: fn(&Program) -> Option<String>) -> Option<String> {
    change(&Program::parse(code).ok()?)
}

fn repaired(code: &str, outcome: &Outcome) -> Option<(String, String)> {
    let exception = outcome.exception.as_ref()?;
    let program = Program::parse(code).ok()?;
    REPAIRS.iter().find_map(|repair| {
        Some((
            repair.repair(&program, exception)?,
            format!(
                "{} ({}, on `{}`)",
                repair.what,
                repair.name,
                headline(exception)
            ),
        ))
    })
}

/// The class and the first line of the message.
fn headline(exception: &Exception) -> String {
    let message = first_line(&exception.message);
    format!("{}: {message}", exception.short_class())
}

/// `PyTorch 2.9.1`, or `Python 3.12.1` where there is none.
fn version(cx: &mut ScrubContext<'_>) -> Result<String, Failure> {
    let output = cx.ask_python(
        "import importlib.util, platform\nif importlib.util.find_spec('torch'):\n    import torch\n    print('with PyTorch', torch.__version__)\nelse:\n    print('with Python', platform.python_version())\n",
    )?;
    let line = output.lines().find_map(|line| line.strip_prefix("with "));
    // An interpreter that cannot print its version cannot import torch.
    Ok(line
        .unwrap_or("a PyTorch that cannot be imported")
        .to_owned())
}
