//! Arguments as typed. The doc comments are the help.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::scrub::issue::Repo;

const EXAMPLES: &str = "\
Examples:
  minrepro script.py --signature \"RuntimeError: expected scalar\"
  minrepro script.py                                  derives the signature from the script's own failure
  minrepro script.py --python ~/venvs/torch29/bin/python -o small.py
  minrepro script.py --test ./still-broken.sh         exit status 0 means: still interesting
  minrepro script.py --signature RuntimeError -- --epochs 1
  minrepro check script.py                            shows the signature and how steady it is

Signatures:
  Class: text     the exception's class (its last dotted part, or more) and a part of its message
  Class           the class alone
  text            in the exception's class and message, else on stderr, else on stdout
  /regex/         the same by a regular expression; /regex/i ignores case
  exit:N          the exit status; exit:2,3 is either
  signal:NAME     death by a signal; signal:SIGSEGV,SIGABRT is by either
  timeout         it does not end, held up by the same call as the script
  stdout:TEXT     on standard output
  stderr:TEXT     on standard error
  at:PLACE        where it was raised: torch/_dynamo/guards.py, check() or a line of the script
  in:PLACE        where it was when it died of a signal or was ended
  cause:Class: text
                  the exception, what it was raised from, or what it holds as a group
  An ellipsis in a text stands for anything within a line: expected … but got
  Several --signature must all hold.

Exit status:
  0    reduced and confirmed, also when nothing could go
  1    the script does not show the bug
  2    wrong flags or files
  3    stopped by --max-runs or --max-time; the best so far was written
  4    the bug shows too rarely
  5    Python or another tool is missing or broken, or the disk is full
  6    a security concern, and nobody has said to go on
  70   a bug in minrepro
  130  interrupted (143: terminated); the best so far was written";

const SCRUB_EXAMPLES: &str = "\
Examples:
  minrepro scrub 123456 --dry-run                     shows all, writes nothing to the issue
  minrepro scrub https://github.com/pytorch/pytorch/issues/123456
  minrepro scrub 123456 --with einops --python ~/venvs/torch29/bin/python
  minrepro scrub 123456 --versions 2.6.0,2.7.1,2.8.0 --install --pytorch ~/pytorch
  minrepro scrub --from script.py --signature \"RuntimeError: expected scalar\"

Exit status:
  0    scrubbed, whatever came of it but for these
  1    it no longer reproduces, or fails in another way
  2    wrong flags or files
  5    packages, hardware, Python, `gh` or GitHub are missing, or a write went wrong
  6    a security concern, and nobody has said to go on
  130  interrupted; the same command goes on from there";

const BISECT_EXAMPLES: &str = "\
Examples:
  minrepro bisect x.py -s \"RuntimeError: expected\" --env 2.6.0=~/t26/bin/python --env 2.9.1=python3
  minrepro bisect x.py -s \"RuntimeError: expected\" --versions 2.6.0,2.7.1,2.8.0 --install
  minrepro bisect x.py -s \"RuntimeError: expected\" --pytorch ~/pytorch --issue 123456

Exit status:
  0    the change was found
  1    all versions do the same
  5    no version can tell, or there are fewer than two";

/// Minimizes a Python script that shows a bug.
///
/// Gives back the smallest script that still shows the same bug. The script itself is never
/// changed, and nothing in its folder is written but the result.
#[derive(Debug, Parser)]
#[command(
    name = "minrepro",
    version,
    after_long_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do; without a verb, the script is minimized.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// The default verb.
    #[command(flatten)]
    pub reduce: ReduceArgs,
    /// How to speak.
    #[command(flatten)]
    pub globals: Globals,
}

/// The verbs besides the default.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Runs a script several times and shows the signature that would be used and how steady it is.
    Check(CheckArgs),
    /// Takes a GitHub issue to a minimized repro, a report and a comment.
    ///
    /// Fetches the issue by `gh`, finds its repro and its error, judges whether it is to be
    /// reproduced, reviews the script before it is run, runs it, finds out when it was fixed or
    /// minimizes it, and drafts the comment. Nothing is written to the issue that was not shown
    /// before, word for word, and agreed to: PyTorch's policy on AI asks that a person has read
    /// what is posted. Every question can be answered in advance by the flag that it names.
    #[command(after_long_help = SCRUB_EXAMPLES)]
    Scrub(Box<ScrubArgs>),
    /// Finds the version in which a bug came or went.
    #[command(after_long_help = BISECT_EXAMPLES)]
    Bisect(BisectArgs),
    /// Shows what a script would do that a stranger's script should not; runs nothing. Ends with 6
    /// where it finds something.
    Review(ReviewArgs),
    /// Lists the reduction passes, or explains one.
    Passes(PassesArgs),
    /// Prints a completion script for a shell.
    Completions(CompletionsArgs),
    /// Minimizes every case of a corpus and prints a table.
    Bench(BenchArgs),
}

