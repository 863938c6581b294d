//! Steps 8 and 9: composes the comment, plans the writes and asks for agreement.

use std::fmt::Write as _;

use super::{Posting, ScrubContext, ScrubEnd, ScrubFindings, labels};
use crate::{
    cli::Failure,
    scrub::{
        issue::{Issue, OWN_MARK},
        plan::{CarriedOut, Planned, carry_out},
        write::{CloseReason, IssueWrite, WriteState},
    },
};

/// The comment; none if the runs showed nothing new.
pub(in crate::scrub) fn comment(found: &ScrubFindings, end: ScrubEnd) -> Option<String> {
    let ran = found.ran_with.as_ref()?;
    let version = &ran.with;
    let is_fixed = end == ScrubEnd::DoesNotReproduce;
    if !is_fixed && ran.same == 0 {
        return None;
    }
    let verb = if is_fixed {
        "no longer reproduces"
    } else {
        "still reproduces"
    };
    let mut body = format!("This issue {verb} on {version}.");
    if !is_fixed && ran.same < ran.of {
        let _ = write!(body, " The bug shows in {} of {} runs.", ran.same, ran.of);
    }
    body.push('\n');
    if is_fixed && let Some(pull) = certain_change(found) {
        let _ = writeln!(body, "Fixed by #{pull}.");
    } else if is_fixed
        && let Some((before, after)) = found
            .fixed
            .as_ref()
            .and_then(|answer| answer.change.as_ref())
    {
        let _ = writeln!(body, "The bug is in {before} and not in {after}.");
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
    if !found.adaptations.is_empty() && (is_fixed || found.minimized.is_some()) {
        body.push_str("\nChanges to the script before it was run:\n");
        for adaptation in &found.adaptations {
            let _ = writeln!(body, "- {adaptation}");
        }
    }
    if is_fixed {
        let _ = writeln!(body, "\nClosing as this was fixed in {version}.");
    }
    let _ = writeln!(
        body,
        "\n{OWN_MARK}{}; reviewed by the person who posts it.)",
        env!("CARGO_PKG_VERSION")
    );
    Some(body)
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
    let is_bug = !matches!(end, ScrubEnd::NotABug);
    if is_bug && let Some(body) = comment(found, end) {
        writes.push(IssueWrite::Comment { body });
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
    if end == ScrubEnd::DoesNotReproduce {
        writes.push(IssueWrite::Close {
            reason: CloseReason::Completed,
        });
    } else if found.close_as_stale.is_some() {
        writes.push(IssueWrite::Close {
            reason: CloseReason::NotPlanned,
        });
    }
    let is_looked_at = !matches!(end, ScrubEnd::ClosedAlready);
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
            if let IssueWrite::Comment { body } = write {
                show(cx, "the comment would be", body);
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
    cx.printer.always(&format!(
        "{} writes to {}#{}:",
        writes.len(),
        cx.settings.repo,
        issue.number
    ));
    for (at, write) in writes.iter().enumerate() {
        if let IssueWrite::Comment { body } = write {
            show(cx, "the comment, word for word", body);
        }
        cx.printer
            .always(&format!("  {}. {}", at + 1, github.command(write).shown()));
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
    let planned = planned(&carried.states);
    Ok((planned, carried))
}

fn show(cx: &ScrubContext<'_>, what: &str, body: &str) {
    cx.printer.always(&format!("  {what}:"));
    for line in body.lines() {
        cx.printer.always(&format!("  | {line}"));
    }
}
