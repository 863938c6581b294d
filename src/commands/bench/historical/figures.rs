//! The figures of an issue that was minimized, as a line of a table, as JSON and as a row of the
//! history. Pure, but for the date.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::{
    commands::bench::history::{HistoryRow, commit, now},
    report::geometric_mean,
};

/// The figures of one issue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IssueFigures {
    pub(super) issue: String,
    pub(super) kind: String,
    pub(super) python: String,
    pub(super) before: u32,
    /// The size of the result; none if there is no result.
    pub(super) after: Option<u32>,
    /// The best known size.
    pub(super) best: Option<u32>,
    pub(super) runs: u64,
    pub(super) seconds: f64,
    pub(super) verdict: IssueVerdict,
    /// The signature, given or derived.
    pub(super) signature: Option<String>,
    /// Whether the time was up before the search was done.
    pub(super) stopped: bool,
    /// Whether the code has the recorded hash, if one is recorded.
    pub(super) same_code: bool,
    /// The expectations that are not met; empty if all are.
    pub(super) faults: Vec<String>,
}

/// What is known of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(super) enum IssueVerdict {
    /// It shows the same bug.
    Verified,
    /// It shows the same words, or nobody has looked.
    Unverified,
    /// It does not show the bug in each fresh run.
    Unstable,
    /// The script does not show the bug.
    NotReproduced,
    /// The script could not be minimized.
    Failed,
}

impl IssueFigures {
    /// The size divided by the best known one.
    fn ratio(&self) -> Option<f64> {
        Some(f64::from(self.after?) / f64::from(self.best?.max(1)))
    }

    /// Its line of the table.
    pub(super) fn line(&self) -> String {
        let shown =
            |size: Option<u32>| size.map_or_else(|| "–".to_owned(), |size| size.to_string());
        let ratio = self.ratio();
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        let mut notes = vec![self.verdict.to_string()];
        if self.stopped {
            notes.push("stopped".to_owned());
        }
        if !self.same_code {
            notes.push("other code".to_owned());
        }
        if !self.faults.is_empty() {
            notes.push("FALLS SHORT".to_owned());
        }
        format!(
            "{:24} {:16} {:>6} {:>6} {:>6} {ratio:>6} {:>5} {:>8.1}  {}\n",
            self.issue,
            self.python,
            self.before,
            shown(self.after),
            shown(self.best),
            self.runs,
            self.seconds,
            notes.join(", ")
        )
    }

    /// Its row of the history, under the name of the run.
    pub(super) fn for_history(&self, name: Option<&str>) -> HistoryRow {
        HistoryRow {
            commit: commit(),
            name: name.map(str::to_owned),
            issue: self.issue.clone(),
            date: now(),
            before: self.before,
            tokens: self.after,
            runs: self.runs,
            seconds: self.seconds,
            verdict: self.verdict.to_string(),
        }
    }
}

/// The first line of the table.
pub(super) fn header() -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6} {:>5} {:>8}  {}\n",
        "issue", "python", "before", "after", "best", "ratio", "runs", "seconds", "verdict"
    )
}

/// The last line of the table.
pub(super) fn footer(rows: &[IssueFigures]) -> String {
    let ratios: Vec<f64> = rows.iter().filter_map(IssueFigures::ratio).collect();
    let verified = rows
        .iter()
        .filter(|row| row.verdict == IssueVerdict::Verified)
        .count();
    let smaller = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let count = rows.len();
    let mut text = format!("{verified} of {count} verified");
    if !ratios.is_empty() {
        let mean = geometric_mean(ratios.iter().copied());
        let with = ratios.len();
        let _ = write!(
            text,
            "; by the best known size {mean:.2} (geometric mean of {with}), {smaller} smaller"
        );
    }
    text + "\n"
}