/// How to speak.
#[derive(Clone, Copy, Debug, Args)]
pub struct Globals {
    /// Says nothing but errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Says more: every accepted change.
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

/// What a run needs.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The sign of the bug; see below. Without it and --test it is derived from the script's own
    /// failure.
    #[arg(short, long, value_name = "SIG", conflicts_with = "test")]
    pub signature: Vec<String>,
    /// What the bug must not show under: `NAME=VALUE` for a variable, or else a command that runs
    /// the candidate, which is its last argument: `--control "python3.12 -O"`.
    #[arg(long, value_name = "CMD-OR-ENV", conflicts_with = "test")]
    pub control: Option<String>,
    /// The share of runs that must show a bug which does not show each time [default: a sixteenth
    /// of the script's own].
    #[arg(long, value_name = "RATE", value_parser = share)]
    pub min_rate: Option<f64>,
    /// Refuses the same words from elsewhere in a library, which are only told otherwise.
    #[arg(long)]
    pub strict: bool,
    /// A test that exits with 0 while the candidate is still interesting.
    ///
    /// Runs in the scratch folder that holds the candidate under the script's own name; the
    /// candidate's path is its last argument.
    #[arg(long, value_name = "CMD")]
    pub test: Option<String>,
    /// The interpreter [default: that of the active virtual or conda environment, else python3].
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Seconds for each run [default: four times the slowest run of the script itself, 10 at least,
    /// 60 at most]. What does nothing but wait is ended after twice the slowest run, 1 at least.
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Memory for each run and all its processes, 4G say [default: 16G, or three quarters of what
    /// the machine has].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Sets a variable for each run.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
    /// Whether runs are kept from writing outside their scratch folders, from the network and from
    /// other processes.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub sandbox: SandboxWhen,
    /// Whether candidates are forked from an interpreter that has imported what the script imports.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub runner: RunnerKind,
    /// Runs at a time [default: the number of cores]. The result does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// The script's own arguments.
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// From where candidates start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunnerKind {
    /// Warm, where that shows the bug just as well and saves time.
    #[default]
    Auto,
    /// Warm, or not at all.
    Warm,
    /// Each in a fresh interpreter.
    Cold,
}

/// Whether runs are confined.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum SandboxWhen {
    /// As far as this system can.
    #[default]
    Auto,
    /// In full, or nothing is run.
    Require,
    /// Not at all.
    Off,
}

/// Minimizes a script.
#[derive(Clone, Debug, Args)]
pub struct ReduceArgs {
    /// The script that shows the bug.
    #[arg(required = true, value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// What a run needs.
    #[command(flatten)]
    pub run: RunArgs,
    /// Where the result goes; `-` is standard output [default: NAME.min.py beside the script].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stops after so long: 90, 10m, 1h30m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Stops after so many candidate runs.
    #[arg(long, value_name = "N")]
    pub max_runs: Option<u64>,
    /// The passes to use, or, as `no-NAME`, not to use.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// Writes a report: FILE.html, FILE.md or FILE.json.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Writes the result as a unittest that fails by the bug, in PyTorch's form where the script
    /// uses PyTorch.
    ///
    /// It is run before it is written, and says where it belongs by the component that has the bug.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["test", "args"])]
    pub emit_test: Option<PathBuf>,
    /// Does not try what of the result is necessary: each device, type, size, setting, variable.
    #[arg(long)]
    pub no_ablation: bool,
    /// How progress is told: for people, or one JSON value a line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Neither uses nor keeps a record of candidates tried; a rerun starts anew.
    #[arg(long)]
    pub no_journal: bool,
}

/// How progress is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// JSON, a line an event.
    Jsonl,
}

/// Checks a script.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// The script that shows the bug.
    #[arg(value_name = "SCRIPT")]
    pub script: PathBuf,
    /// How often it is run.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// What a run needs.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Reviews a script.
