//! Step 5: finds out whether the bug still reproduces. Runs the original script, then a repaired
//! one, then one with changes that turn the bug into a failure. Distinguishes crashes, hangs and
//! nondeterministic bugs.

use minrepro_reducers::{syntax::Program, torch::seeds::seeded};

use super::{
    ScrubContext, ScrubEnd, Step, Tested,
    analyze::{Ready, adaptation},
    clean::{CleanRuns, RunsAgain, repeat},
    expected::{ExpectedBug, derive_signature, expected, is_assertion, once, passes, run, shows},
};
use crate::{
    cli::Failure,
    oracle::{Obstacle, Seed, Spec, obstacle, summary},
    runner::{End as RunEnd, Exception, Outcome},
    scrub::{
        chance::{Chance, chance},
        doubts::{Doubt, DoubtKind},
        installed::Installed,
        issue::{analyze, failure::ReportedFailure, log::of_run},
        repair::REPAIRS,
    },
    text::{first_line, quoted},
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
    /// The script passes, as often as it was run.
    Passes(Reproduction),
    /// A reported crash is an error of the library today.
    FailsProperly(Reproduction),
}

/// A script, its environment and the signature of its bug.
pub(in crate::scrub) struct Reproduction {
    pub(in crate::scrub) code: String,
    pub(in crate::scrub) env: Vec<(String, String)>,
    pub(in crate::scrub) signature: Vec<String>,
    /// Whether every run shows the bug.
    pub(in crate::scrub) is_steady: bool,
}

