//! The writes that the user has agreed to: carried out one by one in order, each checked before the
//! next, with the subscription saved first and restored last. Called by the last step.

use std::{path::Path, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    gh::{GhError, GitHub, Subscription},
    issue::{Issue, Post},
    state::ScrubState,
    subscription,
    tool::ExternalTools,
    write::{IssueWrite, WriteState},
};
use crate::cli::Printer;

/// A write of the plan, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The command line.
    pub command: String,
    /// The write.
    #[serde(flatten)]
    pub write: IssueWrite,
    /// Its state.
    pub state: WriteState,
}

/// The result of carrying out a plan.
#[derive(Debug, Default)]
pub struct CarriedOut {
    /// Each write's state.
    pub states: Vec<WriteState>,
    /// Problems, for people.
    pub troubles: Vec<String>,
    /// The signal that asked for the end, if one did.
    pub interrupted: Option<i32>,
    /// Whether nothing was written because others changed the issue after the plan was made.
    pub is_outdated: bool,
    /// Whether GitHub's rate limit was in the way.
    pub is_limited: bool,
}

impl CarriedOut {
    /// Whether every write is visible on GitHub.
    pub fn is_complete(&self) -> bool {
        self.states.iter().all(|state| *state == WriteState::Done)
    }
}

/// How long GitHub may take to subscribe whoever wrote, in seconds.
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
        states: vec![WriteState::Shown; writes.len()],
        ..CarriedOut::default()
    };
    let file = subscription::file(&state.repo, issue.number);
    // A killed attempt at the same plan may have left the user subscribed.
    let is_left_behind = file.as_deref().and_then(subscription::read).is_some();
    let saved = match subscription::save(file.as_deref(), issue, github) {
        Ok(saved) => Some(saved),
        Err(GhError::Interrupted(signal)) => {
            carried.interrupted = Some(signal);
            return carried;
        }
        Err(error) => {
            carried.troubles.push(format!(
                "could not save whether you are subscribed, so your subscription will not be \
                 restored: {error}"
            ));
            None
        }
    };
    // Whoever closed it, locked it or wrote since may know more.
    let changed = match github.issue() {
        Ok(now) => {
            let changed = changed(&with_own_writes(issue, &now, writes, state), &now);
            carried.is_outdated = changed.is_some();
            changed
        }
        Err(GhError::Interrupted(signal)) => {
            carried.interrupted = Some(signal);
            return carried;
        }
        Err(error) => {
            carried.is_limited = error == GhError::RateLimited;
            Some(format!("the issue could not be read again: {error}"))
        }
    };
    if let Some(changed) = changed {
        carried.troubles.push(format!(
            "nothing was written: {changed}; run the same command again to take it into account"
        ));
        if let Some(saved) = saved.filter(|_| is_left_behind)
            && let Err(error) = restore(saved, false, issue, github, tools)
        {
            let trouble = not_restored(saved, &error, file.as_deref());
            carried.troubles.push(trouble);
            return carried;
        }
        subscription::forget(file.as_deref());
        return carried;
    }
    // A signal between a write and the restoring would leave the user subscribed.
    tools.hold();
    let effect = write_all(&mut carried, writes, issue, github, tools, state, printer);
    // A person who closes an issue should hear of further comments.
    let restored = match saved {
        Some(saved) if !effect.is_closed => {
            restore(saved, effect.is_subscribing, issue, github, tools)
                .map_err(|error| not_restored(saved, &error, file.as_deref()))
        }
        _ => Ok(()),
    };
    match restored {
        Ok(()) => subscription::forget(file.as_deref()),
        Err(trouble) => carried.troubles.push(trouble),
    }
    carried.interrupted = tools.release().map(|signal| signal.0);
    carried
}

/// The issue as it was when the plan was made, with those writes of the plan that an earlier, killed
/// attempt has carried out.
fn with_own_writes(
    before: &Issue,
    now: &Issue,
    writes: &[IssueWrite],
    state: &ScrubState,
) -> Issue {
    let mut expected = before.clone();
    for (index, write) in writes.iter().enumerate() {
        let identity = write.identity(index);
        let is_own = state.written.contains(&identity)
            || (state.doubt.as_ref() == Some(&identity) && write.is_done(now));
        if !is_own || write.is_done(&expected) {
            continue;
        }
        match write {
            IssueWrite::Comment { .. } => {
                let is_new = |post: &&Post| !before.comments.contains(post) && write.is_shown(post);
                let at = now.comments.iter().position(|post| is_new(&post));
                if let Some(at) = at.filter(|at| *at <= expected.comments.len()) {
                    expected.comments.insert(at, now.comments[at].clone());
                }
            }
            IssueWrite::Labels { add, remove } => {
                expected.labels.retain(|label| !remove.contains(label));
                expected.labels.extend(add.iter().cloned());
            }
            IssueWrite::Close { .. } => expected.is_closed = true,
        }
    }
    expected
}

/// The changes to an issue since the plan was made, if they may change the plan.
fn changed(before: &Issue, now: &Issue) -> Option<String> {
    let new = now.comments.len().saturating_sub(before.comments.len());
    if now.is_closed != before.is_closed {
        let state = if now.is_closed { "closed" } else { "reopened" };
        return Some(format!("the issue was {state} meanwhile"));
    }
    if now.is_locked != before.is_locked {
        return Some("the issue was locked meanwhile".to_owned());
    }
    if new > 0 {
        let author = now.comments.last().map_or("somebody", |post| &post.author);
        return Some(format!("{author} commented meanwhile"));
    }
    if now.post.body != before.post.body
        || now.title != before.title
        || now.comments != before.comments
    {
        return Some("the issue was edited meanwhile".to_owned());
    }
    let labels = |issue: &Issue| {
        let mut labels = issue.labels.clone();
        labels.sort();
        labels
    };
    (labels(now) != labels(before)).then(|| "its labels were changed meanwhile".to_owned())
}

