//! The nine steps of a scrub, a file each, and what they hand on. Each takes what is known so far
//! and gives the next, or an end with its reason.

pub(super) mod actionable;
pub(super) mod analyze;
pub(super) mod fetch;
pub(super) mod fixed;
pub(super) mod minimize;
pub(super) mod recent;
pub(super) mod report;
pub(super) mod reproduce;
pub(super) mod trivial;

use std::{path::PathBuf, time::Duration};

use serde::Serialize;

use super::{
    gh::GitHub,
    issue::{
        Issue, Repo, actionable::Judgement, recent::Confirmation, reported::Reported, repro::Repro,
        versions::Versions,
    },
    plan::IssueWrite,
    prompt::Prompt,
    review::Finding,
    state::ScrubState,
    tool::ExternalTools,
};
use crate::{
    cli::{Failure, Printer},
    engine::Kept,
    runner::Outcome,
};

/// How a scrub ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ScrubEnd {
    /// Closed, or resolved in the comments.
    ClosedAlready,
    /// Another issue has it.
    Duplicate,
    /// A wish, work on the code, a question.
    NotABug,
    /// A list of issues.
    Tracker,
    /// This machine lacks what it takes.
    NeedsHardware,
    /// There is nothing to run, or nothing to hold a run against.
    NeedsRepro,
    /// The code is shown in pictures only.
    ImageOnly,
    /// Packages are missing.
    MissingPackages,
    /// The script is not to be run.
    SecurityConcern,
    /// Someone confirmed it not long ago.
    RecentlyVerified,
    /// The bug is gone.
    DoesNotReproduce,
    /// Something else fails.
    DifferentError,
    /// There is a smaller script.
    Minimized,
    /// There is none.
    AlreadyMinimal,
}

/// What a step comes to.
pub(super) enum Step<T> {
    /// On to the next.
    Next(T),
    /// The end, and why.
    End(ScrubEnd, String),
}

/// Takes what a step hands on, or ends with it.
macro_rules! next {
    ($step:expr) => {
        match $step? {
            $crate::scrub::steps::Step::Next(value) => value,
            $crate::scrub::steps::Step::End(end, why) => return Ok((end, why)),
        }
    };
}
pub(super) use next;

/// Where the issue is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueSource {
    /// On GitHub.
    GitHub(u64),
    /// In a file, as GitHub gives it.
    Saved(PathBuf),
    /// Only the script is there.
    Script(PathBuf),
}

/// Whether writes are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posting {
    /// Shown, then asked once.
    Ask,
    /// Only shown.
    DryRun,
    /// Agreed in advance.
    Agreed,
}

/// What the user says.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct ScrubSettings {
    /// Where the issue is.
    pub source: IssueSource,
    /// The repository.
    pub repo: Repo,
    /// Where scripts, report and what is remembered go.
    pub folder: PathBuf,
    /// Whether writes are carried out.
    pub posting: Posting,
    /// Whether the report is for a machine.
    pub json: bool,
    /// What the issue is, whatever the rules say.
    pub assume: Option<super::issue::actionable::IssueKind>,
    /// Whether the script is run though it gives cause for concern.
    pub trust: bool,
    /// Packages to install for the run.
    pub with: Vec<String>,
    /// Which of several repros, counted from 1.
    pub pick: Option<usize>,
    /// Whether to verify again what was confirmed not long ago.
    pub reverify: bool,
    /// Whether to close what is old and forsaken.
    pub close_stale: bool,
    /// The sign of the bug, instead of what the issue reports.
    pub signature: Vec<String>,
    /// What each run of the script as it is gets.
    pub timeout: Duration,
    /// A checkout of PyTorch.
    pub pytorch: Option<PathBuf>,
    /// Environments to look for the version in which it was fixed.
    pub search: super::bisect::Environments,
}

/// A program to be run, several times, by an interpreter.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The interpreter; else the user's.
    pub python: Option<PathBuf>,
    /// The program.
    pub code: String,
    /// Variables for it.
    pub env: Vec<(String, String)>,
    /// How often.
    pub times: usize,
    /// What each run gets.
    pub timeout: Duration,
}

/// What minimizing gave.
#[derive(Clone, Debug)]
pub struct MinimizedScript {
    /// The result.
    pub text: String,
    /// Tokens before and after.
    pub tokens: (u32, u32),
    /// Why each part stays.
    pub kept: Vec<Kept>,
}

/// Where programs are run and minimized: the commands have it, the flow is below them.
pub trait ScriptRunner {
    /// Runs all, at the same time where there are several.
    fn run(&self, trials: &[Trial]) -> Vec<Result<Vec<Outcome>, Failure>>;
    /// Minimizes a script into another file.
    fn minimize(
        &self,
        script: &std::path::Path,
        signature: &[String],
        env: &[(String, String)],
        output: &std::path::Path,
    ) -> Result<MinimizedScript, Failure>;
    /// What verdicts depend on besides the script: the interpreter and its packages.
    fn identity(&self) -> String;
    /// The interpreter.
    fn python(&self) -> PathBuf;
    /// Runs by another interpreter from now on.
    fn set_python(&mut self, python: &std::path::Path) -> Result<(), Failure>;
}

