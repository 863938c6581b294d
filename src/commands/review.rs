//! `minrepro review SCRIPT`: lists the concerns about a stranger's script. Runs nothing.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};

use crate::{
    cli::{Exit, Failure, Painted, Printer, ReviewArgs},
    scrub::review::{Concern, Finding, Grade, review as findings_of},
    target::read,
};

const PLACE: Style = Style::new().bold();
const DANGEROUS: Style = AnsiColor::Red.on_default();
const CONCERN: Style = AnsiColor::Yellow.on_default();

pub(super) fn review(args: &ReviewArgs, printer: Printer) -> Result<Exit, Failure> {
    let (_, program) = read(&args.script)?;
    let found = findings_of(&program);
    let file = args.script.display().to_string();
    if args.json {
        let findings: Vec<_> = found.iter().map(json).collect();
        let value = serde_json::json!({"script": file, "findings": findings});
        printer.data(format!("{value:#}\n"));
    } else {
        for (concern, what, lines) in merged(&found) {
            printer.data(line(&file, concern, what, &lines).plain("\n"));
        }
    }
    if found.is_empty() {
        printer.note("no concerns; the review cannot find everything that a script may do");
        return Ok(Exit::Reduced);
    }
    printer.note(summary(&found));
    Ok(Exit::Refused)
}

fn json(finding: &Finding) -> serde_json::Value {
    let Finding {
        line,
        concern,
        what,
    } = finding;
    let grade = concern.grade();
    serde_json::json!({"line": line, "grade": grade, "concern": concern, "what": what})
}

/// The same finding on several lines is printed once. The known dangers come first.
fn merged(found: &[Finding]) -> Vec<(Concern, &str, Vec<u32>)> {
    let mut lines: BTreeMap<(Concern, &str), Vec<u32>> = BTreeMap::new();
    for finding in found {
        let key = (finding.concern, finding.what.as_str());
        lines.entry(key).or_default().push(finding.line);
    }
    let mut merged: Vec<_> = lines
        .into_iter()
        .map(|((concern, what), lines)| (concern, what, lines))
        .collect();
    merged.sort_by_key(|(concern, what, lines)| (concern.grade(), lines[0], *what));
    merged
}

/// `file:line: concern: what (why)`.
fn line(file: &str, concern: Concern, what: &str, lines: &[u32]) -> Painted {
    let others: Vec<String> = lines[1..].iter().map(ToString::to_string).collect();
    let also = match others.as_slice() {
        [] => String::new(),
        [other] => format!("; also in line {other}"),
        others => format!("; also in lines {}", others.join(", ")),
    };
    let style = match concern.grade() {
        Grade::Dangerous => DANGEROUS,
        Grade::Outside | Grade::Unreadable => CONCERN,
    };
    Painted::default()
        .with(PLACE, format!("{file}:{}:", lines[0]))
        .plain(" ")
        .with(style, format!("{concern}:"))
        .plain(format!(" {what} ({}){also}", concern.why()))
}

/// The number of concerns, by grade.
fn summary(found: &[Finding]) -> String {
    let found = merged(found);
    let count = |grade| {
        let of_grade = found
            .iter()
            .filter(|(concern, ..)| concern.grade() == grade);
        of_grade.count()
    };
    let counts = [
        (count(Grade::Dangerous), "dangerous"),
        (count(Grade::Outside), "reaching outside"),
        (count(Grade::Unreadable), "unreadable"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let by_grade: Vec<String> = counts
        .map(|(count, grade)| format!("{count} {grade}"))
        .collect();
    let noun = if found.len() == 1 {
        "concern"
    } else {
        "concerns"
    };
    format!(
        "{} {noun} ({}); check each place before you run the script",
        found.len(),
        by_grade.join(", ")
    )
}
