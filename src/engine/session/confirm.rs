//! What was accepted by a quick way is confirmed by a sure one, beside the runs that follow.

use std::sync::Arc;

use minrepro_reducers::syntax::Program;

use super::Session;
use crate::{
    engine::{
        plan::{Base, Plan},
        types::{Event, Stop},
    },
    judge::Retraction,
    oracle::Verdict,
};

/// Down to how many tenths of what was confirmed last a program has shrunk when it is worth another
/// confirmation.
const MUCH: u32 = 5;

/// A program of so many tokens will soon be confirmed as the result.
const LITTLE: u32 = 50;

/// How many runs are left of the last sweep when what it is made of is confirmed beside them: about
/// as many as take as long as that.
const FEW: usize = 24;

impl Session<'_> {
    /// Has the program confirmed beside the runs that follow, if it is much smaller than what was
    /// confirmed last and yet not small, or may have been accepted by chance. Goes back to that if
    /// what was begun before was not what it seemed; tells whether it was.
    pub(in crate::engine) fn begin_confirmation(&mut self) -> Result<bool, Stop> {
        let tokens = self.base.program.size().tokens;
        let is_much = tokens > LITTLE && tokens * 10 <= self.last_confirming().size().tokens * MUCH;
        if is_much || self.judge.patience().is_some() {
            self.confirm_aside(false)
        } else {
            Ok(true)
        }
    }

    /// The program that was confirmed last, or is being.
    fn last_confirming(&self) -> &Arc<Program> {
        self.confirming
            .as_ref()
            .map_or(&self.confirmed.0, |it| &it.0)
    }

    /// Has the program confirmed beside the runs that follow, as above, if so few runs are `left`
    /// that it may be the result.
    pub(super) fn confirm_at_last(&mut self, left: usize) -> Result<bool, Stop> {
        let is_known = Arc::ptr_eq(self.last_confirming(), &self.base.program);
        if left > FEW || is_known || self.judge.patience().is_some() {
            Ok(true)
        } else {
            self.confirm_aside(true)
        }
    }

    fn confirm_aside(&mut self, is_last: bool) -> Result<bool, Stop> {
        if !self.end_confirmation()? {
            return Ok(false);
        }
        if let Plan::Candidate(candidate) = self.base.itself() {
            self.confirming = Some((Arc::clone(&self.base.program), self.commits.len()));
            if !self.judge.begin_confirmation(&candidate, is_last) {
                return self.end_confirmation();
            }
        }
        Ok(true)
    }

    /// Has the program confirmed, if it is not yet; goes back to the last confirmed one if it is
    /// not what it seemed. Tells whether it was.
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
        let Plan::Candidate(candidate) = begun.itself() else {
            return Ok(true);
        };
        let Some(retraction) = self.judge.confirm(&candidate).map_err(Stop::Halted)? else {
            self.confirmed = confirming;
            return Ok(true);
        };
        self.base = Base::new(Arc::clone(&self.confirmed.0), self.options.unbound_names);
        self.commits.truncate(self.confirmed.1);
        self.last_success = self.tally.runs;
        self.foreseen.clear();
        let (reason, noted) = match retraction {
            Retraction::Accepted(reason) => {
                self.verdicts.retain(|_, verdict| !verdict.is_same());
                let noted = self.journal.doubt(&candidate.key);
                self.verdicts.insert(candidate.key, Verdict::Passed);
                (reason, noted)
            }
            Retraction::All(reason) => {
                self.verdicts.clear();
                let noted = self.journal.distrust(&reason);
                (reason, noted)
            }
        };
        if let Err(error) = noted
            && !self.journal_failed
        {
            self.journal_failed = true;
            (self.watch)(&Event::JournalFailed { error: &error }, &self.tally);
        }
        let size = self.base.program.size();
        self.tally.tokens_now = size.tokens;
        (self.watch)(
            &Event::Doubted {
                reason: &reason,
                program: &self.base.program,
            },
            &self.tally,
        );
        Ok(false)
    }

    /// Has the program confirmed if so many runs went without success that it may be to blame.
    /// Tells whether it still is the program.
    pub(super) fn suspect(&mut self) -> Result<bool, Stop> {
        let fruitless = self.tally.runs - self.last_success;
        Ok(self.judge.patience().is_none_or(|most| fruitless < most) || self.confirm()?)
    }
}
