//! The flow from a GitHub issue to a minimized repro and a reviewed report, and the parts of it
//! that stand alone.
//!
//! Pure functions read the issue (`issue`) and review the script on its syntax tree (`review`). The
//! nine steps (`steps`) decide with them, run scripts by the [`script_runner::ScriptRunner`] of the
//! commands, and write through `gh`. Called by the commands.

pub mod backlog;
pub mod bisect;
mod chance;
pub mod change;
pub mod cluster;
pub mod corpus;
mod doubts;
pub mod gh;
mod installed;
pub mod issue;
pub mod plan;
mod prompt;
pub(crate) mod python;
pub mod repair;
pub mod review;
pub mod script_runner;
mod search;
pub mod state;
pub mod steps;
mod subscription;
mod tool;
pub mod triage;
pub mod version_environments;
pub mod version_search;
pub mod write;

use std::time::Instant;

use serde::Serialize;

pub use plan::Planned;
pub use prompt::Prompt;
use script_runner::ScriptRunner;
use steps::{
    Posting, ScrubContext, ScrubEnd, ScrubFindings, ScrubSettings, Step, next,
    reproduce::Reproduced,
};
pub use tool::{ExternalTools, ToolCall, ToolStream};

use crate::{
    cli::{Exit, Failure, Printer},
    scrub::{
        doubts::{Doubt, DoubtKind},
        gh::GhError,
        issue::{Issue, actionable::IssueKind, repro::Repro},
        tool::Interrupted,
    },
};

/// The result of a scrub.
#[derive(Debug, Serialize)]
pub struct ScrubReport {
    /// The version of this format.
    pub version: u32,
    /// The repository.
    pub repo: String,
    /// The issue.
    pub number: Option<u64>,
    /// The end.
    pub end: ScrubEnd,
    /// Why it ended so.
    pub why: String,
    /// Everything that was found on the way.
    #[serde(flatten)]
    pub found: ScrubFindings,
    /// The comment, if there is something to say.
    pub comment: Option<String>,
    /// The writes with their states.
    pub plan: Vec<Planned>,
    /// Problems with the writes.
    pub troubles: Vec<String>,
    /// Seconds altogether.
    pub seconds: f64,
    /// The signal that asked for the end.
    #[serde(skip)]
    pub interrupted: Option<i32>,
}

impl ScrubReport {
    /// The exit status: that of the end, unless writes went wrong.
    pub fn exit(&self) -> Exit {
        if let Some(signal) = self.interrupted {
            return Exit::Interrupted(signal);
        }
        if !self.troubles.is_empty() {
            return Exit::Environment;
        }
        match self.end {
            ScrubEnd::DoesNotReproduce
            | ScrubEnd::FailsProperly
            | ScrubEnd::Inconclusive
            | ScrubEnd::DifferentError => Exit::NotReproduced,
            ScrubEnd::MissingPackages | ScrubEnd::NeedsHardware => Exit::Environment,
            ScrubEnd::SecurityConcern => Exit::Refused,
            _ => Exit::Reduced,
        }
    }
}

