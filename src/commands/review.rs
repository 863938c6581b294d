//! `minrepro review SCRIPT`: lists the concerns about a stranger's script. Runs nothing.

use anstyle::{AnsiColor, Style};

use super::script::read;
use crate::{
    cli::{Exit, Failure, Printer, ReviewArgs},
    scrub::review::{Finding, review as findings_of},
};

const PLACE: Style = Style::new().bold();
const CONCERN: Style = AnsiColor::Yellow.on_default();

pub(super) fn review(args: &ReviewArgs, printer: Printer) -> Result<Exit, Failure> {
    let (_, program) = read(&args.script)?;
    let found = findings_of(&program);
    let file = args.script.display().to_string();
    if args.json {
        let value = serde_json::json!({"script": file, "findings": found});
        printer.data(&format!("{value:#}\n"));
    } else {
        for finding in &found {
            printer.data(&format!("{}\n", line(&file, finding)));
        }
    }
    if found.is_empty() {
        printer.note("no concerns; the review cannot find everything that a script may do");
        return Ok(Exit::Reduced);
    }
    printer.note(&format!(
        "{} found; check each place before you run the script",
        count(found.len())
    ));
    Ok(Exit::Refused)
}

/// `file:line: concern: what (why)`.
pub(super) fn line(file: &str, finding: &Finding) -> String {
    let Finding {
        line,
        concern,
        what,
    } = finding;
    format!(
        "{PLACE}{file}:{line}:{PLACE:#} {CONCERN}{concern}:{CONCERN:#} {what} ({})",
        concern.why()
    )
}

fn count(number: usize) -> String {
    if number == 1 {
        "1 concern".to_owned()
    } else {
        format!("{number} concerns")
    }
}
