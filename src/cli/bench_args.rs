//! The arguments of `bench`, as typed. The doc comments are the help texts.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::values::{RunnerKind, duration};

pub(super) const BENCH_EXAMPLES: &str = "\
Examples:
  minrepro bench corpus                               minimizes the cases of a folder
  minrepro bench --check corpus/traps                 minimizes nothing; checks that the cases hold
  minrepro corpus fetch                               gets the code of historical issues
  minrepro bench --historical --label crash           minimizes those of one kind
  minrepro bench --historical --name before
  minrepro bench --historical --ray auto              on all machines of a Ray cluster
  minrepro bench --compare before after --plot sizes.html";

/// The list of issues that is taken if none is named.
pub(super) const ISSUES: &str = "corpus/historical/issues.toml";

/// The arguments of `bench`.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct BenchArgs {
    /// Folders of cases, or single cases.
    #[arg(
        value_name = "FOLDER",
        required_unless_present_any = ["historical", "compare", "interpreters"],
        conflicts_with_all = ["historical", "compare"]
    )]
    pub folders: Vec<PathBuf>,
    /// An interpreter for the cases that it fits; may be given several times.
    ///
    /// A case gets the newest interpreter that is within its range and has its packages. Without
    /// this option, minrepro searches for interpreters on the path, with pyenv, and, for a case
    /// that needs the package NAME at VERSION, in `minrepro/NAME-VERSION` in the user's cache
    /// folder.
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Vec<PathBuf>,
    /// Reduce nothing; check that `repro.py` and `ideal.py` show the case's signature, `ideal.py`
    /// on the case's rung but not on the next weaker one, and that the judge tells slips from
    /// `ideal.py`.
    #[arg(long, conflicts_with_all = ["json", "keep"])]
    pub check: bool,
    /// How often `--check` runs `repro.py` and `ideal.py`. Slips are confirmed as often, up to 3
    /// times; with fewer than 3, the last look at them is not made in fresh interpreters.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "check", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub runs: u8,
    /// Reduce nothing; time `repro.py` and `ideal.py`, cold and warm.
    #[arg(long, conflicts_with_all = ["check", "keep", "runner", "jobs"])]
    pub speed: bool,
    /// Also run the final ablation of each result.
    #[arg(long, conflicts_with_all = ["check", "speed"])]
    pub ablation: bool,
    /// Runs at a time [default: the number of cores].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Whether to fork candidates from an interpreter that has already imported the script's
    /// modules.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub runner: RunnerKind,
    /// Let the nodes of the Ray cluster at this address minimize. Each case or issue takes the cores
    /// that `--jobs` says [default: 2].
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["check", "speed", "compare"])]
    pub ray: Option<String>,
    /// Minimize nothing; print the interpreters of this machine as JSON.
    #[arg(long, exclusive = true)]
    pub interpreters: bool,
    /// Write all figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Keep the results: a file for each case.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// Instead of a folder, take issues that were fetched.
    #[command(flatten)]
    pub issues: HistoricalArgs,
}

/// The arguments for historical issues.
#[derive(Clone, Debug, Args)]
pub struct HistoricalArgs {
    /// Minimize issues that `minrepro corpus fetch` has fetched [default:
    /// corpus/historical/issues.toml].
    ///
    /// Issues without an interpreter that fits are skipped and counted. A script that the review
    /// objects to is not run. Each result becomes a row of the history.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = ISSUES,
        conflicts_with_all = ["check", "speed", "ablation"]
    )]
    pub historical: Option<PathBuf>,
    /// Minimize only issues of this kind: a whole kind, or one of its words.
    #[arg(long, value_name = "KIND", requires = "historical")]
    pub label: Option<String>,
    /// Minimize only these issues.
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        requires = "historical"
    )]
    pub only: Vec<String>,
    /// Stop each reduction after this time [default: 4m].
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "historical")]
    pub max_time: Option<Duration>,
    /// Let uv install missing interpreters and packages into minrepro's part of the cache folder.
    #[arg(long, requires = "historical")]
    pub install: bool,
    /// Run scripts whatever the review finds; they are still confined.
    #[arg(long, requires = "historical")]
    pub trust: bool,
    /// The folder of the fetched code [default: minrepro/historical in the user's cache folder].
    #[arg(long, value_name = "FOLDER", requires = "historical")]
    pub code: Option<PathBuf>,
    /// A name for the rows of this run, for `--compare`.
    #[arg(long, value_name = "NAME", requires = "historical")]
    pub name: Option<String>,
    /// The file of the history [default: minrepro/history.jsonl in the user's cache folder].
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Minimize nothing; compare two versions of minrepro by their rows in the history, each a
    /// commit or a name.
    #[arg(
        long,
        value_names = ["A", "B"],
        num_args = 2,
        conflicts_with_all = ["historical", "check", "speed", "ablation", "jobs", "runner", "keep", "json", "python"]
    )]
    pub compare: Vec<String>,
    /// Write the comparison as a page with a plot: FILE.html.
    #[arg(long, value_name = "FILE", requires = "compare")]
    pub plot: Option<PathBuf>,
}