#[derive(Clone, Debug, Args)]
pub struct ReviewArgs {
    /// The script.
    #[arg(value_name = "SCRIPT")]
    pub script: PathBuf,
    /// Prints the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// How a script is run by the verbs that run it as it is.
#[derive(Clone, Debug, Args)]
pub struct ProbeArgs {
    /// The sign of the bug [for an issue: what it reports]. Several must all hold.
    #[arg(short, long, value_name = "SIG")]
    pub signature: Vec<String>,
    /// The interpreter [default: that of the active virtual or conda environment, else python3].
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Seconds for each run of the script as it is [default: 120].
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Memory for each run and all its processes [default: 16G, or three quarters of what the
    /// machine has].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Whether runs are kept from writing outside their scratch folders, from the network and from
    /// other processes.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub sandbox: SandboxWhen,
    /// Runs at a time [default: the number of cores].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// Versions to look for a bug in.
#[derive(Clone, Debug, Args)]
pub struct VersionArgs {
    /// A version and the interpreter that has it [default: the conda environments named
    /// pytorch-VERSION].
    #[arg(long, value_name = "VERSION=PYTHON", value_parser = environment)]
    pub env: Vec<(String, PathBuf)>,
    /// Versions of PyTorch in environments of uv.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub versions: Vec<String>,
    /// Lets uv install those that are missing.
    #[arg(long, requires = "versions")]
    pub install: bool,
    /// A checkout of PyTorch: its history is searched for the change, its tests for those that wait
    /// for it.
    #[arg(long, value_name = "FOLDER")]
    pub pytorch: Option<PathBuf>,
}

/// Scrubs an issue.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct ScrubArgs {
    /// The issue, by its number or its address.
    #[arg(
        value_name = "NUMBER",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    pub issue: Option<Named>,
    /// An issue as `gh api repos/OWNER/NAME/issues/NUMBER` prints it (FILE.json), or a script; the
    /// network is not used.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// The repository [default: that of the address, else pytorch/pytorch].
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<Repo>,
    /// Where scripts, report and what is remembered go [default: scrub-NUMBER].
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Only shows what would be written to the issue.
    #[arg(long, conflicts_with = "post")]
    pub dry_run: bool,
    /// Agrees in advance to what will be written: for scrubs that nobody watches. You answer for
    /// what is posted.
    #[arg(long)]
    pub post: bool,
    /// Prints the whole report as JSON, the plan in it; asks nothing.
    #[arg(long)]
    pub json: bool,
    /// What the issue is, whatever the rules say.
    #[arg(long, value_enum, value_name = "SORT")]
    pub assume: Option<Assume>,
    /// Runs the script whoever wrote it and whatever the review finds; it is confined all the same.
    #[arg(long)]
    pub trust: bool,
    /// Installs a package for the run, into the scrub's folder.
    #[arg(long, value_name = "PKG")]
    pub with: Vec<String>,
    /// Which piece of code is the repro, where several may be.
    #[arg(long, value_name = "N")]
    pub pick: Option<usize>,
    /// Verifies and minimizes what somebody confirmed not long ago.
    #[arg(long)]
    pub reverify: bool,
    /// Plans to close an old issue that nobody can act upon.
    #[arg(long)]
    pub close_stale: bool,
    /// How the script is run.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// Where to look for the version in which it was fixed.
    #[command(flatten)]
    pub versions: VersionArgs,
}

/// An issue as the user names it: `7`, `#7`, `OWNER/NAME#7`, or its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The repository, where it is told.
    pub repo: Option<Repo>,
    /// The number.
    pub number: u64,
}

impl std::str::FromStr for Named {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || "an issue is named by its number, or by its address".to_owned();
        let number = |digits: &str| digits.parse().ok().filter(|it| *it > 0).ok_or_else(unknown);
        let path = text.strip_prefix("https://").unwrap_or(text);
        if let Some(path) = path.strip_prefix("github.com/") {
            // What follows the number names a comment.
            let path = path
                .split(['#', '?'])
                .next()
                .unwrap_or_default()
                .trim_end_matches('/');
            let (repo, digits) = path.split_once("/issues/").ok_or_else(unknown)?;
            return Ok(Self {
                repo: Some(repo.parse()?),
                number: number(digits)?,
            });
        }
        match text.split_once('#') {
            Some(("", digits)) => Ok(Self {
                repo: None,
                number: number(digits)?,
            }),
            Some((repo, digits)) => Ok(Self {
                repo: Some(repo.parse()?),
                number: number(digits)?,
            }),
            None => Ok(Self {
                repo: None,
                number: number(text)?,
            }),
        }
    }
}

