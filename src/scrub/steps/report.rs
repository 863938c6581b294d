//! Steps 8 and 9: composes the comment, plans the writes and asks for agreement.

use std::fmt::Write as _;

use super::{Posting, ScrubContext, ScrubEnd, ScrubFindings, Tested, labels};
use crate::{
    cli::Failure,
    scrub::{
        issue::{Issue, OWN_MARK, actionable::IssueKind},
        plan::{CarriedOut, Planned, carry_out},
        write::{CloseReason, IssueWrite, WriteState},
    },
};

/// The comment; none if the runs showed nothing new.
pub(in crate::scrub) fn comment(found: &ScrubFindings, end: ScrubEnd) -> Option<String> {
    let ran = found.ran_with.as_ref()?;
    let version = &ran.with;
    let is_fixed = matches!(end, ScrubEnd::DoesNotReproduce | ScrubEnd::FailsProperly);
    let is_wish = found.judgement.as_ref().is_some_and(|judgement| {
        matches!(judgement.kind, IssueKind::Feature | IssueKind::Refactoring)
    });
    if (!is_fixed && ran.same == 0) || (end == ScrubEnd::NotABug && !is_wish) {
        return None;
    }
    let mut body = match end {
        ScrubEnd::DoesNotReproduce => format!("This issue no longer reproduces on {version}.\n"),
        ScrubEnd::FailsProperly => {
            let raised = ran.seen.split_once(", ").map_or("", |(_, raised)| raised);
            format!(
                "The reported crash no longer happens on {version}, which raises an error instead: \
                 `{raised}`\n"
            )
        }
        ScrubEnd::NotABug => {
            format!("The behaviour that this issue describes is unchanged on {version}.\n")
        }
        _ => format!("This issue still reproduces on {version}.\n"),
    };
    body.push_str(&runs(ran, is_fixed));
    if let Some((failing, passing)) = change(found) {
        let _ = writeln!(body, "The bug is in {failing} and not in {passing}.");
    }
    if is_fixed && let Some(pull) = fix(found).and(certain_change(found)) {
        let _ = writeln!(body, "Fixed by #{pull}.");
    }
    if let Some(smaller) = &found.minimized {
        let _ = write!(body, "\nMinimized repro:\n\n{}\n", fenced(&smaller.text));
        if !smaller.necessary.is_empty() {
            body.push_str("\nAll of the following are necessary to trigger the bug:\n");
            for necessary in &smaller.necessary {
                let _ = writeln!(body, "- {necessary}");
            }
        }
    }
    if !found.adaptations.is_empty() {
        body.push_str("\nChanges to the script before it was run:\n");
        for adaptation in &found.adaptations {
            let _ = writeln!(body, "- {adaptation}");
        }
        if let (None, Some(adapted)) = (&found.minimized, &found.adapted) {
            let _ = write!(body, "\nThe script as it was run:\n\n{}\n", fenced(adapted));
        }
    }
    if let Some(launch) = &found.launch {
        let _ = writeln!(body, "\nRun it by `{launch}`.");
    }
    if closes(found, end)
        && let Some((_, after)) = fix(found)
    {
        let _ = writeln!(body, "\nClosing as this was fixed in {after}.");
    }
    let _ = writeln!(
        body,
        "\n{OWN_MARK}{}; reviewed by the person who posts it.)",
        env!("CARGO_PKG_VERSION")
    );
    Some(body)
}

/// The runs, in one line.
fn runs(ran: &Tested, is_fixed: bool) -> String {
    let Tested {
        same,
        of,
        settings,
        python,
        device,
        ..
    } = ran;
    let count = if is_fixed {
        format!("{of} runs do not show it, with {}", settings.join(", "))
    } else {
        format!("{same} of {of} runs show it")
    };
    format!("Run on {device} with Python {python}: {count}.\n")
}

/// The versions between which the bug was fixed; none if it was broken there.
fn fix(found: &ScrubFindings) -> Option<(String, String)> {
    let is_fixed = found
        .bisected
        .as_ref()
        .is_some_and(|answer| answer.is_fixed);
    change(found).filter(|_| is_fixed)
}

