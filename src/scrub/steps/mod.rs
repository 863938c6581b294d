//! The nine steps of a scrub, one file each, and the data that they share. Each step takes what is
//! known so far and returns either the input of the next step or an end with its reason.

pub(super) mod actionable;
pub(super) mod analyze;
mod clean;
mod expected;
pub(super) mod fetch;
pub(super) mod fixed;
pub(super) mod minimize;
pub(super) mod recent;
pub(super) mod report;
pub(super) mod reproduce;
pub(super) mod trivial;

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    doubts::Doubt,
    gh::GitHub,
    installed::{self, Installed},
    issue::{
        Issue, Repo, actionable::Judgement, claims::Claims, recent::Confirmation,
        reported::Reported, repro::Repro, versions::Versions,
    },
    prompt::Prompt,
    review::Finding,
    script_runner::{ScriptRunner, Trial},
    state::ScrubState,
    tool::ExternalTools,
    write::IssueWrite,
};
use crate::{
    cli::{Failure, Printer},
    runner::Outcome,
};

/// How a scrub ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ScrubEnd {
    /// The issue is closed, or resolved according to its comments.
    ClosedAlready,
    /// Another issue reports the same bug.
    Duplicate,
    /// The issue is a feature request, a refactoring or a question, or its behaviour is meant.
    NotABug,
    /// The issue is about speed or memory, which no failure shows.
    NeedsMeasuring,
    /// The issue is about a build, an installation or code in another language.
    NotPython,
    /// The issue has nothing to do with the project.
    Unrelated,
    /// The issue lists other issues.
    Tracker,
    /// The script needs hardware that this machine lacks.
    NeedsHardware,
    /// The issue has no script, or no failure to compare a run with.
    NeedsRepro,
    /// The code is only shown in images.
    ImageOnly,
    /// Third-party packages are missing.
    MissingPackages,
    /// Nobody agreed to run the script.
    SecurityConcern,
    /// Somebody confirmed the bug recently.
    RecentlyVerified,
    /// The bug is fixed: the script passes under the conditions of the report.
    DoesNotReproduce,
    /// The reported crash is an error of the library today.
    FailsProperly,
    /// The script passes here, which does not prove that the bug is fixed.
    Inconclusive,
    /// The script fails in another way.
    DifferentError,
    /// A smaller script was found.
    Minimized,
    /// No smaller script was found.
    AlreadyMinimal,
}

/// The result of a step.
pub(super) enum Step<T> {
    /// The input of the next step.
    Next(T),
    /// The end and its reason.
    End(ScrubEnd, String),
}

/// Unwraps the input of the next step, or returns the end.
macro_rules! next {
    ($step:expr) => {
        match $step? {
            $crate::scrub::steps::Step::Next(value) => value,
            $crate::scrub::steps::Step::End(end, why) => return Ok((end, why)),
        }
    };
}
pub(super) use next;

/// The origin of the issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssueSource {
    /// On GitHub.
    GitHub(u64),
    /// A file with the issue as GitHub returns it.
    Saved(PathBuf),
    /// A script without an issue.
    Script(PathBuf),
}

/// Whether writes are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posting {
    /// Show the writes, then ask once.
    Ask,
    /// Only show the writes.
    DryRun,
    /// The user agreed in advance.
    Agreed,
}

/// The settings of a scrub.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct ScrubSettings {
    /// The origin of the issue.
    pub source: IssueSource,
    /// The repository.
    pub repo: Repo,
    /// The folder for scripts, report and memory.
    pub folder: PathBuf,
    /// Whether writes are carried out.
    pub posting: Posting,
    /// Whether the report is for a machine.
    pub json: bool,
    /// The kind of the issue, overriding the rules.
    pub assume: Option<super::issue::actionable::IssueKind>,
    /// Whether the script runs despite security concerns.
    pub trust: bool,
    /// Packages to install for the run.
    pub with: Vec<String>,
    /// The repro to choose among several, counted from 1.
    pub pick: Option<usize>,
    /// Whether to verify a bug that was confirmed recently.
    pub reverify: bool,
    /// Whether to close an abandoned issue.
    pub close_stale: bool,
    /// Whether to take a bug for fixed that an older version shows, whatever else is in doubt.
    pub accept_fix: bool,
    /// The signature of the bug, instead of the reported one.
    pub signature: Vec<String>,
    /// The time limit of each run of the original script.
    pub timeout: Duration,
    /// A checkout of PyTorch.
    pub pytorch: Option<PathBuf>,
    /// Environments in which to search for the version with the fix.
    pub search: super::version_environments::Environments,
}

/// The data that all steps share.
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

