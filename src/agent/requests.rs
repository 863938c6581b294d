//! The arguments of the tools, and the command lines that they stand for. Agents read the doc
//! comments.

use schemars::JsonSchema;
use serde::Deserialize;

/// How a script is run and judged.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct RunRequest {
    /// The path of the script that shows the bug, or its whole text if that has several lines.
    pub(super) script: String,
    /// The signature of the bug, such as `RuntimeError: expected scalar`. Without it, it is derived
    /// from the script's own failure.
    #[serde(default)]
    pub(super) signature: Option<String>,
    /// The interpreter. Without it, that of the active environment, else `python3`.
    #[serde(default)]
    pub(super) python: Option<String>,
    /// Where the bug must not show: `NAME=VALUE` for a variable, or a command.
    #[serde(default)]
    pub(super) control: Option<String>,
    /// The time limit of each run: `30`, `2m`.
    #[serde(default)]
    pub(super) timeout: Option<String>,
}

/// The arguments of `check`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct CheckRequest {
    /// How the script is run.
    #[serde(flatten)]
    pub(super) running: RunRequest,
    /// A program that should show the same bug: its path, or its text. It is judged as a reduction
    /// judges its result.
    #[serde(default)]
    pub(super) candidate: Option<String>,
    /// How often to run the script: 5 unless given.
    #[serde(default)]
    pub(super) runs: Option<u16>,
}

/// The arguments of `minimize`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct MinimizeRequest {
    /// How the script is run.
    #[serde(flatten)]
    pub(super) running: RunRequest,
    /// A file for the result. Without it, the result is only returned.
    #[serde(default)]
    pub(super) output: Option<String>,
    /// Stop after this time with the best result so far: `10m` unless given.
    #[serde(default)]
    pub(super) max_time: Option<String>,
    /// Names in code, or line numbers, that must stay.
    #[serde(default)]
    pub(super) keep: Vec<String>,
}

/// The arguments of `review`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct ReviewRequest {
    /// The path of the script, or its whole text if that has several lines.
    pub(super) script: String,
}

/// The arguments of `scrub_dry_run`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct ScrubRequest {
    /// The issue: its number in pytorch/pytorch, or its URL.
    #[serde(default)]
    pub(super) issue: Option<String>,
    /// A file instead: an issue as `gh api repos/OWNER/NAME/issues/NUMBER` prints it, or a script.
    #[serde(default)]
    pub(super) from: Option<String>,
    /// The interpreter.
    #[serde(default)]
    pub(super) python: Option<String>,
    /// A folder for scripts, report and state, which must be new or of the same issue. Without it,
    /// nothing is kept.
    #[serde(default)]
    pub(super) dir: Option<String>,
}

/// The arguments of `report`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(super) struct ReportRequest {
    /// The form.
    #[serde(default)]
    pub(super) form: ReportName,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReportName {
    /// For an issue.
    #[default]
    Markdown,
    /// All of it.
    Json,
    /// One page.
    Html,
}

impl RunRequest {
    /// The options, without the script.
    pub(super) fn options(&self) -> Vec<String> {
        let given = [
            ("--signature", &self.signature),
            ("--python", &self.python),
            ("--control", &self.control),
            ("--timeout", &self.timeout),
        ];
        options(&given)
    }
}

impl ScrubRequest {
    /// The command line, but for the folder.
    pub(super) fn command(&self) -> Vec<String> {
        let mut words: Vec<String> = ["scrub", "--dry-run", "--json"].map(str::to_owned).to_vec();
        words.extend(options(&[
            ("--from", &self.from),
            ("--python", &self.python),
        ]));
        if let Some(issue) = &self.issue {
            words.push("--".to_owned());
            words.push(issue.clone());
        }
        words
    }
}

/// `--name=value` for each value that was given: one word, so that no value is taken for an option.
pub(super) fn options(given: &[(&str, &Option<String>)]) -> Vec<String> {
    let given = given.iter();
    given
        .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}={value}")))
        .collect()
}
