//! Arguments as typed. The doc comments are the help texts.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::{
    bench_args::{BENCH_EXAMPLES, BenchArgs},
    corpus_args::CorpusArgs,
    diagnose_args::DiagnoseArgs,
    help,
    scrub_args::{BisectArgs, ScrubArgs},
    stale_args::{STALE_EXAMPLES, StaleArgs},
    triage_args::{TRIAGE_EXAMPLES, TriageArgs},
    values::{RunnerKind, SandboxWhen, duration, share, size, variable},
};
use crate::runner::Covered;

/// The version with the commit, its date and the target.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("MINREPRO_BUILD"), ")");

/// Minimize a Python script that shows a bug.
///
/// Write the smallest script that still shows the same bug. The script itself is never changed, and
/// nothing but the result is written to its folder.
#[derive(Debug, Parser)]
#[command(
    name = "minrepro",
    version,
    long_version = VERSION,
    after_long_help = help::reduce(),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Cli {
    /// The verb; without one, the script is minimized.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// The default verb.
    #[command(flatten)]
    pub reduce: ReduceArgs,
    /// Options of every verb.
    #[command(flatten)]
    pub globals: Globals,
}

/// The verbs besides the default.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a script several times, and show the signature of its bug and how often it shows.
    Check(CheckArgs),
    /// Turn a GitHub issue into a minimized repro, a report and a comment.
    ///
    /// Fetch the issue with `gh`, find its repro and its error, and decide whether it can be
    /// reproduced. Review the script, then run it. Find out when the bug was fixed, or minimize the
    /// script, and draft the comment. Every write to the issue is shown first, word for word, and
    /// needs your agreement: PyTorch's policy on AI requires that a person has read every post.
    /// Every prompt names the flag that answers it in advance.
    #[command(after_long_help = help::scrub())]
    Scrub(Box<ScrubArgs>),
    /// Find the version in which a bug appeared or disappeared.
    #[command(after_long_help = help::bisect())]
    Bisect(BisectArgs),
    /// Classify a failure of PyTorch: its component, its category, its line, where to look.
    ///
    /// Run the script with less and less of the compiler, and with the logs for its kind of
    /// failure. It works best on a minimized script.
    #[command(after_long_help = help::diagnose())]
    Diagnose(Box<DiagnoseArgs>),
    /// List what a script does that a stranger's script should not do, without running it.
    ///
    /// The exit status is 6 if anything is found.
    Review(ReviewArgs),
    /// Suggest labels for an issue in PyTorch's distributed or compiler queue.
    ///
    /// Add only labels from the built-in tables, each with the line of the issue that supports it.
    /// Remove nothing. Every write is shown first and needs your agreement.
    #[command(after_long_help = TRIAGE_EXAMPLES)]
    Triage(TriageArgs),
    /// Find marks of tests, such as `expectedFailure`, that no longer hold.
    ///
    /// Remove each mark in a copy of the checkout and run its test three times. Write a patch that
    /// removes the marks whose tests pass each time. Change the checkout only with `--apply`.
    #[command(after_long_help = STALE_EXAMPLES)]
    Stale(StaleArgs),
    /// List the reduction passes, or explain one.
    Passes(PassesArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page of minrepro, or of a verb.
    Man(ManArgs),
    /// Print a `SKILL.md` that tells a coding agent when and how to use minrepro.
    Skill,
    /// Serve coding agents over the Model Context Protocol on standard input and output.
    ///
    /// The tools are `check`, `minimize`, `review`, `scrub_dry_run` and `report`. A client starts
    /// this command. Long calls report progress and can be cancelled.
    Mcp,
    /// Minimize every case of a corpus and print a table.
    #[command(after_long_help = BENCH_EXAMPLES)]
    Bench(Box<BenchArgs>),
    /// Fetch the code of the historical issues that `bench --historical` minimizes.
    Corpus(CorpusArgs),
}

