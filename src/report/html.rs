//! The report as one HTML file: no network, light and dark, from 360 pixels on, usable by keyboard
//! and screen reader.

use std::fmt::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use similar::{ChangeTag, TextDiff};

use super::{Report, reasons};

const STYLE: &str = include_str!("style.css");

/// The report.
pub(super) fn render(report: &Report) -> String {
    let name = report.script.rsplit('/').next().unwrap_or(&report.script);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (name) " minimized" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        h1 { (name) ": " (report.programs.before.tokens) " → " (report.programs.after.tokens) " tokens" }
                        p { code { (report.signature) } " — " (reasons::confirmed(report)) }
                        @for finding in &report.reproduction.truth.findings {
                            p {
                                @if finding.holds { "Verified: " } @else { strong { "Not verified: " } }
                                (finding.claim)
                            }
                        }
                        @if let Some(mismatch) = &report.reproduction.mismatch {
                            p { strong { "The words are the same, the mechanism is another: " } (mismatch) }
                        }
                    }
                    (result(report))
                    (conditions(report))
                    (sides(report))
                    (curve(report))
                    (passes(report))
                    (slips(report))
                    (facts(report))
                }
            }
        }
    };
    page.into_string()
}

fn result(report: &Report) -> Markup {
    let reasons = reasons::by_line(report);
    html! {
        section aria-labelledby="result" {
            h2 id="result" { "The result, and why each line stays" }
            div.scroll tabindex="0" role="region" aria-labelledby="result" {
                table.code {
                    thead { tr { th.number scope="col" { "Line" } th scope="col" { "Code" } th scope="col" { "Without it" } } }
                    tbody {
                        @for (number, line) in (1u32..).zip(report.programs.text_after.lines()) {
                            tr {
                                td.number { (number) }
                                td { pre { (line) } }
                                td.why {
                                    @if let Some(why) = reasons.get(&number) {
                                        ul { @for reason in why { li { (marked(reason)) } } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A text with code between backticks; one that holds backticks of its own is left as it is.
fn marked(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len() % 2 == 1 {
            @for (at, part) in parts.iter().enumerate() {
                @if at % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else {
            (text)
        }
    }
}

fn conditions(report: &Report) -> Markup {
    let (needed, unneeded) = (reasons::needed(report), reasons::unneeded(report));
    html! {
        @if !report.ablation.conditions.is_empty() {
            section aria-labelledby="conditions" {
                h2 id="conditions" { "Conditions that the bug needs" }
                @if needed.is_empty() {
                    p { "None of the conditions that were tried." }
                } @else {
                    ul { @for (name, without) in needed { li { code { (name) } " (" (without) ")" } } }
                }
                @if !unneeded.is_empty() {
                    p { "Tried and not needed: " (unneeded.join(", ")) "." }
                }
                p {
                    "Found in " (report.ablation.ablation_runs) " runs besides the candidate runs; each need was confirmed by a second run."
                    @if report.ablation.untried > 0 { " Not tried because a budget was spent: " (report.ablation.untried) "." }
                }
            }
        }
    }
}

fn sides(report: &Report) -> Markup {
    let diff = TextDiff::from_lines(
        report.programs.text_before.as_str(),
        report.programs.text_after.as_str(),
    );
    let side = |gone: ChangeTag| {
        html! {
            @for change in diff.iter_all_changes() {
                @if change.tag() == ChangeTag::Equal {
                    span { (change.value()) }
                } @else if change.tag() == gone {
                    @if gone == ChangeTag::Delete { del { (change.value()) } } @else { ins { (change.value()) } }
                }
            }
        }
    };
    html! {
        section aria-labelledby="sides" {
            h2 id="sides" { "Before and after" }
            div.sides {
                figure {
                    figcaption { "Before, " (lines(report.programs.before.lines)) }
                    pre tabindex="0" { (side(ChangeTag::Delete)) }
                }
                figure {
                    figcaption { "After, " (lines(report.programs.after.lines)) }
                    pre tabindex="0" { (side(ChangeTag::Insert)) }
                }
            }
        }
    }
}

fn lines(count: u32) -> String {
    if count == 1 {
        "1 line".to_owned()
    } else {
        format!("{count} lines")
    }
}

/// Tokens over candidate runs, as steps on a logarithmic scale.
fn curve(report: &Report) -> Markup {
    const WIDTH: f64 = 360.0;
    const HEIGHT: f64 = 160.0;
    const LEFT: f64 = 44.0;
    const BOTTOM: f64 = 24.0;
    let runs = report
        .commits
        .iter()
        .map(|commit| commit.run)
        .max()
        .unwrap_or(0)
        .max(report.counts.runs)
        .max(1) as f64;
    let height = |tokens: u32| {
        let (most, least) = (
            f64::from(report.programs.before.tokens.max(2)).ln(),
            f64::from(report.programs.after.tokens.max(1)).ln(),
        );
        let share = (f64::from(tokens.max(1)).ln() - least) / (most - least).max(1e-9);
        8.0 + (1.0 - share.clamp(0.0, 1.0)) * (HEIGHT - 8.0 - BOTTOM)
    };
    let place = |run: u64| LEFT + run as f64 / runs * (WIDTH - LEFT - 8.0);
    let mut path = format!("M{LEFT:.1} {:.1}", height(report.programs.before.tokens));
    for commit in &report.commits {
        let _ = write!(
            path,
            " H{:.1} V{:.1}",
            place(commit.run),
            height(commit.tokens)
        );
    }
    let _ = write!(path, " H{:.1}", WIDTH - 8.0);
    html! {
        section aria-labelledby="curve" {
            h2 id="curve" { "Size over candidate runs" }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!(
                "{} tokens at the start, {} after {} runs", report.programs.before.tokens, report.programs.after.tokens, report.counts.runs
            )) {
                path.axis d=(format!("M{LEFT} 4 V{} H{}", HEIGHT - BOTTOM, WIDTH - 8.0)) {}
                path.curve d=(path) {}
                text x=(LEFT - 6.0) y=(height(report.programs.before.tokens) + 4.0) text-anchor="end" { (report.programs.before.tokens) }
                text x=(LEFT - 6.0) y=(height(report.programs.after.tokens) + 4.0) text-anchor="end" { (report.programs.after.tokens) }
                text x=(LEFT) y=(HEIGHT - 6.0) { "0" }
                text x=(WIDTH - 8.0) y=(HEIGHT - 6.0) text-anchor="end" { (runs) " runs" }
            }
        }
    }
}

fn passes(report: &Report) -> Markup {
    html! {
        section aria-labelledby="passes" {
            h2 id="passes" { "Gains and costs of passes" }
            div.scroll tabindex="0" role="region" aria-labelledby="passes" {
                table {
                    thead { tr { th scope="col" { "Pass" } th.number scope="col" { "Tokens removed" } th.number scope="col" { "Changes" } th.number scope="col" { "Runs" } th.number scope="col" { "Seconds" } } }
                    tbody {
                        @for (pass, gain) in reasons::gains(report) {
                            tr {
                                th scope="row" { (pass) }
                                td.number { (gain.tokens) }
                                td.number { (gain.changes) }
                                td.number { (gain.spent.runs) }
                                td.number { (format!("{:.1}", gain.spent.seconds)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn slips(report: &Report) -> Markup {
    html! {
        @if !report.slips.is_empty() {
            section aria-labelledby="slips" {
                h2 id="slips" { "Other failures of candidates" }
                ul {
                    @for slip in &report.slips {
                        li {
                            (slip.count) " × " code { (slip.class) ": " (slip.message) }
                            @if let Some(mechanism) = &slip.mechanism { " (" (mechanism) ")" }
                        }
                    }
                }
            }
        }
    }
}

fn facts(report: &Report) -> Markup {
    let test = report.test.as_ref().map_or_else(
        || "not asked for: --emit-test FILE writes one".to_owned(),
        |test| match &test.folder {
            Some(folder) => format!(
                "{}, which fails by the bug; it belongs in {folder}",
                test.file
            ),
            None => format!("{}, which fails by the bug", test.file),
        },
    );
    let facts = [
        ("Verify", report.programs.verify.clone()),
        ("As a test", test),
        (
            "Interpreter",
            format!(
                "{} ({})",
                report.interpreter.version, report.interpreter.path
            ),
        ),
        (
            "Candidate runs",
            format!(
                "{} in {:.1} s; {} dropped without a run",
                report.counts.runs, report.counts.seconds, report.counts.pruned
            ),
        ),
        ("Runner", report.runner.clone()),
        ("Confinement", report.confinement.clone()),
        (
            "Time limit of a run",
            format!("{:.1} s", report.counts.timeout),
        ),
        ("Ended", report.stop.clone()),
        ("minrepro", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    html! {
        section aria-labelledby="facts" {
            h2 id="facts" { "How it was found" }
            dl { @for (name, fact) in facts { dt { (name) } dd { (fact) } } }
        }
    }
}
