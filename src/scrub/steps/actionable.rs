//! Step 2: whether the issue calls for a reproduction.

use std::time::SystemTime;

use super::{Cx, End, Maybe, Step};
use crate::{
    cli::Failure,
    scrub::issue::{
        Issue,
        actionable::{Judgement, Machine, Sort, judge, suggests_closing},
        repro::Repro,
    },
};

/// Judges the issue; hands on whether it is a bug, or something else with a repro that shows how
/// things are.
pub(in crate::scrub) fn actionable(
    cx: &mut Cx<'_>,
    issue: Maybe<'_>,
    repro: Option<&Repro>,
) -> Result<Step<Sort>, Failure> {
    let Some(issue) = issue else {
        return Ok(Step::Next(Sort::Bug));
    };
    cx.step("2", "is it actionable?");
    let machine = if repro.is_some_and(|it| it.code.contains("cuda")) && !issue.is_closed {
        machine(cx)?
    } else {
        Machine::default()
    };
    let mut judgement = judge(issue, repro, cx.found.reported.as_ref(), machine);
    if let Some(sort) = cx.settings.assume {
        judgement = Judgement {
            sort,
            evidence: "you said so by `--assume`".to_owned(),
            is_certain: true,
        };
    }
    if !judgement.is_certain {
        let question = format!("it may be {}: {}", name(judgement.sort), judgement.evidence);
        let choice = cx.asker.choose(
            &question,
            &[("g", "going on as with a bug"), ("s", "stopping")],
            0,
            "--assume SORT",
        )?;
        if choice == 0 {
            judgement.sort = Sort::Bug;
        }
    }
    let Judgement { sort, evidence, .. } = judgement.clone();
    cx.decided(&format!("{}: {evidence}", name(sort)));
    cx.found.judgement = Some(judgement);
    let label = match sort {
        Sort::Feature => Some("feature"),
        Sort::Refactoring => Some("better-engineering"),
        Sort::Tracker => Some("tracker"),
        _ => None,
    };
    if let Some(label) = label.filter(|it| !issue.has_label(it)) {
        cx.found.add.push(label.to_owned());
    }
    let end = match sort {
        Sort::Bug => return Ok(Step::Next(sort)),
        Sort::Feature | Sort::Refactoring | Sort::Question if repro.is_some() => {
            return Ok(Step::Next(sort));
        }
        Sort::Feature | Sort::Refactoring | Sort::Question => End::NotABug,
        Sort::Closed | Sort::Resolved => End::ClosedAlready,
        Sort::Duplicate => End::Duplicate,
        Sort::Tracker => End::Tracker,
        Sort::Hardware => End::NeedsHardware,
    };
    cx.found.next = Some(next(end).to_owned());
    Ok(Step::End(end, evidence))
}

/// Suggests closing what nobody can act upon.
pub(in crate::scrub) fn consider_closing(
    cx: &mut Cx<'_>,
    issue: &Issue,
    end: End,
) -> Result<(), Failure> {
    if !matches!(end, End::NeedsRepro | End::ImageOnly | End::NeedsHardware) {
        return Ok(());
    }
    let Some(why) = suggests_closing(issue, SystemTime::now()) else {
        return Ok(());
    };
    cx.decided(&format!("{why}: it may be closed as not planned"));
    if cx.settings.close_stale
        || cx
            .asker
            .agrees("plan to close it as not planned?", "--close-stale")?
    {
        cx.found.close_as_stale = Some(why);
    }
    Ok(())
}

fn machine(cx: &mut Cx<'_>) -> Result<Machine, Failure> {
    let said = cx.ask_python(
        "import torch\nprint('gpus', torch.cuda.device_count() if torch.cuda.is_available() else 0)\n",
    )?;
    let gpus = said
        .lines()
        .find_map(|line| line.strip_prefix("gpus "))
        .and_then(|it| it.parse().ok());
    Ok(Machine {
        gpus: gpus.unwrap_or(0),
    })
}

fn name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bug => "a bug",
        Sort::Closed => "closed",
        Sort::Resolved => "resolved",
        Sort::Duplicate => "a duplicate",
        Sort::Feature => "a wish for something new",
        Sort::Refactoring => "work on the code",
        Sort::Question => "a question",
        Sort::Tracker => "a tracker",
        Sort::Hardware => "out of reach of this machine",
    }
}

fn next(end: End) -> &'static str {
    match end {
        End::ClosedAlready => "nothing, unless it came back",
        End::Duplicate => "close it as a duplicate",
        End::NeedsHardware => "scrub it on a machine that has what it takes",
        _ => "route it to those who decide such things",
    }
}