/// The version that shows the bug and the one beside it that does not, with the name of the
/// package.
fn change(found: &ScrubFindings) -> Option<(String, String)> {
    let answer = found.bisected.as_ref()?;
    let (before, after) = answer.change.as_ref()?;
    let is_pytorch = found
        .ran_with
        .as_ref()
        .is_some_and(|ran| ran.with.starts_with("PyTorch"));
    let named = |version: &String| {
        if is_pytorch {
            format!("PyTorch {version}")
        } else {
            version.clone()
        }
    };
    Some(if answer.is_fixed {
        (named(before), named(after))
    } else {
        (named(after), named(before))
    })
}

/// Whether an end closes the issue as completed.
fn closes(found: &ScrubFindings, end: ScrubEnd) -> bool {
    // That the bug was looked for in the right way shows where the script failed before.
    matches!(end, ScrubEnd::DoesNotReproduce | ScrubEnd::FailsProperly) && fix(found).is_some()
}

/// The text in a fence that is longer than any within it.
fn fenced(text: &str) -> String {
    let longest = text
        .split(|char| char != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}python\n{}\n{fence}", text.trim_end())
}

/// The pull request that stands out among the candidates.
fn certain_change(found: &ScrubFindings) -> Option<u64> {
    let [first, rest @ ..] = found.changes.as_slice() else {
        return None;
    };
    let is_ahead = rest.first().is_none_or(|next| next.score + 3 < first.score);
    first.pull.filter(|_| first.score >= 6 && is_ahead)
}

