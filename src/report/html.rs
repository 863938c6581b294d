//! The report as one HTML file: no network, light and dark, from 360 pixels on, usable by keyboard
//! and screen reader.

mod code;
mod plot;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Report, reasons};

const STYLE: &str = include_str!("style.css");
const COPY: &str = include_str!("html/copy.js");

/// The report.
pub(super) fn render(report: &Report) -> String {
    let name = report.script.rsplit('/').next().unwrap_or(&report.script);
    let title = format!("{name} minimized");
    let content = html! {
        main {
            header {
                h1 { (title) }
                p { code { (report.signature) } }
                (figures(report))
            }
            (truth(report))
            (conditions(report))
            (code::result(report))
            (code::sides(report))
            (plot::plot(report))
            (passes(report))
            (slips(report))
            (facts(report))
        }
        script { (PreEscaped(COPY)) }
    };
    html_page(&title, "", &content)
}

/// A page of minrepro's: `content` with its style, to which `own_style` adds. It makes no requests.
pub(crate) fn html_page(title: &str, own_style: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(own_style)) }
            }
            body { (content) }
        }
    };
    page.into_string()
}

/// The figures that matter most.
fn figures(report: &Report) -> Markup {
    let (before, after) = (&report.programs.before, &report.programs.after);
    let left = f64::from(after.tokens) / f64::from(before.tokens.max(1));
    let counts = &report.counts;
    let confirmed = &report.reproduction.confirmed;
    let stabilizer = report.reproduction.stabilizer.as_ref();
    let how_sure = match stabilizer {
        _ if !confirmed.is_certain() => reasons::confirmed(report),
        Some(stabilizer) => format!("made reliable by {stabilizer}"),
        None => String::new(),
    };
    let figures = [
        (
            "Tokens",
            format!("{} → {}", before.tokens, after.tokens),
            format!("{:.0} % removed", 100.0 * (1.0 - left)),
        ),
        (
            "Lines",
            format!("{} → {}", before.lines, after.lines),
            String::new(),
        ),
        (
            "Candidate runs",
            (counts.runs + counts.journal_hits).to_string(),
            format!("in {:.1} s", counts.seconds + counts.seconds_recalled),
        ),
        (
            "Fresh runs with the bug",
            format!("{} of {}", confirmed.same, confirmed.of),
            how_sure,
        ),
    ];
    html! {
        dl.figures {
            @for (name, figure, more) in figures {
                div {
                    dt { (name) }
                    dd { strong { (figure) } @if !more.is_empty() { span { (more) } } }
                }
            }
        }
    }
}

/// Whether the result shows the same bug.
fn truth(report: &Report) -> Markup {
    let reproduction = &report.reproduction;
    let truth = &reproduction.truth;
    html! {
        section aria-labelledby="truth" {
            h2 id="truth" { "Is it the same bug?" }
            ul.findings {
                @for finding in &truth.findings {
                    @if finding.holds {
                        li.holds { "Verified: " (marked(&finding.claim)) }
                    } @else {
                        li.fails { strong { "Not verified: " } (marked(&finding.claim)) }
                    }
                }
                @if let Some(unknown) = &truth.unknown {
                    li.fails { strong { "Not verified: " } (marked(unknown)) }
                }
                @if let Some(mismatch) = &reproduction.mismatch {
                    li.fails {
                        strong { "The words are the same, but the mechanism differs: " }
                        (mismatch)
                    }
                }
                @if truth.findings.is_empty() && truth.unknown.is_none() {
                    li { "It shows the same words; nothing else is known of the bug." }
                } @else if !truth.has_control {
                    li { "No setting is known under which the script succeeds." }
                }
            }
        }
    }
}

/// A text with code between backticks. A text that itself holds backticks is left as it is.
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
    let versions = report.versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let versions = versions.join(", ");
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
                "{}; {} dropped without a run",
                reasons::runs(report),
                report.counts.pruned
            ),
        ),
        ("Versions", versions),
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