/// Options of every verb.
#[derive(Clone, Copy, Debug, Args)]
pub struct Globals {
    /// Print nothing but errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: every accepted change.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorWhen,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How runs are started, limited and judged.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Run this module, as `python -m` does, instead of a script.
    #[arg(short, long, value_name = "NAME", conflicts_with = "script")]
    pub module: Option<String>,
    /// Give each run this file as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// The signature of the bug; `minrepro --help` lists the forms [default: derived from the
    /// script's own failure].
    #[arg(short, long, value_name = "SIG", conflicts_with = "test")]
    pub signature: Vec<String>,
    /// Reject candidates that also show the bug under this control [default: derived, such as the
    /// script without `torch.compile`].
    ///
    /// `NAME=VALUE` sets a variable. Anything else is a command that runs the candidate, whose path
    /// is its last argument: `--control "python3.12 -O"`.
    #[arg(long, value_name = "CMD-OR-ENV", conflicts_with = "test")]
    pub control: Option<String>,
    /// Require that candidates succeed in this other interpreter, such as one with a version
    /// without the bug; the script must succeed in it.
    #[arg(long, value_name = "PYTHON", conflicts_with = "test")]
    pub good: Option<PathBuf>,
    /// The share of runs that must show a flaky bug [default: a sixteenth of the script's own].
    #[arg(long, value_name = "RATE", value_parser = share)]
    pub min_rate: Option<f64>,
    /// Accept candidates with the same words, whatever raises them [default: only those that fail
    /// by the mechanism of the script's own failure].
    ///
    /// The mechanism is what a traceback shows besides the words: the full message, the cause from
    /// which a library raised the exception, and the place in the library.
    #[arg(long)]
    pub loose: bool,
    /// An interestingness test: a command that exits with 0 if the candidate is interesting.
    ///
    /// It runs in a scratch folder that holds the candidate under the script's own name. The
    /// candidate's path is its last argument.
    #[arg(long, value_name = "CMD")]
    pub test: Option<String>,
    /// The interpreter [default: one that fits the script's metadata, else that of the project's
    /// `.venv`, else that of the active virtual or conda environment, else python3].
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Time limit of each run in seconds [default: four times the slowest baseline run, at least
    /// 3 for candidates and 10 for other runs, at most 60].
    ///
    /// Time that a run waits for a processor that other processes use does not count. Idle runs are
    /// killed after twice the slowest baseline run, at least 1 second.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Memory limit of each run with all its processes, such as 4G [default: 16G, or three quarters
    /// of the machine's memory].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Set an environment variable in each run.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
    /// Whether to keep runs from writing outside their scratch folders, using the network and
    /// reaching other processes.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub sandbox: SandboxWhen,
    /// Let confined runs use the network.
    #[arg(long)]
    pub allow_network: bool,
    /// Let confined runs write to this folder: each run gets a copy of its own, which is thrown
    /// away after it.
    #[arg(long, value_name = "DIR")]
    pub allow_write: Vec<PathBuf>,
    /// Whether to fork candidates from an interpreter that has already imported the script's
    /// modules.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub runner: RunnerKind,
    /// Runs at a time [default: the number of cores]; the result does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Whether runs have only the part of the user's environment that is fit for a stranger's
    /// script.
    #[arg(skip)]
    pub scrubbed: bool,
    /// The files besides the script whose code may be inlined.
    #[arg(skip)]
    pub covered: Covered,
    /// The script's own arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// The arguments of the default verb.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as typed")]
pub struct ReduceArgs {
    /// The script that shows the bug.
    ///
    /// `-` is standard input; the result then goes to standard output. A name with `::` is a pytest
    /// test, and a name that ends in `.ipynb` is a notebook.
    #[arg(required_unless_present = "module", value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// How runs are started, limited and judged.
    #[command(flatten)]
    pub run: RunArgs,
    /// File for the result; `-` is standard output [default: NAME.min.py beside the script].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that minrepro did not write.
    #[arg(long)]
    pub force: bool,
    /// Stop after this time: 90, 10m, 1h30m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Stop after this many candidate runs.
    #[arg(long, value_name = "N")]
    pub max_runs: Option<u64>,
    /// Use these passes only; `no-NAME` leaves one out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// Reject candidates without this: a name in code, the text of the line with this number, or a
    /// match of a regular expression; may be given several times.
    #[arg(long, value_name = "NAME|LINE|/REGEX/")]
    pub keep: Vec<String>,
    /// Inline these of the script's modules: `local` (those that are not installed), also installed
    /// packages by their names, `all` (also every package of pure Python), or `none`.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "local"
    )]
    pub inline: Vec<String>,
    /// Write a report: FILE.html, FILE.md or FILE.json; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Write the result as a unit test that fails because of the bug, in PyTorch's style if the
    /// script uses PyTorch.
    ///
    /// The test is run before it is written. It names the component that has the bug.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["test", "args", "stdin"])]
    pub emit_test: Option<PathBuf>,
    /// Print the differences between the script and the result.
    #[arg(long)]
    pub diff: bool,
    /// Skip the final ablation of devices, types, sizes, settings and variables.
    #[arg(long)]
    pub no_ablation: bool,
    /// How to print progress: for people, or as one JSON value per line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Neither read nor write a journal, so a rerun starts from the beginning.
    #[arg(long)]
    pub no_journal: bool,
}

/// How progress is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// As JSON, one event per line.
    Jsonl,
}

/// The arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// The script that shows the bug; `-` is standard input.
    #[arg(required_unless_present = "module", value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// How to print the findings: for people, or as one JSON value per line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// How often to run the script.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// Judge this program as a reduction judges its result; may be given several times.
    ///
    /// The exit status is 0 if all are verified, 1 if one does not show the bug at all, and 7 if
    /// one shows the same words, but by another cause or without passing all checks.
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    pub candidate: Vec<PathBuf>,
    /// How runs are started, limited and judged.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The arguments of `review`.
#[derive(Clone, Debug, Args)]
pub struct ReviewArgs {
    /// The script.
    #[arg(value_name = "SCRIPT")]
    pub script: PathBuf,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `passes`.
#[derive(Clone, Debug, Args)]
pub struct PassesArgs {
    /// The verb; without one, all passes are listed.
    #[command(subcommand)]
    pub verb: Option<PassesVerb>,
}

/// The verbs of `passes`.
#[derive(Clone, Debug, Subcommand)]
pub enum PassesVerb {
    /// Explain a pass, with an example.
    Explain {
        /// The pass.
        name: String,
    },
}

/// The arguments of `completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The verb [default: the program itself].
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_table_of_arguments_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_script_may_be_named_like_a_verb_if_its_path_says_so() {
        let cli =
            Cli::try_parse_from(["minrepro", "./check", "--signature", "E", "--", "-q"]).unwrap();
        assert!(cli.verb.is_none());
        assert_eq!(cli.reduce.script, Some("./check".into()));
        assert_eq!(cli.reduce.run.args, ["-q"]);
        assert!(!cli.globals.quiet);
    }
}
