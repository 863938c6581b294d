//! The arguments of the verbs that take an issue or several versions, as typed. The doc comments
//! are the help texts.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, ValueEnum};

use super::{
    issue_name::{IssueName, Repo},
    values::{SandboxWhen, duration, environment, size},
};

pub(super) const SCRUB_EXAMPLES: &str = "\
Examples:
  minrepro scrub 123456 --dry-run                     shows everything, writes nothing to the issue
  minrepro scrub https://github.com/pytorch/pytorch/issues/123456
  minrepro scrub 123456 --with einops --python ~/venvs/torch29/bin/python
  minrepro scrub 123456 --versions 2.6.0,2.7.1,2.8.0 --install --pytorch ~/pytorch
  minrepro scrub --search 'label:\"oncall: pt2\" is:open' --limit 500
  minrepro scrub --approve                            asks about each plan of that search
  minrepro scrub --from script.py --signature \"RuntimeError: expected scalar\"";

pub(super) const BISECT_EXAMPLES: &str = "\
Examples:
  minrepro bisect x.py -s \"RuntimeError: expected\" --interpreter 2.6.0=~/t26/bin/python \\
      --interpreter 2.9.1=python3
  minrepro bisect x.py -s \"RuntimeError: expected\" --versions 2.6.0,2.7.1,2.8.0 --install
  minrepro bisect x.py -s \"RuntimeError: expected\" --pytorch ~/pytorch --issue 123456";

/// How unchanged scripts are run.
#[derive(Clone, Debug, Args)]
pub struct ProbeArgs {
    /// The signature of the bug [default for an issue: the failure that it reports]; if several are
    /// given, all must hold.
    #[arg(short, long, value_name = "SIG")]
    pub signature: Vec<String>,
    /// The interpreter [default: that of the active virtual or conda environment, else python3].
    #[arg(short, long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Time limit of each run of the unchanged script in seconds [default: 120].
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Memory limit of each run with all its processes [default: 16G, or three quarters of the
    /// machine's memory].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Whether to keep runs from writing outside their scratch folders, using the network and
    /// reaching other processes.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub sandbox: SandboxWhen,
    /// Runs at a time [default: the number of cores].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// The versions to search.
#[derive(Clone, Debug, Args)]
pub struct VersionArgs {
    /// A version and the interpreter that has it [default: the conda environments named
    /// pytorch-VERSION].
    // `--env`, its first name, sets variables in other verbs; scripts that use it still work.
    #[arg(
        long = "interpreter",
        alias = "env",
        value_name = "VERSION=PYTHON",
        value_parser = environment
    )]
    pub env: Vec<(String, PathBuf)>,
    /// Versions of PyTorch, in environments that uv manages.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub versions: Vec<String>,
    /// Let uv install missing versions.
    #[arg(long, requires = "versions")]
    pub install: bool,
    /// A checkout of PyTorch: search its history for the change, and its tests for tests that are
    /// disabled until the bug is fixed.
    #[arg(long, value_name = "FOLDER")]
    pub pytorch: Option<PathBuf>,
}

/// The arguments of `scrub`.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct ScrubArgs {
    /// The issue, by number or URL.
    #[arg(
        value_name = "NUMBER",
        required_unless_present_any = ["from", "search", "approve", "entry"],
        conflicts_with = "from"
    )]
    pub issue: Option<IssueName>,
    /// Read an issue as `gh issue view --json ...` or `gh api repos/OWNER/NAME/issues/NUMBER`
    /// prints it (FILE.json), or a script, without using the network.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Scrub all issues that GitHub's search finds, unattended. Their plans are kept until you
    /// `--approve` them. Run the same command again to continue.
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with_all = ["issue", "from", "pick", "signature"]
    )]
    pub search: Option<String>,
    /// Take so many issues of the search at most [default: 100].
    #[arg(
        long,
        value_name = "N",
        requires = "search",
        value_parser = clap::value_parser!(u16).range(1..=1000)
    )]
    pub limit: Option<u16>,
    /// Show the plans that a search has made, ask about each, and write what you agree to.
    #[arg(
        long,
        conflicts_with_all = ["issue", "from", "search", "dry_run", "post", "json", "pick", "signature"]
    )]
    pub approve: bool,
    /// Let the nodes of the Ray cluster at this address scrub the issues of the search. Writes are
    /// made from here. Each issue takes the cores that `--jobs` says [default: 2].
    #[arg(long, value_name = "ADDRESS", requires = "search")]
    pub ray: Option<String>,
    /// Scrub the issue of an entry of the queue into the working folder, and complete the entry:
    /// what `--ray` runs on a node.
    #[arg(
        long,
        value_name = "FILE",
        hide = true,
        conflicts_with_all = ["issue", "from", "search", "approve", "post", "pick", "signature", "dir"]
    )]
    pub entry: Option<PathBuf>,
    /// The repository [default: that of the URL, else pytorch/pytorch].
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<Repo>,
    /// Folder for scripts, report and state [default: scrub-NUMBER; scrub-backlog for a search].
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Show every write to the issue, but make none.
    #[arg(long, conflicts_with = "post")]
    pub dry_run: bool,
    /// Agree in advance to every write, for unattended scrubs. You are responsible for every post.
    #[arg(long)]
    pub post: bool,
    /// Print the whole report with its plan as JSON; never prompt.
    #[arg(long)]
    pub json: bool,
    /// Treat the issue as one of this kind, whatever the rules say.
    #[arg(long, value_enum, value_name = "KIND")]
    pub assume: Option<Assume>,
    /// Run the script whoever wrote it and whatever the review finds; it is still confined.
    #[arg(long)]
    pub trust: bool,
    /// Install a package for the run, into the scrub's folder.
    #[arg(long, value_name = "PKG")]
    pub with: Vec<String>,
    /// Take this piece of code as the repro if there are several.
    #[arg(long, value_name = "N")]
    pub pick: Option<usize>,
    /// Verify and minimize a bug that somebody confirmed recently.
    #[arg(long)]
    pub reverify: bool,
    /// Plan to close an old issue that nobody can act on.
    #[arg(long)]
    pub close_stale: bool,
    /// Consider the bug fixed if an older version shows it and this one does not, even if other
    /// conditions of the report, such as its device, are not met here.
    #[arg(long)]
    pub accept_fix: bool,
    /// How the script is run.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// Where to search for the version that fixed it.
    #[command(flatten)]
    pub versions: VersionArgs,
}

