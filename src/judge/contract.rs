//! The interface between engine and judge: candidates in, verdicts out. The engine knows this file
//! and no other of the room, so it can be tested without a process.

use std::sync::Arc;

use minrepro_reducers::{rewrite::edit::EditSet, syntax::Program, trace::evidence::Evidence};

use crate::{
    journal::{Key, TrialRecord},
    oracle::Verdict,
};

/// A program to be run and judged.
#[derive(Clone)]
pub struct Candidate {
    /// Its content, hashed.
    pub key: Key,
    /// Its bytes, in the script's encoding.
    pub bytes: Arc<[u8]>,
    /// The program.
    pub program: Arc<Program>,
    /// The edits that make it of the base program.
    pub(crate) edits: EditSet,
    /// Variables that are set, or not set, for its runs besides those of all runs.
    pub(crate) variables: Arc<[(String, Option<String>)]>,
}

impl std::fmt::Debug for Candidate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Candidate")
            .field("text", &self.program.text())
            .finish_non_exhaustive()
    }
}

/// A verdict and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Wall time of the runs, in seconds.
    pub seconds: f64,
    /// How many runs it took: more than one where checks made runs of their own.
    pub runs: u64,
}

impl Judged {
    /// The same as the journal keeps it.
    pub fn record(&self) -> TrialRecord {
        TrialRecord {
            verdict: self.verdict.clone(),
            seconds: self.seconds,
            runs: self.runs,
        }
    }
}

/// Runs candidates and judges them; the engine knows no more of runners and oracles.
pub trait Judge {
    /// Judges each candidate of a batch and delivers its verdict, under its index, as soon as it is
    /// known.
    ///
    /// # Errors
    ///
    /// The reason that stops the whole reduction. Verdicts delivered before stay valid.
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt>;

    /// Whether a candidate is known without a run not to show the bug.
    fn is_hopeless(&self, _: &Candidate) -> bool {
        false
    }

    /// Whether a program that was judged to show the bug shows it for sure, for judges that have
    /// both a quicker and a surer way. If not, the consequence. After a retraction the judge errs
    /// less.
    ///
    /// # Errors
    ///
    /// The reason that stops the whole reduction.
    fn confirm(&mut self, _: &Candidate) -> Result<Option<Retraction>, Halt> {
        Ok(None)
    }

    /// Begins the confirmation that [`Judge::confirm`] will be asked for, for judges that can do so
    /// while they judge others; says whether it did. `is_last`: the program may be the result, so
    /// that all runs of a result can be begun.
    fn begin_confirmation(&mut self, _: &Candidate, _is_last: bool) -> bool {
        false
    }

    /// No candidate follows, only confirmations: the time that was kept back for them may be used.
    fn end_of_search(&mut self) {}

    /// The number of consecutive failures after which a program must be confirmed, which bounds the
    /// risk of one that may have been accepted wrongly. `None` if programs are not accepted by
    /// chance.
    fn patience(&self) -> Option<u64> {
        None
    }

    /// Judges candidates once more, more strictly where chance plays a part.
    ///
    /// # Errors
    ///
    /// As [`Judge::judge`].
    fn judge_surely(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        self.judge(batch, deliver)
    }

    /// Whether runs can be traced at all.
    fn can_trace(&self) -> bool {
        false
    }

    /// Runs a program that shows the bug once more and traces it; `None` if it cannot be traced, or
    /// does not show the bug when it is.
    ///
    /// # Errors
    ///
    /// The reason that stops the whole reduction.
    fn trace(&mut self, _: &Candidate) -> Result<Option<Evidence>, Halt> {
        Ok(None)
    }
}

/// The consequence if a program was judged to show the bug but does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retraction {
    /// This program was wrongly accepted, for the reason given: acceptances since the last
    /// confirmation do not count, refusals do.
    Accepted(String),
    /// The quicker way of judging errs, for the reason given: nothing that it judged counts.
    All(String),
}

impl Retraction {
    /// How that showed, in words.
    pub fn reason(&self) -> &str {
        match self {
            Self::Accepted(reason) | Self::All(reason) => reason,
        }
    }
}

/// A reason that stops a reduction from outside.
#[derive(Debug)]
pub enum Halt {
    /// A signal asked for it.
    Interrupted(i32),
    /// The time budget is spent.
    MaxTime,
    /// Runs cannot be started or recorded any more.
    Failed(anyhow::Error),
}
