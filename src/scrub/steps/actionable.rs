//! Step 2: decides whether the issue calls for a reproduction.

use std::time::SystemTime;

use super::{Maybe, ScrubContext, ScrubEnd, Step};
use crate::{
    cli::Failure,
    scrub::issue::{
        Issue,
        actionable::{IssueKind, Judgement, judge, suggests_closing},
        hardware::Machine,
        repro::Repro,
    },
};

/// Judges the issue. Continues with a bug, and with another kind whose repro shows the current
/// behaviour.
pub(in crate::scrub) fn actionable(
    cx: &mut ScrubContext<'_>,
    issue: Maybe<'_>,
    repro: Option<&Repro>,
) -> Result<Step<IssueKind>, Failure> {
    let Some(issue) = issue else {
        return Ok(Step::Next(IssueKind::Bug));
    };
    cx.step("2", "is it actionable?");
    let machine = if repro.is_some_and(|repro| repro.code.contains("cuda")) && !issue.is_closed {
        Machine {
            gpus: cx.installed()?.gpus,
        }
    } else {
        Machine::default()
    };
    let mut judgement = judge(issue, repro, cx.found.reported.as_ref(), machine);
    if let Some(kind) = cx.settings.assume {
        judgement = Judgement {
            kind,
            evidence: "set by `--assume`".to_owned(),
            is_certain: true,
        };
    }
    if !judgement.is_certain {
        let question = format!("it may be {}: {}", name(judgement.kind), judgement.evidence);
        let choice = cx.prompt.choose(
            &question,
            &[("g", "continue as with a bug"), ("s", "stop")],
            usize::from(judgement.kind == IssueKind::Unrelated),
            "--assume KIND",
        )?;
        if choice == 0 {
            judgement.kind = IssueKind::Bug;
        }
    }
    let Judgement { kind, evidence, .. } = judgement.clone();
    cx.decided(&format!("{}: {evidence}", name(kind)));
    cx.found.judgement = Some(judgement);
    let label = match kind {
        IssueKind::Feature => Some("feature"),
        IssueKind::Refactoring => Some("better-engineering"),
        IssueKind::Tracker => Some("tracker"),
        _ => None,
    };
    if let Some(label) = label.filter(|label| !issue.has_label(label)) {
        cx.found.add.push(label.to_owned());
    }
    let end = match kind {
        IssueKind::Bug => return Ok(Step::Next(kind)),
        IssueKind::Feature | IssueKind::Refactoring | IssueKind::Question if repro.is_some() => {
            return Ok(Step::Next(kind));
        }
        IssueKind::Feature | IssueKind::Refactoring | IssueKind::Question | IssueKind::Intended => {
            ScrubEnd::NotABug
        }
        IssueKind::Performance => ScrubEnd::NeedsMeasuring,
        IssueKind::Build => ScrubEnd::NotPython,
        IssueKind::Unrelated => ScrubEnd::Unrelated,
        IssueKind::Closed | IssueKind::Resolved => ScrubEnd::ClosedAlready,
        IssueKind::Duplicate => ScrubEnd::Duplicate,
        IssueKind::Tracker => ScrubEnd::Tracker,
        IssueKind::Hardware => ScrubEnd::NeedsHardware,
    };
    cx.found.next = Some(next(end).to_owned());
    Ok(Step::End(end, evidence))
}

/// Suggests closing an abandoned issue that is not actionable.
pub(in crate::scrub) fn consider_closing(
    cx: &mut ScrubContext<'_>,
    issue: &Issue,
    end: ScrubEnd,
) -> Result<(), Failure> {
    if !matches!(
        end,
        ScrubEnd::NeedsRepro
            | ScrubEnd::ImageOnly
            | ScrubEnd::NeedsHardware
            | ScrubEnd::NeedsMeasuring
            | ScrubEnd::NotPython
            | ScrubEnd::NotABug
    ) {
        return Ok(());
    }
    let Some(why) = suggests_closing(issue, SystemTime::now()) else {
        return Ok(());
    };
    cx.decided(&format!("{why}: the issue may be closed as not planned"));
    if cx.settings.close_stale
        || cx
            .prompt
            .agrees("plan to close it as not planned?", "--close-stale")?
    {
        cx.found.close_as_stale = Some(why);
    }
    Ok(())
}

fn name(kind: IssueKind) -> &'static str {
    match kind {
        IssueKind::Bug => "a bug",
        IssueKind::Closed => "closed",
        IssueKind::Resolved => "resolved",
        IssueKind::Duplicate => "a duplicate",
        IssueKind::Feature => "a feature request",
        IssueKind::Refactoring => "a refactoring",
        IssueKind::Question => "a question",
        IssueKind::Tracker => "a tracker",
        IssueKind::Hardware => "beyond this machine's hardware",
        IssueKind::Intended => "meant to be so",
        IssueKind::Performance => "about speed or memory",
        IssueKind::Build => "about a build or another language",
        IssueKind::Unrelated => "unrelated to the project",
    }
}

fn next(end: ScrubEnd) -> &'static str {
    match end {
        ScrubEnd::ClosedAlready => "nothing, unless the bug is back",
        ScrubEnd::Duplicate => "close it as a duplicate",
        ScrubEnd::NeedsMeasuring => "measure it: a script that fails or passes does not show it",
        ScrubEnd::NotPython => "reproduce it by hand",
        ScrubEnd::Unrelated => "close it by hand if it is spam",
        ScrubEnd::NeedsHardware => "scrub it on a machine with the required hardware",
        _ => "route it to the people who decide on it",
    }
}
