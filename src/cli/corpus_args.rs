//! The arguments of `corpus`, as typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{bench_args::ISSUES, exit::Exit, help::statuses};

/// The arguments of `corpus`.
#[derive(Clone, Debug, Args)]
pub struct CorpusArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: CorpusVerb,
}

/// The verbs of `corpus`.
#[derive(Clone, Debug, Subcommand)]
pub enum CorpusVerb {
    /// Fetch the code of historical issues with `gh`, and compare it with the recorded hashes.
    ///
    /// The code belongs to other people, so it is written to the user's cache folder only. Code
    /// that was fetched before is used if GitHub cannot be reached. Nothing is run.
    #[command(after_long_help = fetch_help())]
    Fetch(CorpusFetchArgs),
}

/// The arguments of `corpus fetch`.
#[derive(Clone, Debug, Args)]
pub struct CorpusFetchArgs {
    /// The list of issues.
    #[arg(value_name = "FILE", default_value = ISSUES)]
    pub file: PathBuf,
    /// Fetch only these issues.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Ask nobody; compare the code that was fetched before.
    #[arg(long)]
    pub offline: bool,
    /// Write the hashes of the fetched code into FILE.
    #[arg(long)]
    pub record: bool,
}

const FETCH_EXAMPLES: &str = "\
Examples:
  minrepro corpus fetch                               fetches all issues of corpus/historical/issues.toml
  minrepro corpus fetch --only pandas-43267           fetches one
  minrepro corpus fetch --offline                     compares what was fetched before
  minrepro corpus fetch --record                      also writes the hashes of what was fetched";

fn fetch_help() -> String {
    let statuses = statuses(&[
        (
            Exit::Reduced,
            "every issue was looked up; the table shows what changed",
        ),
        (Exit::Usage, "wrong flags or files"),
        (
            Exit::Environment,
            "GitHub could not be asked about some issues that were not fetched before",
        ),
    ]);
    format!("{FETCH_EXAMPLES}\n\n{statuses}")
}