/// What the steps share.
pub(super) struct ScrubContext<'a> {
    pub(super) settings: &'a ScrubSettings,
    pub(super) tools: &'a ExternalTools,
    pub(super) github: Option<GitHub<'a>>,
    pub(super) prompt: Prompt<'a>,
    pub(super) printer: Printer,
    pub(super) runner: &'a mut dyn ScriptRunner,
    pub(super) state: ScrubState,
    pub(super) found: ScrubFindings,
}

/// What was found, as the report shows it.
#[derive(Debug, Default, Serialize)]
pub struct ScrubFindings {
    /// The issue's title.
    pub title: Option<String>,
    /// The versions that it was reported with.
    pub versions: Option<Versions>,
    /// The repro.
    pub repro: Option<Repro>,
    /// What is reported.
    pub reported: Option<Reported>,
    /// What the issue is.
    pub judgement: Option<Judgement>,
    /// What the script would do that it should not.
    pub findings: Vec<Finding>,
    /// Who confirmed it not long ago.
    pub confirmation: Option<Confirmation>,
    /// How the script was changed before it was run, each with its reason.
    pub adaptations: Vec<String>,
    /// What the runs were made with.
    pub ran_with: Option<Tested>,
    /// When it was fixed.
    pub fixed: Option<super::bisect::BisectAnswer>,
    /// Changes that may have fixed it, the likeliest first.
    pub changes: Vec<super::change::CommitCandidate>,
    /// The smaller script.
    pub minimized: Option<Smaller>,
    /// Tests of a checkout that are marked for this issue.
    pub tests: Vec<String>,
    /// What to do next.
    pub next: Option<String>,
    /// Labels to put on.
    #[serde(skip)]
    pub(super) add: Vec<String>,
    /// Labels to take off.
    #[serde(skip)]
    pub(super) remove: Vec<String>,
    /// Close it as not planned, for this reason.
    #[serde(skip)]
    pub(super) close_as_stale: Option<String>,
}

/// What runs were made with, and what they showed.
#[derive(Clone, Debug, Serialize)]
pub struct Tested {
    /// PyTorch and its version; Python and its version where there is no PyTorch.
    pub with: String,
    /// Runs that showed the bug.
    pub same: usize,
    /// All runs.
    pub of: usize,
    /// What one of them showed, in words.
    pub seen: String,
}

/// A smaller script.
#[derive(Clone, Debug, Serialize)]
pub struct Smaller {
    /// Where it is.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// Tokens before.
    pub before: u32,
    /// Tokens after.
    pub after: u32,
    /// What can not go.
    pub necessary: Vec<String>,
}

impl ScrubContext<'_> {
    /// A step begins.
    pub(super) fn step(&self, number: &str, what: &str) {
        self.printer.note(&format!("{number:>3}  {what}"));
    }

    /// What was decided, and why.
    pub(super) fn decided(&self, what: &str) {
        self.printer.note(&format!("     {what}"));
    }

    /// Runs one program; from what is remembered if it was run before.
    pub(super) fn run(&mut self, trial: Trial) -> Result<Vec<Outcome>, Failure> {
        let key = format!(
            "{} {:?} {:?} {} {:?}",
            self.runner.identity(),
            trial.python,
            trial.env,
            trial.times,
            trial.timeout
        );
        let key = blake3::hash(format!("{key}\n{}", trial.code).as_bytes())
            .to_hex()
            .to_string();
        if let Some(known) = self.state.runs.get(&key) {
            return Ok(known.clone());
        }
        let outcomes = self.runner.run(&[trial]).remove(0)?;
        self.state.runs.insert(key, outcomes.clone());
        self.state.keep();
        Ok(outcomes)
    }

    /// A program of our own that asks something; its standard output.
    pub(super) fn ask_python(&mut self, code: &str) -> Result<String, Failure> {
        let trial = Trial {
            python: None,
            code: code.to_owned(),
            env: Vec::new(),
            times: 1,
            timeout: Duration::from_mins(2),
        };
        let outcomes = self.run(trial)?;
        Ok(outcomes
            .first()
            .map(|outcome| outcome.stdout.text().into_owned())
            .unwrap_or_default())
    }

    /// A file of the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.settings.folder.join(name)
    }

    /// The number that files are named by.
    pub(super) fn name(&self) -> String {
        match &self.settings.source {
            IssueSource::GitHub(number) => number.to_string(),
            IssueSource::Saved(path) | IssueSource::Script(path) => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }
}

/// The labels that change, as one write.
pub(super) fn labels(add: &[&str], remove: &[&str]) -> IssueWrite {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    IssueWrite::Labels {
        add: owned(add),
        remove: owned(remove),
    }
}

/// The issue that steps read, where there is one.
pub(super) type Maybe<'a> = Option<&'a Issue>;