impl ScrubArgs {
    /// The options of a search that a scrub of one of its issues has as well, as they are typed in
    /// any folder.
    pub fn of_each(&self) -> Vec<String> {
        // All fields, so that none is forgotten.
        let Self {
            issue: _,
            from: _,
            search: _,
            limit: _,
            approve: _,
            ray: _,
            entry: _,
            repo: _,
            dir: _,
            dry_run: _,
            post: _,
            json: _,
            assume,
            trust,
            with,
            pick: _,
            reverify,
            close_stale,
            accept_fix,
            probe,
            versions,
        } = self;
        let ProbeArgs {
            signature: _,
            python,
            timeout,
            memory,
            sandbox,
            jobs,
        } = probe;
        let VersionArgs {
            env,
            versions,
            install,
            pytorch,
        } = versions;
        let mut options = TypedOptions::default();
        options.value("assume", assume.as_ref().map(name_of));
        options.flag("trust", *trust);
        options.values("with", with.iter().cloned());
        options.flag("reverify", *reverify);
        options.flag("close-stale", *close_stale);
        options.flag("accept-fix", *accept_fix);
        options.value("python", python.as_deref().map(anywhere));
        let seconds = timeout.map(|time| time.as_secs_f64().to_string());
        options.value("timeout", seconds);
        options.value("memory", memory.map(|size| format!("{size}B")));
        options.value("sandbox", Some(name_of(sandbox)));
        options.value("jobs", jobs.map(|jobs| jobs.to_string()));
        let named =
            |(version, python): &(String, PathBuf)| format!("{version}={}", anywhere(python));
        options.values("interpreter", env.iter().map(named));
        options.values("versions", versions.iter().cloned());
        options.flag("install", *install);
        options.value("pytorch", pytorch.as_deref().map(anywhere));
        options.0
    }
}

/// Options as they are typed.
#[derive(Default)]
struct TypedOptions(Vec<String>);

impl TypedOptions {
    fn flag(&mut self, name: &str, is_given: bool) {
        if is_given {
            self.0.push(format!("--{name}"));
        }
    }

    fn value(&mut self, name: &str, value: Option<String>) {
        self.values(name, value);
    }

    fn values(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let typed = values.into_iter().map(|value| format!("--{name}={value}"));
        self.0.extend(typed);
    }
}

fn name_of(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A path as it is typed in another folder; a bare name is one of the search path.
pub(crate) fn anywhere(path: &Path) -> String {
    let absolute = if path.components().count() > 1 {
        std::path::absolute(path).ok()
    } else {
        None
    };
    absolute.as_deref().unwrap_or(path).display().to_string()
}

/// The kind of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// A bug to reproduce.
    Bug,
    /// A duplicate of another issue.
    Duplicate,
    /// A request for something new.
    Feature,
    /// Work on the code.
    Refactoring,
    /// A question or a discussion.
    Question,
    /// A list of issues.
    Tracker,
}

/// The arguments of `bisect`.
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
    /// Probes at a time.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub at_once: u16,
    /// Number of the issue that the change may mention.
    #[arg(long, value_name = "NUMBER")]
    pub issue: Option<u64>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}
