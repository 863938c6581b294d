//! The report as Markdown, ready to be pasted into an issue.

use std::fmt::Write;

use super::{Report, reasons};

/// The report.
pub(super) fn render(report: &Report) -> String {
    let mut text = String::new();
    let programs = &report.programs;
    let fence = fence(&programs.text_after);
    let result = with_end(&programs.text_after);
    let _ = writeln!(
        text,
        "### Minimized repro\n\n{fence}python\n{result}{fence}\n"
    );
    let _ = writeln!(
        text,
        "Shows `{}`: {}.\n",
        code(&report.signature),
        reasons::confirmed(report)
    );
    let _ = writeln!(
        text,
        "| | before | after |\n|---|---:|---:|\n| tokens | {} | {} |\n| lines | {} | {} |\n",
        programs.before.tokens, programs.after.tokens, programs.before.lines, programs.after.lines
    );
    for finding in &report.reproduction.truth.findings {
        let found = if finding.holds {
            "Verified"
        } else {
            "**Not verified**"
        };
        let _ = writeln!(text, "- {found}: {}", spans(&finding.claim));
    }
    if !report.reproduction.truth.findings.is_empty() {
        text.push('\n');
    }
    if let Some(mismatch) = &report.reproduction.mismatch {
        let _ = writeln!(
            text,
            "**The words are the same, but the mechanism differs**: {}.\n",
            spans(mismatch)
        );
    }
    push_conditions(&mut text, report);
    if let Some(test) = &report.test {
        let place = test
            .folder
            .as_ref()
            .map_or_else(String::new, |folder| format!(", for `{}`", code(folder)));
        let _ = writeln!(
            text,
            "As a test that fails because of the bug: `{}`{place}.\n",
            code(&test.file)
        );
    }
    if !report.versions.is_empty() {
        let versions = report.versions.iter();
        let versions: Vec<String> = versions
            .map(|(name, version)| format!("{} {}", escaped(name), escaped(version)))
            .collect();
        let _ = writeln!(text, "Versions: {}.\n", versions.join(", "));
    }
    push_details(&mut text, report);
    let _ = writeln!(
        text,
        "<sub>Reduced by minrepro {}: {}</sub>",
        env!("CARGO_PKG_VERSION"),
        reasons::runs(report)
    );
    text
}

/// The conditions that the bug needs, and those that it does not.
fn push_conditions(text: &mut String, report: &Report) {
    let needed = reasons::needed(report);
    if !needed.is_empty() {
        let _ = writeln!(text, "Needed, each confirmed by two runs without it:\n");
        for (name, without) in needed {
            let _ = writeln!(text, "- `{}` ({})", code(name), spans(&without));
        }
        text.push('\n');
    }
    let unneeded: Vec<String> = reasons::unneeded(report)
        .iter()
        .map(|condition| format!("`{}`", code(condition)))
        .collect();
    if !unneeded.is_empty() {
        let _ = writeln!(text, "Tried and not needed: {}.\n", unneeded.join(", "));
    }
}

/// Details for readers who doubt the result.
fn push_details(text: &mut String, report: &Report) {
    let reasons = reasons::by_line(report);
    if !reasons.is_empty() {
        let _ = writeln!(text, "<details><summary>Why each line stays</summary>\n");
        for (number, line) in report.programs.text_after.lines().enumerate() {
            let Some(why) = reasons.get(&(number as u32 + 1)) else {
                continue;
            };
            let _ = writeln!(text, "- `{}`", code(line.trim()));
            for reason in why {
                let _ = writeln!(text, "  - {}", spans(reason));
            }
        }
        let _ = writeln!(text, "\n</details>\n");
    }
    if !report.slips.is_empty() {
        let _ = writeln!(
            text,
            "<details><summary>Other failures of candidates</summary>\n"
        );
        for slip in &report.slips {
            let failure = code(&format!("{}: {}", slip.class, slip.message));
            let mechanism = slip.mechanism.as_ref();
            let mechanism = mechanism.map_or_else(String::new, |how| format!(" ({})", spans(how)));
            let _ = writeln!(text, "- {} × `{failure}`{mechanism}", slip.count);
        }
        let _ = writeln!(text, "\n</details>\n");
    }
}

/// A fence longer than any in a text.
pub(crate) fn fence(text: &str) -> String {
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn with_end(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

/// A text to be put between single backticks.
fn code(text: &str) -> String {
    text.replace('`', "'").replace('\n', " ")
}

/// A text in which parts between backticks are code and nothing else is markup. A text that itself
/// holds backticks has no code in it.
fn spans(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || parts.iter().skip(1).step_by(2).any(|part| part.is_empty())
    {
        return escaped(text);
    }
    let spans = parts.iter().enumerate().map(|(at, part)| match at % 2 {
        1 => format!("`{}`", code(part)),
        _ => escaped(part),
    });
    spans.collect()
}

/// A text without markup and without mentions.
pub(crate) fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|char| {
            let is_markup = matches!(
                char,
                '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '@' | '|' | '~'
            );
            is_markup
                .then_some('\\')
                .into_iter()
                .chain([if char == '\n' { ' ' } else { char }])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_quoted() {
        assert_eq!(fence("no"), "```");
        assert_eq!(fence("s = '''\n````\n'''"), "`````");
        assert_eq!(code("a `b`\nc"), "a 'b' c");
        assert_eq!(escaped("<b> @who *x*"), r"\<b\> \@who \*x\*");
        assert_eq!(spans("call `f(*x)`: *gone*"), r"call `f(*x)`: \*gone\*");
        assert_eq!(spans("one ` alone"), r"one \` alone");
    }
}
