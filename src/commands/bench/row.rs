//! The figures of a case that was minimized, as a line of a table and as JSON. Pure.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::corpus::Case;
use crate::{
    commands::{minimize::Minimized, session::Session},
    report::geometric_mean,
    runner::{Interpreter, Start},
};

/// The figures of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) description: String,
    pub(super) python: String,
    pub(super) before: u32,
    pub(super) after: u32,
    pub(super) ideal: u32,
    pub(super) ratio: f64,
    /// Tokens after 100 candidate runs, divided by those of the ideal.
    pub(super) ratio_at_100: f64,
    pub(super) runs: u64,
    /// The share of runs after the last success.
    pub(super) tail: f64,
    pub(super) seconds: f64,
    /// Seconds that the script as given takes in a fresh interpreter.
    pub(super) cold: f64,
    /// Seconds that it takes when it is forked; none if candidates were not forked.
    pub(super) warm: Option<f64>,
    /// Lines without imports, of the result and of the ideal.
    pub(super) lines: u32,
    pub(super) ideal_lines: u32,
    /// The weakest backend that shows the bug, as the case says.
    pub(super) rung: Option<String>,
    pub(super) confirmed: bool,
    /// The numbers of conditions that were tried, that are needed, and that seemed needed until the
    /// run was repeated.
    pub(super) conditions: [usize; 3],
    /// The expectations that are not met; empty if all are.
    pub(super) faults: Vec<String>,
}

impl Row {
    /// The figures of a minimized case, without its faults.
    pub(super) fn of(
        case: &Case,
        python: &Interpreter,
        session: &Session,
        minimized: &Minimized,
    ) -> Self {
        let reduction = &minimized.reduction;
        let [before, after, ideal] = [&*session.subject.program, &*reduction.program, &*case.ideal]
            .map(|program| program.size().tokens);
        let commits = &reduction.commits;
        let early = commits.iter().take_while(|commit| commit.run <= 100);
        let at_100 = early.last().map_or(before, |commit| commit.tokens);
        let last = commits.last().map_or(0, |commit| commit.run);
        let runs = reduction.tally.runs;
        let over = |tokens: u32| f64::from(tokens) / f64::from(ideal.max(1));
        let calibration = &minimized.established.calibration;
        let ablation = &minimized.ablation;
        let needed = ablation.tried.iter().filter(|tried| tried.is_needed());
        Self {
            case: case.name.clone(),
            description: case.expected.description.clone(),
            python: python.description.clone(),
            before,
            after,
            ideal,
            ratio: over(after),
            ratio_at_100: over(at_100),
            runs,
            tail: (runs.saturating_sub(last)) as f64 / runs.max(1) as f64,
            seconds: minimized.seconds,
            cold: calibration.cold.as_secs_f64(),
            warm: (calibration.start == Start::Warm).then_some(calibration.warm.as_secs_f64()),
            lines: reduction.program.lines_without_imports(),
            ideal_lines: case.ideal.lines_without_imports(),
            rung: case.expected.rung.map(|rank| rank.backend().to_owned()),
            confirmed: minimized.confirmed.is_certain(),
            conditions: [ablation.tried.len(), needed.count(), ablation.taken_back],
            faults: Vec::new(),
        }
    }
}

/// The first line of the table.
pub(super) fn header() -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6} {:>7} {:>5} {:>5} {:>8} {:>6} {:>6} {:>7}  {}\n",
        "case",
        "python",
        "before",
        "after",
        "ideal",
        "ratio",
        "at 100",
        "runs",
        "tail",
        "seconds",
        "cold",
        "warm",
        "faster",
        "confirmed"
    )
}

/// The line of a case.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6.2} {:>7.2} {:>5} {:>4.0}% {:>8.1} {:>6.2} {:>6} {:>7}  {}{}\n",
        row.case,
        row.python,
        row.before,
        row.after,
        row.ideal,
        row.ratio,
        row.ratio_at_100,
        row.runs,
        100.0 * row.tail,
        row.seconds,
        row.cold,
        row.warm
            .map_or_else(String::new, |warm| format!("{warm:.3}")),
        row.warm.map_or_else(String::new, |warm| format!(
            "{:.1}",
            row.cold / warm.max(1e-6)
        )),
        if row.confirmed { "yes" } else { "NO" },
        if row.faults.is_empty() {
            ""
        } else {
            "  FALLS SHORT"
        },
    )
}

/// The last lines.
pub(super) fn footer(rows: &[Row]) -> String {
    let mean = |of: &dyn Fn(&Row) -> f64| geometric_mean(rows.iter().map(of));
    let mut text = String::new();
    let _ = writeln!(
        text,
        "geometric mean of {} cases: ratio {:.2}, at 100 runs {:.2}, runs {:.0}",
        rows.len(),
        mean(&|row| row.ratio),
        mean(&|row| row.ratio_at_100),
        mean(&|row| row.runs as f64)
    );
    let [tried, needed, taken_back] =
        [0, 1, 2].map(|at| rows.iter().map(|row| row.conditions[at]).sum::<usize>());
    if tried > 0 {
        let _ = writeln!(
            text,
            "of {tried} conditions {needed} are needed, each by a run that was repeated; {taken_back} more seemed so before"
        );
    }
    text
}
