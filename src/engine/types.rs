//! The input of a reduction, its reports along the way, and its output. Data only.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use minrepro_reducers::syntax::Program;
use serde::{Deserialize, Serialize};

use crate::{
    journal::Key,
    judge::{Halt, Retraction},
    oracle::Verdict,
};

/// Settings of a reduction.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Stop after so many candidate runs.
    pub max_runs: Option<u64>,
    /// The number of candidates to run at once. If a batch has fewer, candidates of the next
    /// batches are run speculatively in parallel, as long as none hangs.
    pub jobs: usize,
    /// Whether single changes are judged one after the other: where a success takes more runs than
    /// a failure, the union of several successes would take them once more.
    pub singly: bool,
    /// Whether candidates in which a name is bound nowhere are run all the same: where the bug is a
    /// `NameError`, or the test may not run the program at all.
    pub unbound_names: bool,
    /// When to stop: on a long script, to make proposals takes seconds by itself.
    pub until: Option<Instant>,
}

/// Counts and sizes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Candidate runs of this search.
    pub runs: u64,
    /// Speculative runs that have not been needed.
    pub speculative_runs: u64,
    /// Runs whose verdict an earlier session had recorded.
    pub journal_hits: u64,
    /// How long those took, in seconds, summed over workers.
    pub seconds_recalled: f64,
    /// Candidates dropped without a run: conflicting edits, no syntax, no gain, unbound names,
    /// tried before.
    pub pruned: u64,
    /// Proposals that break the contract of passes, since their edits contradict each other or
    /// leave text that does not parse: bugs of the passes. Known at the end.
    pub breaches: u64,
    /// Wall time of all candidate runs, in seconds, summed over workers.
    pub seconds_in_candidates: f64,
    /// Tokens of the program given.
    pub tokens_before: u32,
    /// Tokens of the best program so far.
    pub tokens_now: u32,
}

impl Tally {
    /// Runs that support verdicts, of this session or from the journal.
    pub fn judged(&self) -> u64 {
        self.runs + self.journal_hits
    }
}

/// One accepted change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Commit {
    /// The pass that proposed it.
    pub pass: String,
    /// What was removed or replaced, in words.
    pub note: String,
    /// Tokens afterwards.
    pub tokens: u32,
    /// How many candidates had been judged by then.
    pub run: u64,
    /// Seconds since the reduction began.
    pub seconds: f64,
}

/// The number of some runs, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spent {
    /// How many there were.
    pub runs: u64,
    /// Their wall time, in seconds, summed over workers.
    pub seconds: f64,
}

/// The reason why a part of the result stays: the outcome without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WhyKept {
    /// The line of the result it stands on, counted from 1.
    pub line: u32,
    /// The pass that would have removed it.
    pub pass: String,
    /// What would have been removed or replaced, in words.
    pub note: String,
    /// What happened.
    pub verdict: Verdict,
}

/// Something that happened, for whoever watches.
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
        /// The pass that proposed it; none for verdicts of the journal.
        pass: Option<&'a str>,
        /// The verdict.
        verdict: &'a Verdict,
        /// Wall time of its runs, in seconds.
        seconds: f64,
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
    /// The search went back to the last confirmed program: one accepted since then does not show
    /// the bug for sure.
    RolledBack {
        /// The reason, and its consequence for other verdicts.
        retraction: &'a Retraction,
        /// The last program that was confirmed.
        program: &'a Program,
    },
    /// A pass panicked; it is switched off from here on.
    PassFailed {
        /// The pass.
        pass: &'a str,
        /// The panic's message.
        message: &'a str,
    },
    /// The journal cannot be written any more.
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
    /// The reasons why the remaining parts stay; empty unless the reduction is done.
    pub kept: Vec<WhyKept>,
    /// The runs of this session and their time, by the pass that proposed their candidates; `fold`
    /// stands for unions, `trace` for traced runs.
    pub spent: BTreeMap<String, Spent>,
    /// Why it ended.
    pub stop: Stop,
    /// The steps left undone; empty if the reduction is done.
    pub undone: &'static [SearchStep],
}

/// A part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Simpler environments: no compiler, no device.
    Environment,
    /// Candidates made from the evidence of a traced run.
    TraceGuided,
    /// Parts of the program removed and made simpler.
    Parts,
    /// The layout.
    Layout,
    /// Everything once more, one by one.
    FinalSweep,
}

impl SearchStep {
    /// All of them, in their order.
    pub(super) const ALL: [Self; 5] = [
        Self::Environment,
        Self::TraceGuided,
        Self::Parts,
        Self::Layout,
        Self::FinalSweep,
    ];

    /// In words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Environment => "simpler environments",
            Self::TraceGuided => "candidates made from a traced run",
            Self::Parts => "removing and simplifying parts",
            Self::Layout => "the layout",
            Self::FinalSweep => "the final sweep",
        }
    }
}