fn not_restored(saved: Subscription, error: &GhError, file: Option<&Path>) -> String {
    let kept = file
        .map(|file| format!("; its state is kept in `{}`", file.display()))
        .unwrap_or_default();
    format!(
        "could not restore your subscription to {saved:?}: {error}{kept}; the next scrub of this \
         issue restores it, or set it on the issue's page"
    )
}

/// The effect of all writes on the user's subscription.
#[derive(Default)]
struct WriteEffect {
    is_subscribing: bool,
    is_closed: bool,
}

/// Carries out the writes in order, up to the first that is not done: later ones may depend on it.
fn write_all(
    carried: &mut CarriedOut,
    writes: &[IssueWrite],
    issue: &Issue,
    github: &GitHub<'_>,
    tools: &ExternalTools,
    state: &mut ScrubState,
    printer: Printer,
) -> WriteEffect {
    let mut effect = WriteEffect::default();
    for (index, write) in writes.iter().enumerate() {
        if tools.check().is_err() {
            carried.troubles.extend(not_tried(&writes[index..], github));
            break;
        }
        let is_there = matches!(write, IssueWrite::Comment { .. }) && write.is_done(issue);
        let outcome = if is_there {
            WriteOutcome::done_before()
        } else {
            carry_out_one(index, write, github, state)
        };
        carried.states[index] = outcome.state;
        carried.is_limited |= outcome.is_limited;
        if outcome.state != WriteState::Failed {
            effect.is_subscribing |= outcome.is_made && write.subscribes();
            effect.is_closed |= write.closes();
        }
        let command = github.command(write).in_short();
        let why = outcome.why;
        match outcome.state {
            WriteState::Done => {
                printer.note(format!("done: {command}"));
                if outcome.is_closed && !write.closes() {
                    // The remaining writes were planned for an open issue.
                    let rest = &writes[index + 1..];
                    if !rest.is_empty() {
                        carried
                            .troubles
                            .push("the issue was closed meanwhile".to_owned());
                    }
                    carried.troubles.extend(not_tried(rest, github));
                    break;
                }
                continue;
            }
            WriteState::Failed => carried.troubles.push(format!("not done: {command}: {why}")),
            _ => carried.troubles.push(format!(
                "in doubt, check the issue before you repeat it: {command}: {why}"
            )),
        }
        carried
            .troubles
            .extend(not_tried(&writes[index + 1..], github));
        break;
    }
    effect
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
    state: WriteState,
    why: String,
    /// Whether this scrub tried it; an earlier one may have done it.
    is_made: bool,
    /// Whether the issue is closed now.
    is_closed: bool,
    /// Whether the rate limit was in the way.
    is_limited: bool,
}

impl WriteOutcome {
    fn done_before() -> Self {
        Self {
            state: WriteState::Done,
            why: String::new(),
            is_made: false,
            is_closed: false,
            is_limited: false,
        }
    }

    fn made(state: WriteState, why: String) -> Self {
        Self {
            state,
            why,
            is_made: true,
            is_closed: false,
            is_limited: false,
        }
    }

    fn failed(state: WriteState, error: &GhError) -> Self {
        Self {
            is_limited: *error == GhError::RateLimited,
            ..Self::made(state, error.to_string())
        }
    }

    fn seen_in(self, now: &Issue) -> Self {
        Self {
            is_closed: now.is_closed,
            ..self
        }
    }
}

/// Carries out one write unless an earlier scrub did; the issue itself shows the outcome.
fn carry_out_one(
    index: usize,
    write: &IssueWrite,
    github: &GitHub<'_>,
    state: &mut ScrubState,
) -> WriteOutcome {
    let identity = write.identity(index);
    let done = || WriteOutcome::made(WriteState::Done, String::new());
    if state.written.contains(&identity) {
        return WriteOutcome::done_before();
    }
    if state.doubt.as_ref() == Some(&identity) {
        // An earlier scrub ended before it knew.
        match github.issue() {
            Ok(now) if write.is_done(&now) => {
                state.settle(&identity, true);
                return done().seen_in(&now);
            }
            Ok(_) => {}
            Err(error) => return WriteOutcome::failed(WriteState::InDoubt, &error),
        }
    }
    state.begin(&identity);
    let failure = github.write(write, state.write_lock()).err();
    match (github.issue(), failure) {
        (Ok(now), _) if write.is_done(&now) => {
            state.settle(&identity, true);
            done().seen_in(&now)
        }
        (Ok(_), failure) => {
            state.settle(&identity, false);
            match failure {
                Some(error) => WriteOutcome::failed(WriteState::Failed, &error),
                None => {
                    WriteOutcome::made(WriteState::Failed, "GitHub does not show it".to_owned())
                }
            }
        }
        // `gh` reported success. That nobody can look does not undo it.
        (Err(_), None) => {
            state.settle(&identity, true);
            done()
        }
        (Err(_), Some(failure)) => WriteOutcome::failed(WriteState::InDoubt, &failure),
    }
}

/// Restores the subscription once GitHub has subscribed whoever wrote. GitHub would undo an earlier
/// restoring.
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
            tools
                .note("     waiting until GitHub has subscribed you, to restore your subscription");
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

/// Restores the subscription that an earlier scrub left changed when it was killed.
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
