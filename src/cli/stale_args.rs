//! The arguments of `stale`, as typed. The doc comments are the help texts.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::values::duration;

pub(super) const STALE_EXAMPLES: &str = "\
Examples:
  minrepro stale checkout --tests test/export        marks of some files
  minrepro stale checkout --issue 123456 --apply     marks of an issue, removed
  minrepro stale checkout --since v2.9.0             marks of issues that commits fix since then";

/// The arguments of `stale`.
#[derive(Clone, Debug, Args)]
pub struct StaleArgs {
    /// The checkout.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Check only tests in files whose path contains this.
    #[arg(long, value_name = "PATTERN")]
    pub tests: Option<String>,
    /// Check only marks that name this issue.
    #[arg(long, value_name = "NUMBER")]
    pub issue: Option<u64>,
    /// Check only marks that name an issue that a commit since this one claims to fix.
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Remove the stale marks from the checkout.
    #[arg(long)]
    pub apply: bool,
    /// File for the patch.
    #[arg(short, long, value_name = "FILE", default_value = "stale.patch")]
    pub output: PathBuf,
    /// Print every mark with its result as JSON.
    #[arg(long)]
    pub json: bool,
    /// The interpreter [default: that of the active virtual or conda environment, else python3].
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Time limit of each run of a file's tests in seconds.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "120")]
    pub timeout: Duration,
    /// Runs at a time [default: the number of cores].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}
