//! What the flow would write to an issue: seen by the user before, carried out one by one in order,
//! each checked before the next, the subscription saved first and restored last.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    gh::{GhError, GitHub, Subscription},
    issue::Issue,
    state::ScrubState,
    subscription,
    tool::ExternalTools,
};
use crate::cli::Printer;

/// A change to an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueWrite {
    /// A comment.
    Comment {
        /// Its text.
        body: String,
    },
    /// Labels put on and taken off in one go.
    Labels {
        /// To put on.
        add: Vec<String>,
        /// To take off.
        remove: Vec<String>,
    },
    /// Closing.
    Close {
        /// As what.
        reason: CloseReason,
    },
}

/// As what an issue is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// The bug is gone.
    Completed,
    /// Nobody will mend it.
    NotPlanned,
}

impl CloseReason {
    /// As `gh` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NotPlanned => "not planned",
        }
    }
}

/// A write of the plan, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Planned {
    /// The command line.
    pub command: String,
    /// The write.
    #[serde(flatten)]
    pub write: IssueWrite,
    /// What became of it: `shown`, `done`, `failed`, `in doubt`.
    pub state: &'static str,
}

/// What came of carrying out a plan.
#[derive(Debug, Default)]
pub struct CarriedOut {
    /// Each write's state.
    pub states: Vec<&'static str>,
    /// What went wrong, for people.
    pub troubles: Vec<String>,
    /// The signal that asked for the end, if one did.
    pub interrupted: Option<i32>,
}

impl IssueWrite {
    /// Whether an issue shows that this was done.
    fn is_done(&self, issue: &Issue) -> bool {
        let same =
            |a: &str, b: &str| a.replace("\r\n", "\n").trim() == b.replace("\r\n", "\n").trim();
        match self {
            Self::Comment { body } => issue
                .comments
                .iter()
                .any(|comment| same(&comment.body, body)),
            Self::Labels { add, remove } => {
                add.iter().all(|label| issue.has_label(label))
                    && !remove.iter().any(|label| issue.has_label(label))
            }
            Self::Close { .. } => issue.is_closed,
        }
    }

    /// The name under which it is remembered, so that it is never done twice.
    fn identity(&self, index: usize) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{index}-{}", blake3::hash(text.as_bytes()).to_hex())
    }

    fn closes(&self) -> bool {
        matches!(self, Self::Close { .. })
    }
}

/// How long GitHub may take to subscribe whoever wrote.
const AUTO_SUBSCRIPTION: u32 = 30;

/// Carries out writes that the user has agreed to.
pub fn carry_out(
    writes: &[IssueWrite],
    issue: &Issue,
    github: &GitHub<'_>,
    tools: &ExternalTools,
    state: &mut ScrubState,
    printer: Printer,
) -> CarriedOut {
    let mut carried = CarriedOut {
        states: vec!["shown"; writes.len()],
        ..CarriedOut::default()
    };
    let file = subscription::file(&state.repo, issue.number);
    let saved = match subscription::save(file.as_deref(), issue, github) {
        Ok(saved) => Some(saved),
        Err(GhError::Interrupted(signal)) => {
            carried.interrupted = Some(signal);
            return carried;
        }
        Err(error) => {
            carried.troubles.push(format!(
                "could not save whether you are subscribed: {error}; it is left as it will be"
            ));
            None
        }
    };
    // From here to the end of the restoring nothing is left half done.
    tools.hold();
    let (mut is_subscribing, mut is_closed) = (false, false);
    for (index, write) in writes.iter().enumerate() {
        if tools.check().is_err() {
            carried.troubles.extend(not_tried(&writes[index..], github));
            break;
        }
        let outcome = if matches!(write, IssueWrite::Comment { .. }) && write.is_done(issue) {
            // Word for word what is there already.
            WriteOutcome {
                state: "done",
                why: String::new(),
                is_made: false,
            }
        } else {
            carry_out_one(index, write, github, state)
        };
        carried.states[index] = outcome.state;
        if outcome.state != "failed" {
            is_subscribing |= outcome.is_made && !matches!(write, IssueWrite::Labels { .. });
            is_closed |= write.closes();
        }
        let command = github.command(write).in_short();
        match outcome.state {
            "done" => printer.note(&format!("done: {command}")),
            "failed" => carried
                .troubles
                .push(format!("not done: {command}: {}", outcome.why)),
            _ => carried.troubles.push(format!(
                "in doubt, look at the issue before you repeat it: {command}: {}",
                outcome.why
            )),
        }
        if outcome.state != "done" {
            // What follows may rest on it.
            carried
                .troubles
                .extend(not_tried(&writes[index + 1..], github));
            break;
        }
    }
    if carried.states.iter().all(|state| *state == "done") {
        state.finish();
    }
    if is_closed {
        subscription::forget(file.as_deref());
    } else if let Some(saved) = saved
        && let Err(error) = restore(saved, is_subscribing, issue, github, tools)
    {
        let kept = file
            .map(|file| format!("; it is kept in `{}`", file.display()))
            .unwrap_or_default();
        carried.troubles.push(format!(
            "your subscription was not restored to {saved:?}: {error}{kept}, and the next scrub of this issue restores it; or do so on the issue's page"
        ));
    } else {
        subscription::forget(file.as_deref());
    }
    carried.interrupted = tools.release().map(|signal| signal.0);
    carried
}