impl<'a> ScrubContext<'a> {
    /// The context of an issue of which nothing is known yet.
    pub(super) fn open(
        settings: &'a ScrubSettings,
        tools: &'a ExternalTools,
        runner: &'a mut dyn ScriptRunner,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let github = match settings.source {
            IssueSource::GitHub(number) => {
                Some(GitHub::open(tools, settings.repo.clone(), number)?)
            }
            _ => None,
        };
        Ok(Self {
            settings,
            tools,
            github,
            prompt: Prompt::new(tools, printer, settings.json),
            printer,
            runner,
            state: ScrubState::open(&settings.folder, &settings.repo),
            found: ScrubFindings::default(),
        })
    }
}

/// The findings as the report shows them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScrubFindings {
    /// The issue's title.
    pub title: Option<String>,
    /// The versions with which the bug was reported.
    pub versions: Option<Versions>,
    /// The claims in the posts about when the bug shows.
    pub claims: Claims,
    /// The repro.
    pub repro: Option<Repro>,
    /// The reported failure.
    pub reported: Option<Reported>,
    /// The kind of the issue.
    pub judgement: Option<Judgement>,
    /// The findings of the security review.
    pub findings: Vec<Finding>,
    /// A recent confirmation.
    pub confirmation: Option<Confirmation>,
    /// The changes made to the script before it ran, each with its reason.
    pub adaptations: Vec<String>,
    /// The script as it was run, if it was changed.
    pub adapted: Option<String>,
    /// The command that runs it, if `python FILE` is not enough.
    pub launch: Option<String>,
    /// The versions used for the runs, and their results.
    pub ran_with: Option<Tested>,
    /// The reasons why clean runs do not prove that the bug is fixed.
    pub doubts: Vec<Doubt>,
    /// The result of the search for the version that fixed or broke it.
    pub bisected: Option<super::bisect::BisectAnswer>,
    /// Commits that may have fixed the bug, the likeliest first.
    pub changes: Vec<super::change::CommitCandidate>,
    /// The minimized script.
    pub minimized: Option<Smaller>,
    /// Tests of the checkout that are disabled for this issue.
    pub tests: Vec<String>,
    /// The suggested next action.
    pub next: Option<String>,
    /// Labels to add.
    #[serde(skip)]
    pub(super) add: Vec<String>,
    /// Labels to remove.
    #[serde(skip)]
    pub(super) remove: Vec<String>,
    /// The reason for closing the issue as not planned.
    #[serde(skip)]
    pub(super) close_as_stale: Option<String>,
}

/// The versions used for the runs, and their results.
#[derive(Clone, Debug, Serialize)]
pub struct Tested {
    /// The version of PyTorch, or of Python where there is no PyTorch.
    pub with: String,
    /// The version of Python.
    pub python: String,
    /// The devices.
    pub device: String,
    /// The number of runs that showed the bug.
    pub same: usize,
    /// The number of all runs.
    pub of: usize,
    /// A summary of one of them.
    pub seen: String,
    /// The settings under which the script was run again, once it had passed.
    pub settings: Vec<String>,
}

/// A minimized script.
#[derive(Clone, Debug, Serialize)]
pub struct Smaller {
    /// Its file.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// Tokens before.
    pub before: u32,
    /// Tokens after.
    pub after: u32,
    /// The parts without which the bug disappears.
    pub necessary: Vec<String>,
}

impl ScrubContext<'_> {
    /// Announces a step.
    pub(super) fn step(&self, number: &str, what: &str) {
        self.printer.note(format!("{number:>3}  {what}"));
    }

    /// Shows a decision and its reason.
    pub(super) fn decided(&self, what: &str) {
        self.printer.note(format!("     {what}"));
    }

    /// Runs one program, or returns the remembered outcomes of an equal run of the same round.
    pub(super) fn run(&mut self, trial: Trial, round: usize) -> Result<Vec<Outcome>, Failure> {
        let key = format!(
            "{} {:?} {:?} {} {:?} {round}",
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

    /// Runs a program of our own and returns its standard output.
    pub(super) fn ask_python(&mut self, code: &str) -> Result<String, Failure> {
        let trial = Trial {
            python: None,
            code: code.to_owned(),
            env: Vec::new(),
            times: 1,
            timeout: Duration::from_mins(2),
        };
        let outcomes = self.run(trial, 0)?;
        Ok(outcomes
            .first()
            .map(|outcome| outcome.stdout.text().into_owned())
            .unwrap_or_default())
    }

    /// The versions and devices of the interpreter.
    pub(super) fn installed(&mut self) -> Result<Installed, Failure> {
        Ok(Installed::parse(&self.ask_python(installed::QUESTION)?))
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.settings.folder.join(name)
    }

    /// The number or name that file names contain.
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

/// One write that changes labels.
pub(super) fn labels(add: &[&str], remove: &[&str]) -> IssueWrite {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    IssueWrite::Labels {
        add: owned(add),
        remove: owned(remove),
    }
}

/// The issue, unless only a script was given.
pub(super) type Maybe<'a> = Option<&'a Issue>;