/// What an issue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// To be reproduced.
    Bug,
    /// Another issue has it.
    Duplicate,
    /// A wish for something new.
    Feature,
    /// Work on the code.
    Refactoring,
    /// A question or a discussion.
    Question,
    /// A list of issues.
    Tracker,
}

/// Bisects.
#[derive(Clone, Debug, Args)]
pub struct BisectArgs {
    /// The script that shows the bug in some versions.
    #[arg(value_name = "SCRIPT")]
    pub script: PathBuf,
    /// How the script is run.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// The versions.
    #[command(flatten)]
    pub versions: VersionArgs,
    /// Probes at the same time.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub at_once: u16,
    /// The issue that a change may name.
    #[arg(long, value_name = "NUMBER")]
    pub issue: Option<u64>,
    /// Prints the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Lists passes.
#[derive(Clone, Debug, Args)]
pub struct PassesArgs {
    /// What of them.
    #[command(subcommand)]
    pub verb: Option<PassesVerb>,
}

/// What to say of passes.
#[derive(Clone, Debug, Subcommand)]
pub enum PassesVerb {
    /// Explains one pass, with an example.
    Explain {
        /// The pass.
        name: String,
    },
}

/// Prints completions.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Runs a corpus.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// What to run: folders of cases, or single cases.
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// An interpreter for the cases that it fits; may be given several times.
    ///
    /// A case gets the newest that fits its range and has its packages. Without this option they
    /// are looked for on the search path, with pyenv, and, for a case that needs the package NAME
    /// at VERSION, in `minrepro/NAME-VERSION` in the user's cache folder.
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Vec<PathBuf>,
    /// Only checks that `repro.py` and `ideal.py` show the case's signature, and that `ideal.py`
    /// does on the rung that the case names but not on the next weaker one; reduces nothing.
    #[arg(long, conflicts_with_all = ["json", "keep"])]
    pub check: bool,
    /// How often `--check` runs `repro.py` and `ideal.py`.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "check", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub runs: u8,
    /// Only times `repro.py` and `ideal.py`, in a fresh interpreter and forked from one that has
    /// imported what they import; reduces nothing.
    #[arg(long, conflicts_with_all = ["check", "keep", "runner", "jobs"])]
    pub speed: bool,
    /// Also tries what of each result is necessary, and repeats each run that shows a need.
    #[arg(long, conflicts_with_all = ["check", "speed"])]
    pub ablation: bool,
    /// Runs at a time [default: the number of cores].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Whether candidates are forked from an interpreter that has imported what the script imports.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub runner: RunnerKind,
    /// Writes all figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Keeps the results: a file for each case.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}

/// A share of runs.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.001..1.0).contains(&share) => Ok(share),
        _ => Err("a share of runs lies between 0.001 and 1".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    };
    parsed.and_then(|it| {
        if it.is_zero() {
            Err("it must be more than nothing".to_owned())
        } else {
            Ok(it)
        }
    })
}

fn size(text: &str) -> Result<u64, String> {
    let size = text.parse::<bytesize::ByteSize>()?.as_u64();
    if size < 1 << 20 {
        Err("less than 1M is too little for any interpreter".to_owned())
    } else {
        Ok(size)
    }
}

fn environment(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((version, python)) if !version.is_empty() && !python.is_empty() => {
            // Shells leave a `~` behind an equals sign as it is.
            let home = std::env::var_os("HOME").filter(|it| !it.is_empty());
            let path = match (python.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => PathBuf::from(home).join(below),
                _ => PathBuf::from(python),
            };
            Ok((version.to_owned(), path))
        }
        _ => Err("it has the form VERSION=PYTHON".to_owned()),
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it has the form NAME=VALUE".to_owned()),
    }
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
    fn times_and_sizes_are_read_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_mins(90)));
        assert!(duration("0").is_err() && duration("-1").is_err() && duration("soon").is_err());
        assert_eq!(size("4G"), Ok(4_000_000_000));
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert!(size("12").is_err() && size("much").is_err());
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
