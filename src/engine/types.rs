//! What goes into a reduction, what is told of it on the way, and what comes out. Data only.

use std::{collections::BTreeMap, sync::Arc};

use minrepro_reducers::syntax::Program;
use serde::{Deserialize, Serialize};

use crate::{journal::Key, judge::Halt, oracle::Verdict};

/// Settings of a reduction.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Stop after so many candidate runs.
    pub max_runs: Option<u64>,
    /// How many candidates are run at once: where a batch has fewer, those of the next are run
    /// beside them, as long as none hangs.
    pub jobs: usize,
    /// Whether single changes are judged one after the other: where a success takes more runs than
    /// a failure, what is united of several would take them once more.
    pub singly: bool,
    /// Whether candidates in which a name is bound nowhere are run all the same: where the bug is a
    /// `NameError`, or the test may not run the program at all.
    pub unbound_names: bool,
}

/// Counts and sizes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Candidate runs of this session.
    pub runs: u64,
    /// Runs that were made before they were needed, and have not been needed since.
    pub runs_ahead: u64,
    /// Runs whose verdict an earlier session had recorded.
    pub journal_hits: u64,
    /// Candidates dropped without a run: conflicting edits, no syntax, no gain, unbound names,
    /// tried before.
    pub pruned: u64,
    /// Proposals that broke the contract of passes, of those pruned.
    pub breaches: u64,
    /// Wall time of all candidate runs, in seconds, summed over workers.
    pub seconds_in_candidates: f64,
    /// Tokens of the program given.
    pub tokens_before: u32,
    /// Tokens of the best program so far.
    pub tokens_now: u32,
}

impl Tally {
    /// Runs that verdicts rest on, of this session or from the journal.
    pub fn judged(&self) -> u64 {
        self.runs + self.journal_hits
    }
}

/// One accepted change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The pass that proposed it.
    pub pass: String,
    /// What went, in words.
    pub note: String,
    /// Tokens afterwards.
    pub tokens: u32,
    /// How many candidates had been judged by then.
    pub run: u64,
    /// Seconds since the reduction began.
    pub seconds: f64,
}

/// What some runs took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// How many there were.
    pub runs: u64,
    /// Their wall time, in seconds, summed over workers.
    pub seconds: f64,
}

/// Why a part of the result stays: what happened without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The line of the result it stands on, counted from 1.
    pub line: u32,
    /// The pass that would have removed it.
    pub pass: String,
    /// What would have gone, in words.
    pub note: String,
    /// What happened.
    pub verdict: Verdict,
}

/// Something that happened, for those who watch.
pub enum Event<'a> {
    /// A batch of candidates is about to be judged.
    Batch {
        /// The passes that proposed them.
        pass: &'a str,
        /// How many there are.
        candidates: usize,
    },
    /// A candidate was judged.
    Run {
        /// The verdict.
        verdict: &'a Verdict,
        /// Whether an earlier session had run it.
        from_journal: bool,
    },
    /// A smaller program was found.
    Commit {
        /// The last change.
        commit: &'a Commit,
        /// The program.
        program: &'a Program,
    },
    /// What was found since the last confirmation was taken back: what was accepted does not show
    /// the bug beyond doubt.
    Doubted {
        /// In what.
        reason: &'a str,
        /// The last program that was confirmed.
        program: &'a Program,
    },
    /// A pass panicked; it is off from here on.
    PassFailed {
        /// The pass.
        pass: &'a str,
        /// The panic's message.
        message: &'a str,
    },
    /// The journal can not be written any more.
    JournalFailed {
        /// Why.
        error: &'a std::io::Error,
    },
}

/// Why a reduction ended.
#[derive(Debug)]
pub enum Stop {
    /// No single proposal of any pass is left that shows the bug.
    Done,
    /// The run budget is spent.
    MaxRuns,
    /// Something outside stopped it.
    Halted(Halt),
}

/// The result of a reduction.
pub struct Reduction {
    /// The smallest program found.
    pub program: Arc<Program>,
    /// How it was found.
    pub commits: Vec<Commit>,
    /// Counts.
    pub tally: Tally,
    /// Failures other than the bug, met on the way: each with the key of its candidate.
    pub differences: Vec<(Key, crate::oracle::Difference)>,
    /// Why what is left stays; empty unless the reduction is done.
    pub kept: Vec<Kept>,
    /// What the runs of this session took, by the pass that proposed their candidates; `fold`,
    /// unions; `trace`, runs that were watched.
    pub spent: BTreeMap<String, Spent>,
    /// Why it ended.
    pub stop: Stop,
}
