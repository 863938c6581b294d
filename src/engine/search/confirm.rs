//! Confirmation: programs that a quick judgement accepted are judged thoroughly, in parallel with
//! the runs that follow. If a program does not hold, the search goes back to the last one that
//! does, which it finds by bisection.

use std::sync::Arc;

use minrepro_reducers::syntax::Program;

use super::Search;
use crate::{
    engine::{
        base::Base,
        tuning::{CONFIRM_ANSWER, CONFIRM_BEFORE_END, CONFIRM_RUNS, CONFIRM_TENTHS, SOON_DONE},
        types::{Event, Stop},
    },
    journal::Key,
    judge::{Candidate, Retraction},
    oracle::Verdict,
};

/// A program on the way of the search, and how many commits led to it: one for each commit, also
/// where several were made at once.
#[derive(Clone)]
pub(super) struct Milestone {
    text: Arc<str>,
    tokens: u32,
    commits: usize,
}

impl Milestone {
    fn new(program: &Program, commits: usize) -> Self {
        Self {
            text: program.shared_text(),
            tokens: program.size().tokens,
            commits,
        }
    }
}

/// The programs along the search, with what is known of them for sure.
pub(super) struct Milestones {
    /// The last one that was confirmed.
    confirmed: Milestone,
    /// Those after it, in their order; the last is the base, unless that is a union of which the
    /// verdict is not known. Texts alone: of a long script, a hundred parsed ones fill the memory.
    since: Vec<Milestone>,
    /// The one that is being confirmed.
    confirming: Option<Milestone>,
    /// How many runs there were when that began.
    begun: u64,
}

impl Milestones {
    /// Of a search that begins with a program that shows the bug.
    pub(super) fn new(program: &Program) -> Self {
        Self {
            confirmed: Milestone::new(program, 0),
            since: Vec::new(),
            confirming: None,
            begun: 0,
        }
    }

    /// Adds a program to which so many commits led.
    pub(super) fn add(&mut self, program: &Program, commits: usize) {
        self.since.push(Milestone::new(program, commits));
    }

    fn latest(&self) -> &Milestone {
        self.since.last().unwrap_or(&self.confirmed)
    }

    /// The program that was confirmed last, or is being.
    fn last_confirming(&self) -> &Milestone {
        self.confirming.as_ref().unwrap_or(&self.confirmed)
    }

    /// Whether nothing after the last that was confirmed, or is being, needs to be.
    fn are_known(&self) -> bool {
        self.last_confirming().commits == self.latest().commits
    }

    /// Takes one as confirmed; those before it count no more.
    fn confirm(&mut self, milestone: Milestone) {
        let is_later = |later: &Milestone| later.commits > milestone.commits;
        self.since.retain(is_later);
        self.confirmed = milestone;
    }

    /// Those before one that was refused, in their order; all after the last confirmed one are
    /// dropped.
    fn before(&mut self, refused: &Milestone) -> Vec<Milestone> {
        let mut before = std::mem::take(&mut self.since);
        before.retain(|milestone| milestone.commits < refused.commits);
        before
    }
}

