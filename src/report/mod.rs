//! The result of a reduction as one value, and its views: the terminal, a progress line, JSON,
//! Markdown, HTML. Judges and runs nothing.

mod diff;
mod html;
mod markdown;
mod progress;
mod reasons;
mod terminal;
mod testcase;
mod write;

use std::{collections::BTreeMap, path::Path};

use minrepro_reducers::syntax::Size;
use serde::{Deserialize, Serialize};

use crate::{
    engine::{Ablated, Commit, Spent, WhyKept},
    judge::Confirmed,
    oracle::Slip,
};
pub use diff::unified;
pub use progress::Progress;
pub use terminal::summary;
pub use testcase::TestCase;
pub(crate) use write::temporary;
pub use write::write_atomically;

/// The version of the report's form; it grows when a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// The result of a reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// The script.
    pub script: String,
    /// Where the result was written; `-` is standard output.
    pub output: String,
    /// The signature of the bug, or the test that judged.
    pub signature: String,
    /// The interpreter.
    pub interpreter: InterpreterReport,
    /// How candidates started, cold or warm, and why.
    pub runner: String,
    /// How runs were confined, in words.
    pub confinement: String,
    /// The script and the result.
    #[serde(flatten)]
    pub programs: ReportedPrograms,
    /// What it took.
    #[serde(flatten)]
    pub counts: RunCounts,
    /// Of a script that is compiled by PyTorch, the least that it has to be compiled by to show the
    /// bug.
    #[serde(default)]
    pub compiler: Option<String>,
    /// Accepted changes, in order.
    pub commits: Vec<Commit>,
    /// The cost of this session's runs by the pass that proposed their candidates; `fold` stands for
    /// unions, `trace` for traced runs.
    #[serde(default)]
    pub spent: BTreeMap<String, Spent>,
    /// Failures other than the bug that candidates showed.
    pub slips: Vec<Slip>,
    /// The signature with gaps instead of numbers, if the numbers rejected failures that were
    /// otherwise the same.
    #[serde(default)]
    pub looser: Option<String>,
    /// The outcome without each part of the result: why it stays. Empty unless the reduction is
    /// done.
    pub kept: Vec<WhyKept>,
    /// Whether the script and the result show the bug.
    #[serde(flatten)]
    pub reproduction: Reproduction,
    /// The outcome of the ablation.
    #[serde(flatten)]
    pub ablation: ReportedAblation,
    /// The result as a test, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Emitted>,
    /// Why the reduction ended: `done`, `max-runs`, `max-time`, `interrupted`.
    pub stop: String,
}

/// The script and the result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportedPrograms {
    /// The script as given.
    pub before: Size,
    /// The result.
    pub after: Size,
    /// The text of the script.
    #[serde(default)]
    pub text_before: String,
    /// The text of the result.
    #[serde(default)]
    pub text_after: String,
    /// The command that shows the bug by the result.
    #[serde(default)]
    pub verify: String,
}

/// How many runs a reduction took, and how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunCounts {
    /// Candidate runs, those of earlier sessions not counted.
    pub runs: u64,
    /// Speculative runs besides these, made by idle workers and not needed.
    #[serde(default)]
    pub runs_ahead: u64,
    /// Candidates whose verdict an earlier session had recorded.
    pub journal_hits: u64,
    /// Candidates dropped without a run.
    pub pruned: u64,
    /// Seconds from the first run to the last.
    pub seconds: f64,
    /// Seconds in candidate runs, summed over all that ran at once.
    pub seconds_in_candidates: f64,
    /// The time limit of each run, in seconds.
    pub timeout: f64,
}

/// Whether the script and the result show the bug, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reproduction {
    /// How often the result was run anew at the end, and how often it showed the bug.
    pub confirmed: Confirmed,
    /// How often the script as given showed the bug, if that was not each time.
    #[serde(default)]
    pub shown: Option<Confirmed>,
    /// Where in a library the result fails, if that is not where the script did: the same message,
    /// perhaps of another bug.
    #[serde(default)]
    pub elsewhere: Option<String>,
    /// The seed that makes the bug show in every run, if one was needed: a variable, or calls that
    /// were added to the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stabilizer: Option<String>,
}

/// Which conditions of the result are necessary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportedAblation {
    /// The conditions that the bug may depend on, and the outcome without each. Empty unless the
    /// reduction is done.
    #[serde(default)]
    pub conditions: Vec<Ablated>,
    /// The runs of the ablation, not counted as candidate runs.
    #[serde(default)]
    pub ablation_runs: u64,
    /// How many conditions were not tried because a budget was spent.
    #[serde(default)]
    pub untried: usize,
}

/// The forms in which a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    /// All of it, for programs.
    Json,
    /// For an issue.
    Markdown,
    /// One page.
    Html,
}

impl ReportForm {
    /// The form that a file's name asks for.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "json" => Some(Self::Json),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

impl Report {
    /// The report in one of its forms.
    pub fn render(&self, form: ReportForm) -> String {
        match form {
            ReportForm::Json => serde_json::to_string_pretty(self).unwrap_or_default(),
            ReportForm::Markdown => markdown::render(self),
            ReportForm::Html => html::render(self),
        }
    }
}

/// The interpreter, as reports show it; both are empty where a test judges.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InterpreterReport {
    /// Its path.
    pub path: String,
    /// Its name and version.
    pub version: String,
}

/// A result that was written as a test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Emitted {
    /// The file.
    pub file: String,
    /// The folder where it belongs, from the root of PyTorch; none where the bug is not PyTorch's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// How many runs it took until the test failed because of the bug.
    pub runs: usize,
}
