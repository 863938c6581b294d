//! The arguments of `triage`, as typed. The doc comments are the help texts.

use std::path::PathBuf;

use clap::Args;

use super::issue_name::{IssueName, Repo};

pub(super) const TRIAGE_EXAMPLES: &str = "\
Examples:
  minrepro triage 123456 --dry-run                    shows everything, writes nothing to the issue
  gh api repos/OWNER/NAME/issues/123456 > issue.json
  minrepro triage --from issue.json --json            reads no more than the file";

/// The arguments of `triage`.
#[derive(Clone, Debug, Args)]
pub struct TriageArgs {
    /// The issue, by number or URL.
    #[arg(
        value_name = "NUMBER",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    pub issue: Option<IssueName>,
    /// Read an issue as `gh issue view --json ...` or `gh api repos/OWNER/NAME/issues/NUMBER`
    /// prints it, without using the network.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// The repository [default: that of the URL, else pytorch/pytorch].
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<Repo>,
    /// Folder for the state of the writes [default: triage-NUMBER].
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Show every write to the issue, but make none.
    #[arg(long, conflicts_with = "post")]
    pub dry_run: bool,
    /// Agree in advance to every write. You are responsible for every post.
    #[arg(long)]
    pub post: bool,
    /// Print the labels with their evidence and the plan as JSON; never prompt.
    #[arg(long)]
    pub json: bool,
}