impl Search<'_> {
    /// Starts to confirm the program, in parallel with the runs that follow, if it is much smaller
    /// than the last confirmed one and not yet small, or if chance may have accepted it. Waits for
    /// the previous confirmation; false if that failed and the search went back.
    pub(in crate::engine) fn begin_confirmation(&mut self) -> Result<bool, Stop> {
        let tokens = self.base.program.size().tokens;
        let is_much = tokens > SOON_DONE
            && tokens * 10 <= self.milestones.last_confirming().tokens * CONFIRM_TENTHS;
        if is_much || self.judge.patience().is_some() {
            self.confirm_in_background(false)
        } else {
            Ok(true)
        }
    }

    /// Starts to confirm the latest program, in parallel with the runs that follow, if too many
    /// runs to lose were made since the last confirmation. Receives the answer a while later; false
    /// if it failed and the search went back. Counts runs, so that the course of the search depends
    /// on nothing else.
    pub(super) fn confirm_on_the_way(&mut self) -> Result<bool, Stop> {
        if self.judge.patience().is_some() {
            return Ok(true);
        }
        let runs = self.tally.runs - self.milestones.begun;
        if self.milestones.confirming.is_some() && runs >= CONFIRM_ANSWER {
            return self.end_confirmation();
        }
        if runs < CONFIRM_RUNS || self.milestones.are_known() {
            return Ok(true);
        }
        self.confirm_in_background(false)
    }

    /// Starts to confirm the program, in parallel with the runs that follow, if so few runs of the
    /// final sweep are `left` that it may be the result.
    pub(super) fn confirm_at_last(&mut self, left: usize) -> Result<bool, Stop> {
        let is_known = self.milestones.are_known();
        if left > CONFIRM_BEFORE_END || is_known || self.judge.patience().is_some() {
            Ok(true)
        } else {
            self.confirm_in_background(true)
        }
    }

    fn confirm_in_background(&mut self, is_last: bool) -> Result<bool, Stop> {
        if !self.end_confirmation()? {
            return Ok(false);
        }
        let latest = self.milestones.latest().clone();
        if let Some(candidate) = self.candidate_of(&latest) {
            self.milestones.confirming = Some(latest);
            self.milestones.begun = self.tally.runs;
            if !self.judge.begin_confirmation(&candidate, is_last) {
                return self.end_confirmation();
            }
        }
        Ok(true)
    }

    /// Confirms the program if it is not yet confirmed, and goes back to an earlier one if it does
    /// not hold. Says whether it holds.
    pub(in crate::engine) fn confirm(&mut self) -> Result<bool, Stop> {
        if !self.end_confirmation()? {
            return Ok(false);
        }
        self.milestones.confirming = Some(self.milestones.latest().clone());
        self.milestones.begun = self.tally.runs;
        self.end_confirmation()
    }

    /// From here on, only the result so far is examined, in the time that was reserved for that.
    pub(in crate::engine) fn end_of_search(&mut self) {
        self.judge.end_of_search();
    }

    /// Waits for the confirmation that was begun, as above.
    fn end_confirmation(&mut self) -> Result<bool, Stop> {
        let Some(confirming) = self.milestones.confirming.take() else {
            return Ok(true);
        };
        if self.milestones.confirmed.commits == confirming.commits {
            return Ok(true);
        }
        let Some(candidate) = self.candidate_of(&confirming) else {
            return Ok(true);
        };
        let Some(retraction) = self.judge.confirm(&candidate).map_err(Stop::Halted)? else {
            self.milestones.confirm(confirming);
            return Ok(true);
        };
        self.roll_back(&confirming, candidate.key, &retraction)?;
        Ok(false)
    }

    fn base_of(&self, milestone: &Milestone) -> Option<Base> {
        let program = self
            .base
            .program
            .sibling(Arc::clone(&milestone.text))
            .ok()?;
        Some(Base::new(Arc::new(program), self.options.unbound_names))
    }

    fn candidate_of(&self, milestone: &Milestone) -> Option<Candidate> {
        self.base_of(milestone)?.itself()
    }

    /// Goes back to the last program that shows the bug for sure, since a later one does not.
    fn roll_back(
        &mut self,
        refused: &Milestone,
        key: Key,
        retraction: &Retraction,
    ) -> Result<(), Stop> {
        // Chance accepts now and then and the test for it is strict on refusals, so those stand. A
        // warm run that behaves differently may do so either way, so nothing that it said stands.
        let noted = match retraction {
            Retraction::Accepted(_) => {
                self.verdicts.retain(|_, verdict| !verdict.is_same());
                self.verdicts.insert(key, Verdict::Passed);
                self.journal.refuse_accepted(&key)
            }
            Retraction::All(reason) => {
                self.verdicts.clear();
                self.journal.distrust(reason)
            }
        };
        if let Err(error) = noted {
            self.report_journal_failure(&error);
        }
        self.prefetched.clear();
        let before = self.milestones.before(refused);
        let found = self.last_that_holds(before);
        if let Some(base) = self.base_of(&self.milestones.confirmed) {
            self.base = base;
        }
        self.commits.truncate(self.milestones.confirmed.commits);
        self.last_success = self.tally.runs;
        self.tally.tokens_now = self.base.program.size().tokens;
        (self.watch)(
            &Event::RolledBack {
                retraction,
                program: &self.base.program,
            },
            &self.tally,
        );
        found
    }

    /// Finds, by bisection, the last of these programs that shows the bug for sure, and takes it as
    /// confirmed. Nearly always a single change leads to a program that does not, and everything
    /// before it holds.
    fn last_that_holds(&mut self, mut left: Vec<Milestone>) -> Result<(), Stop> {
        while !left.is_empty() {
            let later = left.split_off(left.len() / 2);
            let (middle, later) = (later[0].clone(), later[1..].to_vec());
            if self.holds_for_sure(&middle)? {
                self.milestones.confirm(middle);
                left = later;
            }
        }
        Ok(())
    }

    /// Whether a program shows the bug by the sure way of judging.
    fn holds_for_sure(&mut self, milestone: &Milestone) -> Result<bool, Stop> {
        let Some(candidate) = self.candidate_of(milestone) else {
            return Ok(false);
        };
        let mut found = None;
        let batch = std::slice::from_ref(&candidate);
        let result = self.judge.judge_surely(batch, &mut |_, judged| {
            found = Some(judged);
        });
        result.map_err(Stop::Halted)?;
        let Some(judged) = found else {
            return Ok(false);
        };
        self.tally.runs += judged.runs;
        self.tally.seconds_in_candidates += judged.seconds;
        let spent = self.spent.entry("confirm".to_owned()).or_default();
        spent.runs += judged.runs;
        spent.seconds += judged.seconds;
        if let Err(error) = self.journal.put(candidate.key, judged.record()) {
            self.report_journal_failure(&error);
        }
        let holds = judged.verdict.is_same();
        self.verdicts.insert(candidate.key, judged.verdict);
        Ok(holds)
    }

    /// Reports once that the journal cannot be written any more.
    pub(super) fn report_journal_failure(&mut self, error: &std::io::Error) {
        if !self.journal_failed {
            self.journal_failed = true;
            (self.watch)(&Event::JournalFailed { error }, &self.tally);
        }
    }

    /// Has the program confirmed if so many runs in a row failed that it may be to blame:
    /// candidates made of a program that does not show the bug do not show it either. Says whether
    /// it holds.
    pub(super) fn recheck(&mut self) -> Result<bool, Stop> {
        let fruitless = self.tally.runs - self.last_success;
        Ok(self.judge.patience().is_none_or(|most| fruitless < most) || self.confirm()?)
    }
}
