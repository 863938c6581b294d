//! Step 6: minimizes the script that shows the bug.

use minrepro_reducers::syntax::Program;

use super::{ScrubContext, ScrubEnd, Smaller, fixed::version_without_it, reproduce::Reproduction};
use crate::{
    cli::{Exit, Failure},
    engine::WhyKept,
    oracle::Verdict,
    report::write_atomically,
    scrub::{issue::failure::ReportedFailure, python, script_runner::MinimizeTask},
};

/// A script with at most so many lines of code is not worth a search.
const FEW: usize = 3;

/// Minimizes the script; returns the end and its reason.
pub(in crate::scrub) fn minimize(
    cx: &mut ScrubContext<'_>,
    showing: &Reproduction,
) -> Result<(ScrubEnd, String), Failure> {
    cx.step("6", "minimizing");
    let name = cx.name();
    let original = cx.file(&format!("repro_{name}_original.py"));
    let output = cx.file(&format!("repro_{name}.py"));
    write_atomically(&original, showing.code.as_bytes()).map_err(|error| {
        let error =
            anyhow::Error::new(error).context(format!("could not write `{}`", original.display()));
        Failure::new(Exit::Environment, error).hint("name another folder: `--dir FOLDER`")
    })?;
    cx.decided(&format!("original script: {}", original.display()));
    let lines =
        |text: &str| Program::parse(text).map_or(0, |program| python::lines_of_code(&program));
    let before = lines(&showing.code);
    if before <= FEW {
        return Ok((
            ScrubEnd::AlreadyMinimal,
            format!("it has {before} lines of code"),
        ));
    }
    if !showing.is_steady {
        cx.found.next = Some(
            "make the bug deterministic: set a seed, use one thread, or repeat the call in a loop"
                .to_owned(),
        );
        return Ok((
            ScrubEnd::AlreadyMinimal,
            "the bug does not show in every run, so the script cannot be minimized".to_owned(),
        ));
    }
    let good = version_without_it(cx, showing)?;
    if good.is_none() && is_wrong_result(cx) && cx.settings.signature.is_empty() {
        // An assertion also fails once the code that gave it a reason to fail is removed.
        cx.found.next = Some(format!(
            "minimize it with an interpreter that must pass: `minrepro {} --good PYTHON`",
            original.display()
        ));
        return Ok((
            ScrubEnd::AlreadyMinimal,
            "only an assertion shows the bug, and it would still fail without the cause".to_owned(),
        ));
    }
    let task = MinimizeTask {
        script: &original,
        signature: &showing.signature,
        env: &showing.env,
        good: good.as_deref(),
        output: &output,
    };
    let reduced = cx.runner.minimize(&task)?;
    let after = lines(&reduced.text);
    // A line less or a shorter name is nothing to bother a maintainer with.
    let is_material =
        after < before && (reduced.tokens.1 * 10 <= reduced.tokens.0 * 9 || before - after >= 2);
    if !is_material {
        return Ok((
            ScrubEnd::AlreadyMinimal,
            format!("nothing substantial can be removed: {before} -> {after} lines of code"),
        ));
    }
    cx.decided(&format!(
        "{before} -> {after} lines of code: {}",
        output.display()
    ));
    let why = format!("{} -> {} tokens", reduced.tokens.0, reduced.tokens.1);
    cx.found.minimized = Some(Smaller {
        file: output,
        text: reduced.text,
        before: reduced.tokens.0,
        after: reduced.tokens.1,
        necessary: necessary(&reduced.kept),
    });
    Ok((ScrubEnd::Minimized, why))
}

/// Whether a wrong result was reported.
fn is_wrong_result(cx: &ScrubContext<'_>) -> bool {
    let reported = cx.found.reported.as_ref();
    reported.is_some_and(|reported| matches!(reported.what, ReportedFailure::WrongResult))
}

/// The settings of calls without which the bug disappears. Other parts speak for themselves.
fn necessary(kept: &[WhyKept]) -> Vec<String> {
    let is_setting = |note: &str| {
        let name = note
            .trim_start_matches('`')
            .split('=')
            .next()
            .unwrap_or_default();
        note.contains('=')
            && !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_alphanumeric() || char == '_')
    };
    let passes_without = kept
        .iter()
        .filter(|kept| matches!(kept.verdict, Verdict::Passed) && is_setting(&kept.note));
    let mut notes: Vec<String> = passes_without.map(|kept| kept.note.clone()).collect();
    notes.dedup();
    notes.truncate(8);
    notes
}
