//! The result of a reduction as one value, and its views: the terminal, a progress line, JSON,
//! Markdown, HTML; and the files that results are written to. Judges and runs nothing.

mod best;
mod comparison;
mod diff;
mod events;
mod highlight;
mod html;
mod markdown;
mod ours;
mod output;
mod progress;
mod reasons;
mod terminal;
mod testcase;
mod words;
mod write;

use std::{collections::BTreeMap, path::Path};

use minrepro_reducers::syntax::Size;
use serde::{Deserialize, Serialize};

use crate::{
    engine::{Ablated, Commit, Spent, WhyKept},
    judge::{Alone, Confirmed, Truth},
    oracle::Slip,
    text::{in_backticks, visible},
};
pub(crate) use comparison::{CaseFigures, ComparedCase, VersionComparison, geometric_mean};
pub use diff::unified;
pub use events::{EVENTS_VERSION, EventRecord, Phase, SoFar};
pub(crate) use html::html_page;
pub(crate) use markdown::{escaped, fence};
pub(crate) use ours::OurFiles;
pub(crate) use output::{Output, check_writable, encoded, target};
pub use progress::Progress;
pub use terminal::{ending, inspection};
pub use testcase::TestCase;
pub(crate) use write::temporary;
pub use write::write_atomically;

/// The version of the report's form; it grows when a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// The result of a reduction.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// The script.
    pub script: String,
    /// The file of the result; `-` is standard output.
    pub output: String,
    /// The signature of the bug, or the command that judged candidates.
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
    /// How many runs were made, and how long they took.
    #[serde(flatten)]
    pub counts: RunCounts,
    /// The weakest part of PyTorch's compiler that still shows the bug; none if the script compiles
    /// nothing, or if there was no time to find out.
    #[serde(default)]
    pub compiler: Option<String>,
    /// Accepted changes, in order.
    pub commits: Vec<Commit>,
    /// The runs of this session and their time, by the pass that proposed the candidates; `fold`
    /// stands for unions of edits, `trace` for traced runs.
    #[serde(default)]
    pub spent: BTreeMap<String, Spent>,
    /// Failures other than the bug that candidates showed.
    pub slips: Vec<Slip>,
    /// The signature with gaps instead of numbers, if its numbers rejected failures that were the
    /// same apart from them.
    #[serde(default)]
    pub looser: Option<String>,
    /// Why each part of the result stays: the outcome of a run without it. Empty unless the
    /// reduction finished.
    pub kept: Vec<WhyKept>,
    /// The versions of the packages that the result imports, of CUDA if PyTorch is one of them, and
    /// of the system.
    #[serde(default)]
    pub versions: Vec<(String, String)>,
    /// Whether the script and the result show the bug.
    #[serde(flatten)]
    pub reproduction: Reproduction,
    /// The conditions that the bug needs.
    #[serde(flatten)]
    pub ablation: ReportedAblation,
    /// The result as a test, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Emitted>,
    /// The modules that were inlined.
    #[serde(default, skip_serializing_if = "ReportedInlining::is_empty")]
    pub inlining: ReportedInlining,
    /// Why the reduction ended: `done`, `max-runs`, `max-time`, `interrupted` or `failed`.
    pub stop: String,
    /// The parts of the search that were left undone, if a budget was spent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<String>,
}

/// The script and the result.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// A command that reproduces the bug with the result.
    #[serde(default)]
    pub verify: String,
}

/// The modules that were inlined, and those that were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReportedInlining {
    /// Those that the result does without.
    pub modules: Vec<String>,
    /// Those that it still needs, each with the reason.
    pub left: BTreeMap<String, String>,
    /// Installed packages of pure Python that the result still imports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<String>,
    /// How it runs where they cannot be imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
}

impl ReportedInlining {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The reason why the result does not stand alone, in words.
    pub fn obstacle(&self) -> Option<String> {
        if let Some((module, reason)) = self.left.iter().next() {
            return Some(format!(
                "it needs `{module}`, which is not inlined: {reason}"
            ));
        }
        match &self.alone {
            Some(Alone::Not(seen)) => {
                let modules = in_backticks(self.modules.iter().map(String::as_str));
                Some(format!("without {modules} the run shows {seen}"))
            }
            _ => None,
        }
    }