/// Runs the script.
pub(in crate::scrub) fn reproduce(
    cx: &mut ScrubContext<'_>,
    ready: Ready,
) -> Result<Step<Reproduced>, Failure> {
    cx.step("5", "does it still reproduce?");
    let installed = cx.installed()?;
    cx.decided(&format!("with {}", installed.subject()));
    let mut expected = expected(cx)?;
    let Ready { mut code, env } = ready;
    let mut outcome = once(cx, &code, &env)?;
    accept_alike(cx, &mut expected, &outcome)?;
    for _ in 0..REPAIRS_AT_MOST {
        if shows(&expected, &outcome) {
            break;
        }
        let Some((fixed, what, alters)) = repaired(&code, &outcome) else {
            break;
        };
        adaptation(cx, &what);
        let doubt = alters.map(|kind| Doubt::new(kind, format!("the script was changed: {what}")));
        cx.found.doubts.extend(doubt);
        code = fixed;
        outcome = once(cx, &code, &env)?;
        accept_alike(cx, &mut expected, &outcome)?;
    }
    if !shows(&expected, &outcome)
        && let Some((changed, other)) = made_to_fail(cx, &expected, &code, &env)?
    {
        (code, outcome) = (changed, other);
    }
    accept_printed(cx, &mut expected, &code, &outcome);
    if expected.is_wrong_result() && expected.specs.is_empty() {
        // An assertion of the script is a signature; output that only a person can judge is none.
        if is_assertion(&outcome) {
            derive_signature(&mut expected, &outcome)?;
        } else if outcome.end == RunEnd::Exit(0)
            && outcome.exception.is_none()
            && with(&code, analyze::with_assertions).is_none()
            && !code.contains("assert")
        {
            cx.found.ran_with = Some(tested(&installed, 0, 1, &outcome));
            cx.found.next = Some(
                "check what the script prints; if it is wrong, name it: `--signature \
                 \"stdout:TEXT\"`"
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
    if cx
        .found
        .repro
        .as_ref()
        .is_some_and(|repro| repro.code.trim() != code.trim())
    {
        cx.found.adapted = Some(code.clone());
    }
    if shows(&expected, &outcome) {
        let showing = settle(cx, &expected, Ready { code, env }, &outcome, (0, 0))?;
        return Ok(Step::Next(Reproduced::Same(showing)));
    }
    not_shown(cx, &expected, Ready { code, env }, &outcome)
}

/// A script with a change that turns its bug into a failure, and a run of it.
fn made_to_fail(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    code: &str,
    env: &[(String, String)],
) -> Result<Option<(String, Outcome)>, Failure> {
    for (changed, what) in [
        (
            with(code, analyze::with_assertions).filter(|_| expected.is_wrong_result()),
            "added an assertion of the printed comparison, which the issue expects to be true",
        ),
        (
            with(code, analyze::with_resets),
            "added `torch._dynamo.reset()` between compilations",
        ),
    ] {
        let Some(changed) = changed else { continue };
        let other = once(cx, &changed, env)?;
        if expected.is_shown_by(&other) || (expected.is_wrong_result() && is_assertion(&other)) {
            adaptation(cx, what);
            return Ok(Some((changed, other)));
        }
    }
    Ok(None)
}

fn not_shown(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    ready: Ready,
    outcome: &Outcome,
) -> Result<Step<Reproduced>, Failure> {
    let installed = cx.installed()?;
    let is_proper = expected.is_crash() && is_proper_error(outcome);
    if passes(outcome) || is_proper {
        let seen = outcome.exception.as_ref().map(headline);
        let is_as_before = |other: &Outcome| {
            other.end == outcome.end && other.exception.as_ref().map(headline) == seen
        };
        let chance =
            Program::parse(ready.code.as_str()).map_or(Chance::None, |program| chance(&program));
        return Ok(
            match repeat(cx, expected, &ready, outcome, &chance, &is_as_before)? {
                RunsAgain::Clean(runs) => Step::Next(clean(cx, expected, ready, outcome, &runs)?),
                RunsAgain::Shows { env, outcome, of } => {
                    cx.decided(&format!("run {of} shows the bug after all"));
                    let code = ready.code;
                    let ready = Ready { code, env };
                    let showing = settle(cx, expected, ready, &outcome, (1, of))?;
                    Step::Next(Reproduced::Same(showing))
                }
                RunsAgain::Fails(other, of) => {
                    cx.found.ran_with = Some(tested(&installed, 0, of, &other));
                    cx.found.next = Some("find out why its runs differ".to_owned());
                    let why = format!(
                        "{} of {of} runs pass, and one fails in another way: {}",
                        of - 1,
                        summary(&other)
                    );
                    Step::End(ScrubEnd::Inconclusive, why)
                }
            },
        );
    }
    let seen = summary(outcome);
    cx.found.ran_with = Some(tested(&installed, 0, 1, outcome));
    if outcome.end == RunEnd::Timeout {
        cx.decided(&format!(
            "the script did not end within {} s; if the hang is the bug, use `--signature \
             timeout`, else a longer `--timeout`",
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
        "if it is the same bug with another message, name it by `--signature`; otherwise adapt \
         the script"
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

/// Takes a run's failure for the reported one if class and plain words are the same: names, sizes
/// and paths differ from machine to machine and from version to version.
fn accept_alike(
    cx: &ScrubContext<'_>,
    expected: &mut ExpectedBug,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let (Some(reported), Some(seen)) = (&expected.what, of_run(outcome)) else {
        return Ok(());
    };
    let is_named = !cx.settings.signature.is_empty();
    if is_named || shows(expected, outcome) || !reported.is_alike(&seen) {
        return Ok(());
    }
    cx.decided(&format!(
        "the message differs from the reported one only in details: {}",
        seen.describe()
    ));
    derive_signature(expected, outcome)
}

/// Takes the reported message in the output of a script that passes for the failure: the script
/// handles the exception and prints it.
fn accept_printed(
    cx: &ScrubContext<'_>,
    expected: &mut ExpectedBug,
    code: &str,
    outcome: &Outcome,
) {
    const LEAST: usize = 3;
    let Some(ReportedFailure::Exception { message, .. }) = &expected.what else {
        return;
    };
    let is_named = !cx.settings.signature.is_empty();
    if is_named || !passes(outcome) || code.contains(message.as_str()) {
        return;
    }
    let typed = expected
        .typed
        .first()
        .and_then(|text| text.split_once(": "));
    let Some((_, message)) = typed.filter(|(_, said)| said.split(' ').count() >= LEAST) else {
        return;
    };
    let printed = ["stdout", "stderr"].into_iter().find_map(|stream| {
        let text = format!("{stream}:{message}");
        let spec = Spec::parse(&text).ok()?;
        (spec.resolve(std::slice::from_ref(outcome)).1 == 1).then_some((text, spec))
    });
    if let Some((text, spec)) = printed {
        cx.decided("the script handles the exception itself and prints it");
        expected.typed = vec![text];
        expected.specs = vec![spec];
    }
}

/// The result for a script of which all runs were clean.
fn clean(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    ready: Ready,
    outcome: &Outcome,
    runs: &CleanRuns,
) -> Result<Reproduced, Failure> {
    let installed = cx.installed()?;
    let mut result = tested(&installed, 0, runs.count, outcome);
    result.settings.clone_from(&runs.settings);
    cx.found.ran_with = Some(result);
    let mut signature = expected.typed.clone();
    if signature.is_empty() && expected.is_wrong_result() {
        // The exception of a failed check of the script, in a version that has the bug.
        signature.push("AssertionError".to_owned());
    }
    let showing = Reproduction {
        code: ready.code,
        env: ready.env,
        signature,
        is_steady: true,
    };
    Ok(if passes(outcome) {
        Reproduced::Passes(showing)
    } else {
        Reproduced::FailsProperly(showing)
    })
}

/// Whether a run ends with an exception by which a library refuses its input, as opposed to one by
/// which a script notices that the library has changed.
fn is_proper_error(outcome: &Outcome) -> bool {
    let Some(exception) = &outcome.exception else {
        return false;
    };
    let is_of_set_up = matches!(
        exception.short_class(),
        "NameError"
            | "ImportError"
            | "ModuleNotFoundError"
            | "SyntaxError"
            | "IndentationError"
            | "AttributeError"
            | "AssertionError"
            | "KeyError"
            | "MemoryError"
            | "OutOfMemoryError"
            | "KeyboardInterrupt"
            | "SystemExit"
    ) || [
        "unexpected keyword",
        "positional argument",
        "list index",
        "object is not",
        "CUDA",
        "out of memory",
    ]
    .iter()
    .any(|part| exception.message.contains(part));
    matches!(outcome.end, RunEnd::Exit(1))
        && !is_of_set_up
        && !matches!(
            obstacle(outcome),
            Some(Obstacle::Forbidden(..) | Obstacle::Package(_) | Obstacle::File(_))
        )
}

/// Repeats the run to find out whether every run shows the bug. `earlier` counts runs that showed
/// it, and all runs, before the first.
fn settle(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    ready: Ready,
    first: &Outcome,
    earlier: (usize, usize),
) -> Result<Reproduction, Failure> {
    let installed = cx.installed()?;
    let Ready { mut code, mut env } = ready;
    if first.end == RunEnd::Timeout {
        // A second hang would show nothing new.
        let limit = cx.settings.timeout.as_secs();
        cx.decided(&format!(
            "the script does not end within {limit} s, which is the reported bug"
        ));
        cx.found.ran_with = Some(tested(&installed, 1, 1, first));
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
            .filter(|outcome| expected.is_shown_by(outcome))
            .count()
    };
    let mut outcomes = run(cx, &code, &env, RUNS)?;
    let (mut same, mut of) = (count(&outcomes), outcomes.len());
    if same < of || earlier.0 < earlier.1 {
        outcomes.extend(run(cx, &code, &env, RUNS_IF_FLAKY)?);
        (same, of) = (earlier.0 + count(&outcomes), earlier.1 + outcomes.len());
        cx.decided(&format!("it shows in {same} of {of} runs"));
        if let Some((seeded, added, what)) = steady(cx, expected, (&code, &env), (same, of))? {
            adaptation(cx, &what);
            (code, env) = (seeded, added);
            outcomes = run(cx, &code, &env, RUNS)?;
            (same, of) = (count(&outcomes), outcomes.len());
        }
    }
    let shown = outcomes
        .iter()
        .find(|outcome| expected.is_shown_by(outcome))
        .unwrap_or(first);
    cx.decided(&format!(
        "the bug reproduces in {same} of {of} runs: {}",
        summary(shown)
    ));
    cx.found.ran_with = Some(tested(&installed, same, of, shown));
    cx.found.launch = launch(&env);
    Ok(Reproduction {
        code,
        env,
        signature: expected.typed.clone(),
        is_steady: same == of,
    })
}

/// The command that runs a script with these variables; none if there are none.
fn launch(env: &[(String, String)]) -> Option<String> {
    let set: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)))
        .collect();
    (!set.is_empty()).then(|| format!("{} python repro.py", set.join(" ")))
}

/// A script, its variables, and the changes made to them.
type SeededScript = (String, Vec<(String, String)>, String);

/// The script with a seed, or with a hash seed, under which every run shows the bug.
fn steady(
    cx: &mut ScrubContext<'_>,
    expected: &ExpectedBug,
    (code, env): (&str, &[(String, String)]),
    (same, of): (usize, usize),
) -> Result<Option<SeededScript>, Failure> {
    // A bug that shows by chance must not pass for one of a seed.
    let Some(enough) = Seed::enough(same as f64 / of as f64) else {
        return Ok(None);
    };
    let shows_always =
        |outcomes: &[Outcome]| outcomes.iter().all(|outcome| expected.is_shown_by(outcome));
    if let Ok(program) = Program::parse(code)
        && let Some((seeded, calls)) = seeded(&program, 0)
        && shows_always(&run(cx, &seeded, env, 1)?)
        && shows_always(&run(cx, &seeded, env, enough)?)
    {
        let what = format!("added `{calls}`, since not every run shows the bug");
        return Ok(Some((seeded, env.to_vec(), what)));
    }
    for seed in Seed::TRIED {
        let mut with_seed: Vec<(String, String)> = env
            .iter()
            .filter(|(name, _)| name != "PYTHONHASHSEED")
            .cloned()
            .collect();
        with_seed.extend(Seed::Hash(seed).variable());
        if shows_always(&run(cx, code, &with_seed, 1)?)
            && shows_always(&run(cx, code, &with_seed, enough)?)
        {
            let what = format!(
                "set {}, since not every run shows the bug",
                Seed::Hash(seed)
            );
            return Ok(Some((code.to_owned(), with_seed, what)));
        }
    }
    Ok(None)
}

fn tested(installed: &Installed, same: usize, of: usize, outcome: &Outcome) -> Tested {
    Tested {
        with: installed.subject(),
        python: installed.python.clone(),
        device: installed.device().to_owned(),
        same,
        of,
        seen: summary(outcome),
        settings: Vec::new(),
    }
}

fn with(code: &str, change: fn(&Program) -> Option<String>) -> Option<String> {
    change(&Program::parse(code).ok()?)
}

/// The repaired script, the repairs, and whether they make it another script.
fn repaired(code: &str, outcome: &Outcome) -> Option<(String, String, Option<DoubtKind>)> {
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
            match repair.name {
                "no-cuda" => Some(DoubtKind::Device),
                "missing-import" => None,
                _ => Some(DoubtKind::Altered),
            },
        ))
    })
}

/// The class and the first line of the message.
fn headline(exception: &Exception) -> String {
    let message = first_line(&exception.message);
    format!("{}: {message}", exception.short_class())
}
