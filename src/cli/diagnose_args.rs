//! The arguments of `diagnose`, as typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::Args;

use super::{exit::Exit, scrub_args::ProbeArgs, values::variable};

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
    /// Explain a category, without running anything: how it shows, what to run, and what to read in
    /// the output.
    #[arg(long, value_name = "CATEGORY", conflicts_with = "script")]
    pub explain: Option<String>,
}
