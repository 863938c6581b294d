//! Carries out the plan of one issue of a backlog, once the user has agreed to it. A kill at any
//! moment leaves a state from which the next attempt goes on. Called by the backlog.

use std::path::{Path, PathBuf};

use super::queue::{BacklogEntry, EntryState, PlanState, Queue};
use crate::{
    cli::{Failure, Printer},
    scrub::{
        gh::GitHub,
        issue::Issue,
        plan::{CarriedOut, carry_out},
        search::wait_for_limit,
        state::ScrubState,
        tool::{ExternalTools, Interrupted},
        write::IssueWrite,
    },
};

/// How often in a row the rate limit is waited for.
const ROUNDS: u32 = 8;

/// The file with the issue as it was when the plan was made.
pub(super) fn issue_file(folder: &Path) -> PathBuf {
    folder.join("issue.json")
}

/// Carries out the plan of an issue. Fails if nothing more should be tried.
pub(super) fn post(
    queue: &mut Queue,
    mut entry: BacklogEntry,
    root: &Path,
    tools: &ExternalTools,
    printer: Printer,
) -> Result<(), Failure> {
    let folder = root.join(&entry.folder);
    let Some(issue) = read_issue(&folder) else {
        again(
            &mut entry,
            "the issue as it was is missing, so it is read again",
        );
        return Ok(queue.put(entry)?);
    };
    // From here on the next run of the same command goes on with these writes.
    entry.writes = PlanState::Agreed;
    entry.troubles.clear();
    queue.put(entry.clone())?;
    let github = GitHub::open(tools, entry.repo.clone(), entry.number)?;
    let mut state = ScrubState::open(&folder, &entry.repo);
    state.wait_for_writer(tools)?;
    let writes: Vec<IssueWrite> = entry.plan.iter().map(|known| known.write.clone()).collect();
    let mut carried = CarriedOut::default();
    for round in 0..=ROUNDS {
        carried = carry_out(&writes, &issue, &github, tools, &mut state, printer);
        for (planned, state) in entry.plan.iter_mut().zip(&carried.states) {
            planned.state = *state;
        }
        if !carried.is_limited || carried.interrupted.is_some() || round == ROUNDS {
            break;
        }
        wait_for_limit(tools, round)?;
    }
    if let Some(signal) = carried.interrupted
        && !carried.is_complete()
    {
        queue.put(entry)?;
        return Err(Interrupted(signal).into());
    }
    let is_complete = carried.is_complete();
    let interrupted = carried.interrupted;
    for trouble in &carried.troubles {
        printer.warning(&format!("{}: {trouble}", entry.name()));
    }
    settle(&mut entry, carried);
    queue.put(entry)?;
    if is_complete {
        // Only now: until the queue knows, a kill must not make it forget what is written.
        state.finish();
    }
    match interrupted {
        Some(signal) => Err(Interrupted(signal).into()),
        None => Ok(()),
    }
}

/// Records the result.
fn settle(entry: &mut BacklogEntry, carried: CarriedOut) {
    if carried.is_complete() {
        entry.writes = PlanState::Written;
        entry.troubles = carried.troubles;
    } else if carried.is_outdated {
        let why = carried.troubles.first().cloned().unwrap_or_default();
        again(entry, &why);
    } else {
        entry.writes = PlanState::Failed;
        entry.troubles = carried.troubles;
    }
}

/// Lets the issue be scrubbed anew.
fn again(entry: &mut BacklogEntry, why: &str) {
    entry.state = EntryState::Waiting;
    entry.end = None;
    entry.confidence = None;
    entry.plan.clear();
    entry.writes = PlanState::Empty;
    entry.troubles.clear();
    why.clone_into(&mut entry.why);
}

fn read_issue(folder: &Path) -> Option<Issue> {
    let bytes = std::fs::read(issue_file(folder)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::{
        backlog::queue::ScrubCost,
        plan::Planned,
        steps::ScrubEnd,
        write::{CloseReason, WriteState},
    };

    fn entry() -> BacklogEntry {
        BacklogEntry {
            repo: "o/r".parse().unwrap(),
            number: 7,
            title: String::new(),
            state: EntryState::Done,
            end: Some(ScrubEnd::DoesNotReproduce),
            confidence: None,
            why: String::new(),
            doubts: Vec::new(),
            plan: vec![Planned {
                command: String::new(),
                write: IssueWrite::Close {
                    reason: CloseReason::Completed,
                },
                state: WriteState::Shown,
            }],
            writes: PlanState::Agreed,
            troubles: Vec::new(),
            cost: ScrubCost::default(),
            folder: "o/r/7".into(),
            updated: 0,
        }
    }

    fn settled(state: WriteState, is_outdated: bool) -> BacklogEntry {
        let mut entry = entry();
        settle(
            &mut entry,
            CarriedOut {
                states: vec![state],
                troubles: vec!["why".to_owned()],
                is_outdated,
                ..CarriedOut::default()
            },
        );
        entry
    }

    #[test]
    fn a_plan_is_written_or_failed_or_its_issue_is_scrubbed_anew() {
        assert_eq!(settled(WriteState::Done, false).writes, PlanState::Written);
        let failed = settled(WriteState::Failed, false);
        assert_eq!(
            (failed.writes, failed.is_undecided()),
            (PlanState::Failed, true)
        );
        let outdated = settled(WriteState::Shown, true);
        assert_eq!(outdated.state, EntryState::Waiting);
        assert!(outdated.plan.is_empty() && outdated.why == "why");
        assert!(!outdated.is_undecided());
    }
}
