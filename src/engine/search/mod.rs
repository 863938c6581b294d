//! The state of one reduction, and the steps that its parts share. Each part of the search is a
//! file: the greedy search, trace-guided steps, the final sweep; below them commits, folding, runs,
//! speculative runs and confirmation. Called by the loop in `engine`.

mod commits;
mod confirm;
mod final_sweep;
mod fold;
mod greedy;
mod runs;
mod speculative;
mod trace_guided;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    analysis::hints::Hint,
    pass::{Pass, Proposal, Stage},
    registry,
    syntax::Program,
    trace::evidence::{Evidence, MissingSymbols},
};
use rayon::prelude::*;

use self::confirm::Milestones;
use super::{
    base::{Attempt, Base},
    in_time::{all_in_time, is_over},
    priors::Priors,
    proposal_pool::{Chunk, ProposalPool},
    tuning::{CLEARLY_CLUTTER, FIRST_GUESSES},
    types::{Commit, Event, Options, Reduction, SearchStep, Spent, Stop, Tally, WhyKept},
};
use crate::{
    journal::{Journal, Key},
    judge::{Candidate, Halt, Judge, Judged},
    oracle::{Difference, Verdict},
};

/// Why a part of the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// Nothing is left to try.
    Exhausted,
    /// The program is much smaller now.
    Shrunk,
}

/// The stop of a search whose time is up.
const TIME_IS_UP: Stop = Stop::Halted(Halt::MaxTime);

/// Sees everything that happens.
type Watch<'a> = dyn FnMut(&Event<'_>, &Tally) + 'a;

pub(super) struct Search<'a> {
    base: Base,
    passes: Vec<&'static Pass>,
    judge: &'a mut dyn Judge,
    journal: &'a mut Journal,
    options: &'a Options,
    watch: &'a mut Watch<'a>,
    /// Verdicts of this session, those taken from the journal included.
    verdicts: HashMap<Key, Verdict>,
    /// Verdicts of speculative runs that have not been needed yet.
    prefetched: HashMap<Key, Judged>,
    priors: Priors,
    /// How many tokens the program had after the last traced run.
    traced_at: u32,
    /// Whether programs are traced.
    traces: bool,
    /// How many trace-guided candidates are tried from one traced run.
    guesses_left: usize,
    tally: Tally,
    commits: Vec<Commit>,
    /// The programs that it took as its base, and how sure they are.
    milestones: Milestones,
    differences: Vec<(Key, Difference)>,
    kept: Vec<WhyKept>,
    /// Proposals that break the contract of passes, by their fingerprints.
    breaches: HashSet<u64>,
    journal_failed: bool,
    /// The pass that proposed a candidate; `fold` for unions.
    makers: HashMap<Key, &'static str>,
    /// The runs of this session and their time, by purpose.
    spent: BTreeMap<String, Spent>,
    /// How many runs there were at the last success.
    last_success: u64,
    /// The current step and the remaining ones.
    undone: &'static [SearchStep],
    /// The symbols that trace-guided candidates lacked so far.
    missing: MissingSymbols,
    started: Instant,
}

/// A chunk that shows the bug, and the candidate that it makes.
#[derive(Clone)]
pub(super) struct ChunkCandidate {
    chunk: Chunk,
    pub(super) candidate: Candidate,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        program: Arc<Program>,
        passes: &[&'static Pass],
        judge: &'a mut dyn Judge,
        journal: &'a mut Journal,
        options: &'a Options,
        watch: &'a mut Watch<'a>,
    ) -> Self {
        let tokens = program.size().tokens;
        let traces = judge.can_trace();
        Self {
            milestones: Milestones::new(&program),
            base: Base::new(program, options.unbound_names),
            passes: passes.to_vec(),
            judge,
            journal,
            options,
            watch,
            verdicts: HashMap::new(),
            prefetched: HashMap::new(),
            priors: Priors::default(),
            traced_at: tokens,
            traces,
            guesses_left: FIRST_GUESSES,
            tally: Tally {
                tokens_before: tokens,
                tokens_now: tokens,
                ..Tally::default()
            },
            commits: Vec::new(),
            differences: Vec::new(),
            kept: Vec::new(),
            breaches: HashSet::new(),
            journal_failed: false,
            makers: HashMap::new(),
            spent: BTreeMap::new(),
            last_success: 0,
            undone: &SearchStep::ALL,
            missing: MissingSymbols::default(),
            started: Instant::now(),
        }
    }

    pub(super) fn finish(self, stop: Stop) -> Reduction {
        let kept = if matches!(stop, Stop::Done) {
            self.kept
        } else {
            Vec::new()
        };
        Reduction {
            program: self.base.program,
            commits: self.commits,
            tally: Tally {
                breaches: self.breaches.len() as u64,
                ..self.tally
            },
            differences: self.differences,
            kept,
            spent: self.spent,
            undone: if matches!(stop, Stop::Done) {
                &[]
            } else {
                self.undone
            },
            stop,
        }
    }

    /// Notes the next step.
    pub(super) fn begin_step(&mut self, step: SearchStep) {
        let steps = SearchStep::ALL.iter();
        let before = steps.take_while(|other| **other != step).count();
        self.undone = SearchStep::ALL.get(before..).unwrap_or_default();
    }

