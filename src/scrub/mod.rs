//! The flow from a GitHub issue to a minimized repro and a reviewed report, and the parts of it
//! that stand alone.
//!
//! Pure functions read the issue (`issue`) and review the script on its syntax tree (`review`). The
//! nine steps (`steps`) decide with them, run scripts by the [`script_runner::ScriptRunner`] of the
//! commands, and write through `gh`. Called by the commands.

pub mod bisect;
pub mod change;
pub mod gh;
pub mod issue;
pub mod plan;
mod prompt;
mod python;
pub mod repair;
pub mod review;
pub mod script_runner;
pub mod state;
pub mod steps;
mod subscription;
mod tool;
pub mod write;

use std::time::Instant;

use serde::Serialize;

pub use plan::Planned;
pub use prompt::Prompt;
use script_runner::ScriptRunner;
use steps::{
    IssueSource, Posting, ScrubContext, ScrubEnd, ScrubFindings, ScrubSettings, next,
    reproduce::Reproduced,
};
pub use tool::{ExternalTools, ToolCall};

use crate::{
    cli::{Exit, Failure, Printer},
    scrub::{
        gh::{GhError, GitHub},
        issue::{Issue, actionable::IssueKind},
        state::ScrubState,
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
            ScrubEnd::DoesNotReproduce | ScrubEnd::DifferentError => Exit::NotReproduced,
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
    let started = Instant::now();
    let github = match settings.source {
        IssueSource::GitHub(number) => Some(GitHub::open(tools, settings.repo.clone(), number)?),
        _ => None,
    };
    let mut cx = ScrubContext {
        settings,
        tools,
        github,
        prompt: Prompt::new(tools, printer, settings.json),
        printer,
        runner,
        state: ScrubState::open(&settings.folder, &settings.repo),
        found: ScrubFindings::default(),
    };
    let issue = steps::fetch::fetch(&mut cx)?;
    if let (Some(issue), Some(github)) = (&issue, &cx.github)
        && settings.posting != Posting::DryRun
        && let Some(restored) = plan::restore_left_behind(issue, github, &cx.state)
    {
        match restored {
            Ok(saved) => printer
                .note(&format!("     an earlier scrub was interrupted; your subscription is {saved:?} again")),
            Err(GhError::Interrupted(signal)) => return Err(Interrupted(signal).into()),
            Err(error) => printer.warning(&format!(
                "an earlier scrub was interrupted, and your subscription could not be restored: {error}"
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
    Ok(ScrubReport {
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
    })
}

/// The steps that decide, to an end and its reason.
fn go(cx: &mut ScrubContext<'_>, issue: Option<&Issue>) -> Result<(ScrubEnd, String), Failure> {
    let repro = next!(steps::fetch::read(cx, issue));
    let kind = next!(steps::actionable::actionable(cx, issue, repro.as_ref()));
    let ready = next!(steps::analyze::analyze(cx, issue, repro));
    if kind == IssueKind::Bug {
        next!(steps::recent::recent(cx, issue));
    }
    let number = issue.map(|issue| issue.number);
    let reproduced = next!(steps::reproduce::reproduce(cx, ready));
    if kind != IssueKind::Bug {
        let persists = matches!(reproduced, Reproduced::Same(_));
        let outcome = if persists {
            "the behaviour that it describes is unchanged"
        } else {
            "the behaviour that it describes has changed"
        };
        return Ok((ScrubEnd::NotABug, outcome.to_owned()));
    }
    match reproduced {
        Reproduced::Passes(showing) => {
            steps::fixed::fixed(cx, &showing, number)?;
            let version = cx
                .found
                .ran_with
                .as_ref()
                .map_or_else(String::new, |tested| format!(" with {}", tested.with));
            cx.found.next = Some("close the issue if you agree".to_owned());
            if let Some(number) = number {
                steps::trivial::trivial(cx, number)?;
            }
            Ok((
                ScrubEnd::DoesNotReproduce,
                format!("the script passes{version}"),
            ))
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