/// Scrubs an issue.
pub fn scrub(
    settings: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<ScrubReport, Failure> {
    scrub_as_read(settings, tools, runner, printer).map(|(report, _)| report)
}

/// Scrubs an issue; also returns the issue as it was when the plan was made.
fn scrub_as_read(
    settings: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<(ScrubReport, Option<Issue>), Failure> {
    let started = Instant::now();
    let mut cx = ScrubContext::open(settings, tools, runner, printer)?;
    cx.state.wait_for_writer(tools)?;
    let issue = steps::fetch::fetch(&mut cx)?;
    if let (Some(issue), Some(github)) = (&issue, &cx.github)
        && settings.posting != Posting::DryRun
        && let Some(restored) = plan::restore_left_behind(issue, github, &cx.state)
    {
        match restored {
            Ok(saved) => printer.note(format!(
                "     an earlier scrub was interrupted; your subscription is {saved:?} again"
            )),
            Err(GhError::Interrupted(signal)) => return Err(Interrupted(signal).into()),
            Err(error) => printer.warning(&format!(
                "an earlier scrub was interrupted, and your subscription could not be restored: \
                 {error}"
            )),
        }
    }
    let (end, why) = go(&mut cx, issue.as_ref())?;
    cx.step("8", &format!("{end:?}: {why}"));
    if let Some(issue) = &issue {
        steps::actionable::consider_closing(&mut cx, issue, end)?;
    }
    let (mut plan, mut troubles, mut interrupted) = (Vec::new(), Vec::new(), None);
    if let Some(issue) = &issue {
        let writes = steps::report::plan(&cx.found, issue, end);
        cx.step("9", "writing");
        let carried;
        (plan, carried) = steps::report::post(&mut cx, issue, &writes)?;
        troubles = carried.troubles;
        interrupted = carried.interrupted;
    }
    let comment = steps::report::comment(&cx.found, end);
    let report = ScrubReport {
        version: 1,
        repo: settings.repo.to_string(),
        number: issue.as_ref().map(|issue| issue.number),
        end,
        why,
        comment,
        found: cx.found,
        plan,
        troubles,
        seconds: started.elapsed().as_secs_f64(),
        interrupted,
    };
    Ok((report, issue))
}

/// The steps that decide, to an end and its reason. Of several pieces of code that may be the repro
/// the first that shows the bug counts.
fn go(cx: &mut ScrubContext<'_>, issue: Option<&Issue>) -> Result<(ScrubEnd, String), Failure> {
    let repros = next!(steps::fetch::read(cx, issue));
    if repros.len() < 2 {
        let attempt = attempt(cx, issue, repros.into_iter().next())?;
        return end(cx, issue, attempt);
    }
    let before = cx.found.clone();
    let mut first = None;
    let count = repros.len();
    for (at, repro) in repros.into_iter().enumerate() {
        cx.found = before.clone();
        cx.step("1", &format!("code {} of {count}", at + 1));
        let attempt = attempt(cx, issue, Some(repro))?;
        let is_it = matches!(
            attempt,
            CodeAttempt::Ran(_, Reproduced::Same(_))
                | CodeAttempt::End(ScrubEnd::SecurityConcern, _)
        );
        if is_it {
            return end(cx, issue, attempt);
        }
        first.get_or_insert((attempt, cx.found.clone()));
    }
    let Some((attempt, found)) = first else {
        return Ok((ScrubEnd::NeedsRepro, "there is no code".to_owned()));
    };
    cx.found = found;
    cx.found.doubts.push(Doubt::new(
        DoubtKind::Source,
        format!("{count} pieces of code may be the repro, and none shows the reported failure"),
    ));
    let ended = end(cx, issue, attempt)?;
    cx.found.next = Some("choose the piece of code that is the repro: `--pick N`".to_owned());
    Ok(ended)
}

/// The result of running a piece of code.
enum CodeAttempt {
    Ran(IssueKind, Reproduced),
    End(ScrubEnd, String),
}

/// Runs a piece of code, unless it ends before.
fn attempt(
    cx: &mut ScrubContext<'_>,
    issue: Option<&Issue>,
    repro: Option<Repro>,
) -> Result<CodeAttempt, Failure> {
    steps::fetch::look_at(cx, issue, repro.as_ref());
    let kind = match steps::actionable::actionable(cx, issue, repro.as_ref())? {
        Step::Next(kind) => kind,
        Step::End(end, why) => return Ok(CodeAttempt::End(end, why)),
    };
    let ready = match steps::analyze::analyze(cx, issue, repro)? {
        Step::Next(ready) => ready,
        // An issue that is not a bug needs no repro.
        Step::End(ScrubEnd::NeedsRepro, why) if kind != IssueKind::Bug => {
            cx.found.add.retain(|label| label != "needs reproduction");
            return Ok(CodeAttempt::End(ScrubEnd::NotABug, why));
        }
        Step::End(end, why) => return Ok(CodeAttempt::End(end, why)),
    };
    if kind == IssueKind::Bug
        && let Step::End(end, why) = steps::recent::recent(cx, issue)?
    {
        return Ok(CodeAttempt::End(end, why));
    }
    Ok(match steps::reproduce::reproduce(cx, ready)? {
        Step::Next(reproduced) => CodeAttempt::Ran(kind, reproduced),
        Step::End(_, why) if kind != IssueKind::Bug => CodeAttempt::End(ScrubEnd::NotABug, why),
        Step::End(end, why) => CodeAttempt::End(end, why),
    })
}

/// The end that follows from running a piece of code.
fn end(
    cx: &mut ScrubContext<'_>,
    issue: Option<&Issue>,
    attempt: CodeAttempt,
) -> Result<(ScrubEnd, String), Failure> {
    let (kind, reproduced) = match attempt {
        CodeAttempt::Ran(kind, reproduced) => (kind, reproduced),
        CodeAttempt::End(end, why) => return Ok((end, why)),
    };
    if kind != IssueKind::Bug {
        let outcome = if matches!(reproduced, Reproduced::Same(_)) {
            "the behaviour that it describes is unchanged"
        } else {
            "the behaviour that it describes has changed"
        };
        return Ok((ScrubEnd::NotABug, outcome.to_owned()));
    }
    match reproduced {
        Reproduced::Passes(showing) => {
            steps::fixed::conclude(cx, issue, &showing, ScrubEnd::DoesNotReproduce)
        }
        Reproduced::FailsProperly(showing) => {
            steps::fixed::conclude(cx, issue, &showing, ScrubEnd::FailsProperly)
        }
        Reproduced::Same(showing) => {
            let end = steps::minimize::minimize(cx, &showing)?;
            if cx.found.next.is_none() {
                cx.found.next = Some("find the cause".to_owned());
            }
            Ok(end)
        }
    }
}