fn not_tried<'w>(
    writes: &'w [IssueWrite],
    github: &'w GitHub<'_>,
) -> impl Iterator<Item = String> + 'w {
    writes
        .iter()
        .map(|write| format!("not tried: {}", github.command(write).in_short()))
}

struct WriteOutcome {
    state: &'static str,
    why: String,
    /// Whether it was tried now; else it was done before.
    is_made: bool,
}

/// Carries out one write unless an earlier scrub did; the issue itself shows the outcome.
fn carry_out_one(
    index: usize,
    write: &IssueWrite,
    github: &GitHub<'_>,
    state: &mut ScrubState,
) -> WriteOutcome {
    let identity = write.identity(index);
    let one = |state, why: String, is_made| WriteOutcome {
        state,
        why,
        is_made,
    };
    if state.written.contains(&identity) {
        return one("done", String::new(), false);
    }
    if state.doubt.as_ref() == Some(&identity) {
        // An earlier scrub ended before it knew.
        match github.issue() {
            Ok(now) if write.is_done(&now) => {
                state.settle(&identity, true);
                return one("done", String::new(), true);
            }
            Ok(_) => {}
            Err(error) => return one("in doubt", error.to_string(), true),
        }
    }
    state.begin(&identity);
    let failure = github.write(write).err();
    match (github.issue(), failure) {
        (Ok(now), _) if write.is_done(&now) => {
            state.settle(&identity, true);
            one("done", String::new(), true)
        }
        (Ok(_), failure) => {
            state.settle(&identity, false);
            let why = failure.map_or_else(
                || "GitHub does not show it".to_owned(),
                |error| error.to_string(),
            );
            one("failed", why, true)
        }
        // `gh` said that it was done; that nobody can look does not undo it.
        (Err(_), None) => {
            state.settle(&identity, true);
            one("done", String::new(), true)
        }
        (Err(_), Some(failure)) => one("in doubt", failure.to_string(), true),
    }
}

/// Restores the subscription, once GitHub has subscribed whoever wrote: before that it would undo
/// the restoring.
fn restore(
    saved: Subscription,
    is_subscribing: bool,
    issue: &Issue,
    github: &GitHub<'_>,
    tools: &ExternalTools,
) -> Result<(), GhError> {
    if saved == Subscription::Subscribed {
        return Ok(());
    }
    let mut now = github.subscription(&issue.node_id)?;
    for attempt in 0..AUTO_SUBSCRIPTION {
        if !is_subscribing || now == Subscription::Subscribed {
            break;
        }
        if attempt == 0 {
            tools.note("     waiting until GitHub has subscribed you, to undo that");
        }
        tools.sleep(Duration::from_secs(1))?;
        now = github.subscription(&issue.node_id)?;
    }
    if now == saved {
        Ok(())
    } else {
        github.set_subscription(&issue.node_id, saved)
    }
}

/// Restores what an earlier scrub left behind when it was killed.
pub fn restore_left_behind(
    issue: &Issue,
    github: &GitHub<'_>,
    state: &ScrubState,
) -> Option<Result<Subscription, GhError>> {
    let file = subscription::file(&state.repo, issue.number)?;
    let saved = subscription::read(&file)?;
    let restored = github.subscription(&issue.node_id).and_then(|now| {
        if now == saved || saved == Subscription::Subscribed {
            Ok(())
        } else {
            github.set_subscription(&issue.node_id, saved)
        }
    });
    Some(restored.map(|()| {
        subscription::forget(Some(&file));
        saved
    }))
}