    /// Removes all clutter at once, if the bug still shows: the rest runs sooner and is easier to
    /// follow, for the trace and for people.
    pub(super) fn declutter(&mut self) -> Result<(), Stop> {
        let passes = registry::of_stage(&self.passes, Stage::Clutter);
        let mut proposals = self.proposals(&passes, None)?;
        proposals.retain(|proposal| proposal.prior.probability() > CLEARLY_CLUTTER);
        let pool = self.pool_of(proposals)?;
        let chunk = pool.chunk((0..pool.len()).collect());
        let attempt = self.base.attempt(&chunk.edits);
        self.judge("clutter", std::slice::from_ref(&attempt))?;
        if let Attempt::Candidate(candidate) = attempt
            && self
                .verdicts
                .get(&candidate.key)
                .is_some_and(Verdict::is_same)
        {
            self.adopt(ChunkCandidate {
                chunk,
                candidate: *candidate,
            });
        }
        self.check_budget()
    }

    /// The proposals of the passes of some stages for the program.
    fn proposals_of(&mut self, stages: &[Stage]) -> Result<Vec<Proposal>, Stop> {
        let passes: Vec<&'static Pass> = stages
            .iter()
            .flat_map(|&stage| registry::of_stage(&self.passes, stage))
            .collect();
        self.proposals(&passes, None)
    }

    fn pool_of(&self, proposals: Vec<Proposal>) -> Result<ProposalPool, Stop> {
        let base = self.base.clone();
        let made = all_in_time(
            self.options.until,
            [move || ProposalPool::new(&base, proposals)],
        );
        match made.and_then(|mut made| made.pop()) {
            Some(Ok(pool)) => Ok(pool),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err(TIME_IS_UP),
        }
    }

    /// The proposals of some passes, in their order, with the evidence of a traced run if there is
    /// one. A pass that panics is off from here on. If the time is up, some are missing.
    fn proposals(
        &mut self,
        passes: &[&'static Pass],
        evidence: Option<&Arc<Evidence>>,
    ) -> Result<Vec<Proposal>, Stop> {
        let missing = Arc::new(evidence.map(|_| self.missing.clone()).unwrap_or_default());
        let tasks = passes.iter().map(|&pass| {
            let program = Arc::clone(&self.base.program);
            let (evidence, missing) = (evidence.cloned(), Arc::clone(&missing));
            move || pass.proposals_with(&program, evidence.as_deref(), &missing)
        });
        let found = all_in_time(self.options.until, tasks).ok_or(TIME_IS_UP)?;
        let mut proposals = Vec::new();
        for (pass, result) in passes.iter().zip(found) {
            match result {
                Ok(found) => proposals.extend(found),
                Err(panic) => {
                    let message = panic
                        .downcast_ref::<String>()
                        .map(String::as_str)
                        .or_else(|| panic.downcast_ref::<&str>().copied())
                        .unwrap_or("no message");
                    (self.watch)(
                        &Event::PassFailed {
                            pass: pass.id,
                            message,
                        },
                        &self.tally,
                    );
                    self.passes.retain(|other| other.id != pass.id);
                }
            }
        }
        Ok(proposals)
    }

    /// Every proposal by itself, as far as it makes a candidate.
    fn singles(&mut self, pool: &ProposalPool) -> Result<Vec<ChunkCandidate>, Stop> {
        let (base, until) = (&self.base, self.options.until);
        let attempts: Option<Vec<(Chunk, Attempt)>> = (0..pool.len())
            .into_par_iter()
            .map(|unit| {
                let chunk = pool.chunk(vec![unit]);
                let attempt = (!is_over(until)).then(|| base.attempt(&chunk.edits))?;
                Some((chunk, attempt))
            })
            .collect();
        let attempts = attempts.ok_or(TIME_IS_UP)?;
        let mut singles = Vec::new();
        for (chunk, attempt) in attempts {
            match attempt {
                Attempt::Candidate(candidate) => singles.push(ChunkCandidate {
                    chunk,
                    candidate: *candidate,
                }),
                attempt => self.note_breach(&chunk, &attempt),
            }
        }
        Ok(singles)
    }

    /// Counts a proposal that breaks the contract of passes, once.
    fn note_breach(&mut self, chunk: &Chunk, attempt: &Attempt) {
        // Chunks of several may contradict each other, and the widened part of an edit is not the
        // pass's.
        if matches!(attempt, Attempt::Broken) && chunk.units.len() == 1 && !chunk.widened {
            let fingerprints = chunk.names.iter().map(|name| name.fingerprint);
            self.breaches.extend(fingerprints);
        }
    }

    /// A change in the wider form that its failure names.
    fn widened(&self, chunk: &Chunk, candidate: &Candidate, verdict: &Verdict) -> Option<Chunk> {
        let Verdict::Different(difference) = verdict else {
            return None;
        };
        let hint = Hint::of(&difference.class, &difference.message)?;
        let edits = hint.widen(&self.base.program, &candidate.edits)?;
        Some(Chunk {
            edits,
            widened: true,
            ..chunk.clone()
        })
    }

    fn note_makers(&mut self, members: &[ChunkCandidate]) {
        let makers = members
            .iter()
            .map(|member| (member.candidate.key, member.chunk.pass()));
        self.makers.extend(makers);
    }

    fn check_budget(&self) -> Result<(), Stop> {
        match self.options.max_runs {
            Some(limit) if self.tally.runs >= limit => Err(Stop::MaxRuns),
            _ if is_over(self.options.until) => Err(TIME_IS_UP),
            _ => Ok(()),
        }
    }
}
