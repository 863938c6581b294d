//! The arguments of `diagnose`, as typed. The doc comments are the help texts.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{
    exit::Exit,
    scrub_args::ProbeArgs,
    values::{build, duration, variable},
};

/// The statuses that have their own meaning for `diagnose`.
pub(super) const DIAGNOSE_STATUSES: &[(Exit, &str)] = &[
    (Exit::Reduced, "diagnosed"),
    (Exit::NotReproduced, "the script does not show the bug"),
    (Exit::Usage, "wrong flags or files"),
    (Exit::Unstable, "the bug shows too rarely"),
    (Exit::Environment, "Python or PyTorch is missing or broken"),
];

pub(super) const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  minrepro diagnose small.py                          works best on a minimized script
  minrepro diagnose small.py -s \"InductorError\" --report diagnosis.html
  minrepro diagnose small.py --also nightly=~/venvs/nightly/bin/python
  minrepro diagnose --explain backend                 what to run and to read for a category";

/// The arguments of `diagnose`.
#[derive(Clone, Debug, Args)]
pub struct DiagnoseArgs {
    /// The script that shows the bug.
    #[arg(value_name = "SCRIPT", required_unless_present = "explain")]
    pub script: Option<PathBuf>,
    /// How the script is run.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// Set an environment variable in each run.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
    /// Write the diagnosis: FILE.html, FILE.md or FILE.json; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Folder for logs and artifacts [default: NAME.diagnosis beside the script].
    #[arg(long, value_name = "FOLDER")]
    pub artifacts: Option<PathBuf>,
    /// Run the script under another interpreter or build as well, and say whether the bug shows
    /// there; may be given several times.
    #[arg(long, value_name = "NAME=PYTHON", value_parser = build)]
    pub also: Vec<(String, PathBuf)>,
    /// A test that `--emit-test` wrote for this script: run it as well, here and under each
    /// interpreter of `--also`.
    #[arg(long, value_name = "FILE")]
    pub emitted_test: Option<PathBuf>,
    /// Time limit of PyTorch's own minifier, and again of the minimization of its result; with
    /// this, small graphs are minified as well [default: 60, and 180].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub minifier_time: Option<Duration>,
    /// Explain a category, without running anything: how it shows, what to run, and what to read in
    /// the output.
    #[arg(long, value_name = "CATEGORY", conflicts_with = "script")]
    pub explain: Option<String>,
}
