//! Confirmation: what a quick judgement accepted is judged surely, beside the runs that follow. A
//! program that does not hold is given up for the last one that did.

use std::sync::Arc;

use minrepro_reducers::syntax::Program;

use super::Search;
use crate::{
    engine::{
        base::Base,
        tuning::{CONFIRM_BEFORE_END, CONFIRM_TENTHS, SOON_DONE},
        types::{Event, Stop},
    },
    journal::Key,
    judge::Retraction,
    oracle::Verdict,
};

impl Search<'_> {
    /// Has the program confirmed beside the runs that follow, if it is much smaller than the one
    /// that was confirmed last and yet not small, or may have been accepted by chance. Waits for
    /// the confirmation that was begun before; false if that failed and the search went back.
    pub(in crate::engine) fn begin_confirmation(&mut self) -> Result<bool, Stop> {
        let tokens = self.base.program.size().tokens;
        let is_much = tokens > SOON_DONE
            && tokens * 10 <= self.last_confirming().size().tokens * CONFIRM_TENTHS;
        if is_much || self.judge.patience().is_some() {
            self.confirm_in_background(false)
        } else {
            Ok(true)
        }
    }

    /// The program that was confirmed last, or is being.
    fn last_confirming(&self) -> &Arc<Program> {
        self.confirming
            .as_ref()
            .map_or(&self.confirmed.0, |(program, _)| program)
    }

    /// Has the program confirmed beside the runs that follow, as above, if so few runs are `left`
    /// of the final sweep that it may be the result.
    pub(super) fn confirm_at_last(&mut self, left: usize) -> Result<bool, Stop> {
        let is_known = Arc::ptr_eq(self.last_confirming(), &self.base.program);
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
        if let Some(candidate) = self.base.itself() {
            self.confirming = Some((Arc::clone(&self.base.program), self.commits.len()));
            if !self.judge.begin_confirmation(&candidate, is_last) {
                return self.end_confirmation();
            }
        }
        Ok(true)
    }

    /// Has the program confirmed, if it is not yet; goes back to the last confirmed one if it does
    /// not hold. Says whether it holds.
    pub(in crate::engine) fn confirm(&mut self) -> Result<bool, Stop> {
        if !self.end_confirmation()? {
            return Ok(false);
        }
        self.confirming = Some((Arc::clone(&self.base.program), self.commits.len()));
        self.end_confirmation()
    }

    /// Waits for the confirmation that was begun, as above.
    fn end_confirmation(&mut self) -> Result<bool, Stop> {
        let Some(confirming) = self.confirming.take() else {
            return Ok(true);
        };
        if Arc::ptr_eq(&self.confirmed.0, &confirming.0) {
            return Ok(true);
        }
        let begun = Base::new(Arc::clone(&confirming.0), self.options.unbound_names);
        let Some(candidate) = begun.itself() else {
            return Ok(true);
        };
        let Some(retraction) = self.judge.confirm(&candidate).map_err(Stop::Halted)? else {
            self.confirmed = confirming;
            return Ok(true);
        };
        self.roll_back(candidate.key, &retraction);
        Ok(false)
    }

    /// Goes back to the last confirmed program, since a later one does not show the bug.
    fn roll_back(&mut self, refused: Key, retraction: &Retraction) {
        self.base = Base::new(Arc::clone(&self.confirmed.0), self.options.unbound_names);
        self.commits.truncate(self.confirmed.1);
        self.last_success = self.tally.runs;
        self.prefetched.clear();
        // Chance accepts now and then and the test for it is strict on refusals, so those stand. A
        // warm run that behaves differently may do so either way, so nothing that it said stands.
        let noted = match retraction {
            Retraction::Accepted(_) => {
                self.verdicts.retain(|_, verdict| !verdict.is_same());
                self.verdicts.insert(refused, Verdict::Passed);
                self.journal.refuse_accepted(&refused)
            }
            Retraction::All(reason) => {
                self.verdicts.clear();
                self.journal.distrust(reason)
            }
        };
        if let Err(error) = noted {
            self.report_journal_failure(&error);
        }
        self.tally.tokens_now = self.base.program.size().tokens;
        (self.watch)(
            &Event::RolledBack {
                retraction,
                program: &self.base.program,
            },
            &self.tally,
        );
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
