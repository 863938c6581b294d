//! The end of a reduction on the terminal: the result itself, three lines of figures, the findings,
//! and the path of the result.

use anstyle::Style;

use minrepro_reducers::torch::environment::CompilerRank;

use super::{
    Report,
    highlight::{self, Shade},
    reasons,
    words::counted,
};
use crate::{
    cli::Painted,
    judge::{Confirmed, Inspection, Truth},
};

/// Lines of the result that are printed.
const LISTED: usize = 40;

/// The last lines of a reduction; with `listed` the result is among them.
pub fn ending(report: &Report, listed: bool) -> Painted {
    let mut text = if listed {
        listing(&report.programs.text_after, &report.output).plain("\n")
    } else {
        Painted::default()
    };
    text.append(summary(report).into());
    text
}

/// A program in colours, or its beginning.
fn listing(program: &str, file: &str) -> Painted {
    let lines = program.lines().count();
    let end = program
        .split_inclusive('\n')
        .take(LISTED)
        .map(str::len)
        .sum();
    let mut left: usize = end;
    let mut text = Painted::default();
    for (part, piece) in highlight::parts(program) {
        if left == 0 {
            break;
        }
        let shown = &piece[..piece.len().min(left)];
        left -= shown.len();
        text.push(part.style(), shown);
    }
    if !program[..end].ends_with('\n') {
        text.push(Style::new(), "\n");
    }
    if lines > LISTED {
        let more = counted((lines - LISTED) as u64, "more line", "more lines");
        text.push(
            Shade::Comment.style(),
            format!("[... {more} in {file} ...]\n"),
        );
    }
    text
}

/// The reason that stopped the reduction, and the steps that it left undone.
fn undone(report: &Report) -> Option<String> {
    (!report.undone.is_empty()).then(|| {
        format!(
            "stopped by `--{}`; left undone: {}",
            report.stop,
            report.undone.join(", ")
        )
    })
}

/// The lines below the result.
fn summary(report: &Report) -> String {
    let (before, after) = (&report.programs.before, &report.programs.after);
    let left = f64::from(after.tokens) / f64::from(before.tokens.max(1));
    let counts = &report.counts;
    let mut lines = vec![
        format!(
            "{} -> {} tokens ({:.0} % removed), {} -> {} lines",
            before.tokens,
            after.tokens,
            100.0 * (1.0 - left),
            before.lines,
            after.lines
        ),
        format!(
            "{}, {} dropped without a run",
            reasons::runs(report),
            counted(counts.pruned, "candidate", "candidates")
        ),
        confirmation(report),
    ];
    if let Some(slip) = report.slips.first() {
        let others: u64 = report.slips.iter().map(|slip| slip.count).sum();
        lines.push(format!(
            "{} failed in other ways, most often {}: {}",
            counted(others, "candidate", "candidates"),
            slip.class,
            slip.message
        ));
    }
    let needed = needed(report);
    match &report.compiler {
        Some(compiler) if needed.is_empty() => lines.push(format!("compiler needed: {compiler}")),
        Some(compiler) => lines.push(format!(
            "compiler needed: {compiler}; also needed: {needed}"
        )),
        None if needed.is_empty() => {}
        None => lines.push(format!("needed: {needed}")),
    }
    lines.extend(undone(report));
    lines.extend(truth(&report.reproduction.truth));
    if let Some(mismatch) = &report.reproduction.mismatch {
        lines.push(format!(
            "warning: the words are the same, but the mechanism differs ({mismatch})"
        ));
    }
    if report.reproduction.own {
        lines.push(
            "nothing of a library is involved; if that is not the bug, name it by `--signature`, \
             or what matters by `--keep NAME`"
                .to_owned(),
        );
    }
    if let Some(looser) = &report.looser {
        lines.push(format!(
            "hint: numbers in the signature rejected smaller candidates; try `--signature \"{looser}\"`"
        ));
    }
    lines.extend(report.inlining.summary());
    lines.extend(report.inlining.hint());
    lines.extend(report.test.as_ref().map(|test| {
        let place = test
            .folder
            .as_ref()
            .map_or_else(String::new, |folder| format!(", for {folder}"));
        format!("test: {}{place}; it fails because of the bug", test.file)
    }));
    lines.push(format!("confinement: {}", report.confinement));
    lines.push(format!("verify: {}", report.programs.verify));
    if report.output != "-" {
        lines.push(format!("written to {}", report.output));
    }
    lines.join("\n")
}

/// The findings about a program that somebody wrote, line by line.
pub fn inspection(found: &Inspection) -> Vec<String> {
    match found {
        Inspection::NotShown(shown) => vec![format!("does not show the bug: {shown}")],
        Inspection::Shown {
            truth: found,
            mismatch,
        } => {
            let mut lines = truth(found);
            if lines.is_empty() {
                lines.push(
                    "verified: it shows the same words; nothing else is known of the bug"
                        .to_owned(),
                );
            }
            lines.extend(mismatch.iter().map(|how| format!("its mechanism: {how}")));
            lines
        }
    }
}

/// The checks on the result, in at most three lines.
fn truth(truth: &Truth) -> Vec<String> {
    let listed = |holds: bool| -> Vec<&str> {
        let findings = truth.findings.iter();
        let found = findings.filter(|finding| finding.holds == holds);
        found.map(|finding| finding.claim.as_str()).collect()
    };
    let mut lines = Vec::new();
    for (state, claims) in [("verified", listed(true)), ("NOT verified", listed(false))] {
        if !claims.is_empty() {
            lines.push(format!("{state}: {}", claims.join("; ")));
        }
    }
    lines.extend(
        truth
            .unknown
            .iter()
            .map(|left| format!("not verified: {left}")),
    );
    if !truth.findings.is_empty() && !truth.has_control {
        lines.push(
            "no control: no setting is known under which the script succeeds; name one by \
             `--control` or `--good`"
                .to_owned(),
        );
    }
    lines
}

/// How often fresh runs of the result showed the bug.
fn confirmation(report: &Report) -> String {
    let reproduction = &report.reproduction;
    let Confirmed { same, of, enough } = reproduction.confirmed;
    let signature = &report.signature;
    if enough {
        let shown = reproduction.shown.unwrap_or_default();
        format!(
            "confirmed by {same} of {of} fresh runs (the script: {} of {}): {signature}",
            shown.same, shown.of
        )
    } else if reproduction.confirmed.is_certain() {
        let by = reproduction.stabilizer.as_ref();
        let by = by.map_or_else(String::new, |by| format!(" (made reliable by {by})"));
        format!("confirmed by {of} fresh runs{by}: {signature}")
    } else if of > 0 {
        format!("NOT confirmed: only {same} of {of} fresh runs showed the bug")
    } else {
        format!("not confirmed by fresh runs ({})", report.stop)
    }
}

/// The conditions that the bug needs, as many as fit on a line.
fn needed(report: &Report) -> String {
    const LONGEST: usize = 90;
    // The compiler has a line of its own.
    let is_reported = |name: &str| report.compiler.is_some() && name == CompilerRank::CALL;
    let names = reasons::needed(report).into_iter().map(|(name, _)| name);
    let names: Vec<&str> = names.filter(|name| !is_reported(name)).collect();
    let mut line = String::new();
    for (number, name) in names.iter().enumerate() {
        if number > 0 && line.len() + name.len() > LONGEST {
            return format!("{line} and {} more", names.len() - number);
        }
        line.push_str(if number > 0 { ", " } else { "" });
        line.push_str(name);
    }
    line
}