/// The comment that says why an abandoned issue is closed.
fn rationale(why: &str, end: ScrubEnd) -> String {
    let lacks = match end {
        ScrubEnd::NeedsRepro | ScrubEnd::ImageOnly => {
            "there is no script that shows it. If it still happens, please open a new issue with one"
        }
        ScrubEnd::NeedsHardware => {
            "it could not be run for lack of the hardware. If it still happens, please say so"
        }
        _ => "nobody has worked on it. If it still matters, please say so",
    };
    format!(
        "Closing as not planned: this issue is {why}, and {lacks}.\n\n{OWN_MARK}{}; reviewed by the \
         person who posts it.)\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The effect of a write, in words, if its command line is hard to read.
pub(in crate::scrub) fn in_words(write: &IssueWrite) -> Option<String> {
    match write {
        IssueWrite::Labels { add, remove } => {
            let added = add.iter().map(|label| format!("add `{label}`"));
            let removed = remove.iter().map(|label| format!("remove `{label}`"));
            Some(format!(
                "labels: {}",
                added.chain(removed).collect::<Vec<_>>().join(", ")
            ))
        }
        IssueWrite::Close { reason } => {
            let reason: &str = reason.into();
            Some(format!("close it as {reason}"))
        }
        IssueWrite::Comment { .. } => None,
    }
}

/// All writes in order: the comment first, labels next, closing last.
pub(in crate::scrub) fn plan(
    found: &ScrubFindings,
    issue: &Issue,
    end: ScrubEnd,
) -> Vec<IssueWrite> {
    let mut writes = Vec::new();
    // Labels of a closed issue are left alone, and nobody reads comments there.
    if issue.is_closed || issue.is_locked {
        return writes;
    }
    if let Some(body) = comment(found, end) {
        writes.push(IssueWrite::Comment { body });
    }
    if let Some(why) = &found.close_as_stale {
        writes.push(IssueWrite::Comment {
            body: rationale(why, end),
        });
    }
    let add: Vec<&str> = found
        .add
        .iter()
        .map(String::as_str)
        .filter(|label| !issue.has_label(label))
        .collect();
    let remove: Vec<&str> = found
        .remove
        .iter()
        .map(String::as_str)
        .filter(|label| issue.has_label(label))
        .collect();
    if !add.is_empty() || !remove.is_empty() {
        writes.push(labels(&add, &remove));
    }
    if closes(found, end) {
        writes.push(IssueWrite::Close {
            reason: CloseReason::Completed,
        });
    } else if found.close_as_stale.is_some() {
        writes.push(IssueWrite::Close {
            reason: CloseReason::NotPlanned,
        });
    }
    let is_looked_at = !matches!(end, ScrubEnd::ClosedAlready | ScrubEnd::Unrelated);
    if writes.is_empty() && is_looked_at {
        // Without a visible write, the date of the label shows that somebody looked. In one edit
        // removing and adding would cancel out.
        if issue.has_label("triaged") {
            writes.push(labels(&[], &["triaged"]));
        }
        writes.push(labels(&["triaged"], &[]));
    }
    writes
}

/// Shows the plan, asks once and carries it out.
pub(in crate::scrub) fn post(
    cx: &mut ScrubContext<'_>,
    issue: &Issue,
    writes: &[IssueWrite],
) -> Result<(Vec<Planned>, CarriedOut), Failure> {
    let Some(github) = &cx.github else {
        let planned = writes
            .iter()
            .map(|write| Planned {
                command: String::new(),
                write: write.clone(),
                state: WriteState::Shown,
            })
            .collect();
        for write in writes {
            for line in effect(write, "the comment would be") {
                cx.printer.always(line);
            }
        }
        return Ok((planned, CarriedOut::default()));
    };
    let planned = |states: &[WriteState]| -> Vec<Planned> {
        let commands = writes
            .iter()
            .map(|write| (write.clone(), github.command(write).shown()));
        commands
            .enumerate()
            .map(|(at, (write, command))| Planned {
                command,
                write,
                state: states.get(at).copied().unwrap_or(WriteState::Shown),
            })
            .collect()
    };
    if writes.is_empty() {
        cx.decided("there is nothing to write");
        return Ok((Vec::new(), CarriedOut::default()));
    }
    cx.printer.always("");
    for line in grounds(&cx.found) {
        cx.printer.always(line);
    }
    let count = match writes.len() {
        1 => "1 write".to_owned(),
        more => format!("{more} writes"),
    };
    cx.printer
        .always(format!("{count} to {}#{}:", cx.settings.repo, issue.number));
    for line in lines_of_plan(&planned(&[])) {
        cx.printer.always(line);
    }
    let agreed = match cx.settings.posting {
        Posting::DryRun => false,
        Posting::Agreed => true,
        Posting::Ask => cx.prompt.agrees(
            "carry them out? PyTorch requires that a person has read what is posted",
            "--post",
        )?,
    };
    if !agreed {
        cx.decided("nothing was written");
        return Ok((planned(&[]), CarriedOut::default()));
    }
    let carried = carry_out(writes, issue, github, cx.tools, &mut cx.state, cx.printer);
    if carried.is_complete() {
        cx.state.finish();
    }
    let planned = planned(&carried.states);
    Ok((planned, carried))
}

/// The grounds of the plan, for the person who decides.
fn grounds(found: &ScrubFindings) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(reported) = &found.reported {
        lines.push(format!(
            "looked for: {} ({}; {})",
            reported.what.describe(),
            reported.source,
            reported.certainty.word()
        ));
    }
    if let Some(ran) = &found.ran_with {
        lines.push(format!(
            "seen in {} of {} runs with {}: {}",
            ran.same, ran.of, ran.with, ran.seen
        ));
    }
    lines.extend(
        found
            .doubts
            .iter()
            .map(|doubt| format!("in doubt: {}", doubt.what)),
    );
    lines
}

/// A plan for the person who decides: every write word for word, with its command line.
pub(in crate::scrub) fn lines_of_plan(plan: &[Planned]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, planned) in plan.iter().enumerate() {
        lines.extend(effect(&planned.write, "the comment, word for word"));
        lines.push(format!("  {}. {}", at + 1, planned.command));
    }
    lines
}

/// The effect of a write, line by line.
fn effect(write: &IssueWrite, comment: &str) -> Vec<String> {
    let IssueWrite::Comment { body } = write else {
        let words = in_words(write).into_iter();
        return words.map(|words| format!("  {words}")).collect();
    };
    let lines = body.lines().map(|line| format!("  | {line}"));
    std::iter::once(format!("  {comment}:"))
        .chain(lines)
        .collect()
}