    /// How to inline installed packages.
    pub fn hint(&self) -> Option<String> {
        let names = in_backticks(self.installed.iter().map(String::as_str));
        let flag = self.installed.join(",");
        (!flag.is_empty()).then(|| {
            format!(
                "hint: {names} can be read as Python; try `--inline {flag}` for a result without"
            )
        })
    }

    /// In one line.
    pub fn summary(&self) -> Option<String> {
        if let Some(obstacle) = self.obstacle() {
            return Some(format!("does NOT stand alone: {obstacle}"));
        }
        match self.alone.as_ref()? {
            Alone::Beside(files) if !files.is_empty() => {
                let files = in_backticks(files.iter().map(String::as_str));
                Some(format!("stands alone beside {files}, which it reads"))
            }
            Alone::Beside(_) => Some("stands alone beside the script's other files".to_owned()),
            _ => Some("stands alone: it shows the bug in an empty folder".to_owned()),
        }
    }
}

/// How many runs a reduction made, and how long they took.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunCounts {
    /// Candidate runs in this session.
    pub runs: u64,
    /// Speculative runs by idle workers whose verdicts were not needed.
    #[serde(default)]
    pub runs_ahead: u64,
    /// Candidates whose verdict an earlier session had recorded.
    pub journal_hits: u64,
    /// How long those runs took in the earlier session, in seconds, summed over parallel runs.
    #[serde(default)]
    pub seconds_recalled: f64,
    /// Candidates dropped without a run.
    pub pruned: u64,
    /// Seconds from the first run to the last.
    pub seconds: f64,
    /// Seconds spent in candidate runs, summed over parallel runs.
    pub seconds_in_candidates: f64,
    /// The time limit of each run, in seconds.
    pub timeout: f64,
}

/// Whether the script and the result show the bug, and how.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reproduction {
    /// How many fresh runs of the result were made at the end, and how many showed the bug.
    pub confirmed: Confirmed,
    /// How many runs of the script as given showed the bug, if not all of them did.
    #[serde(default)]
    pub shown: Option<Confirmed>,
    /// How the mechanism of the result's failure differs from the script's, if it does: the same
    /// words, perhaps of another bug.
    #[serde(default)]
    pub mismatch: Option<String>,
    /// The findings of the checks on the result.
    #[serde(default)]
    pub truth: Truth,
    /// The seed that makes the bug show in every run, if it needs one: a variable, or calls that
    /// were added to the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stabilizer: Option<String>,
    /// Whether the failure is one of the script's own code: no library raised it, and the result
    /// imports nothing.
    #[serde(default)]
    pub own: bool,
}

/// The conditions that the bug needs, and those that it does not.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReportedAblation {
    /// The conditions that the bug may depend on, each with the outcome without it. Empty unless
    /// the reduction finished.
    #[serde(default)]
    pub conditions: Vec<Ablated>,
    /// The runs of the ablation; they do not count as candidate runs.
    #[serde(default)]
    pub ablation_runs: u64,
    /// The number of conditions that were not tried because a budget was spent.
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
        let text = match form {
            ReportForm::Json => serde_json::to_string_pretty(self).unwrap_or_default(),
            ReportForm::Markdown => markdown::render(self),
            ReportForm::Html => html::render(self),
        };
        // Much of it comes from runs, and none of these forms is made of control characters.
        visible(&text).into_owned()
    }
}

/// The interpreter, as reports show it; both are empty where a test judges.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InterpreterReport {
    /// Its path.
    pub path: String,
    /// Its name and version.
    pub version: String,
}

/// A result that was written as a test.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Emitted {
    /// The file.
    pub file: String,
    /// The folder for it in PyTorch's repository; none if the bug is not PyTorch's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The number of runs until the test failed because of the bug.
    pub runs: usize,
}
