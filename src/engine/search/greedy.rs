//! The greedy search: batches of the most promising chunks, until none is left.

use std::collections::VecDeque;

use minrepro_reducers::pass::Stage;
use rayon::prelude::*;

use super::{ChunkCandidate, Search, SearchEnd, commits::Pending};
use crate::{
    engine::{
        base::Attempt,
        in_time::is_over,
        proposal_pool::{Chunk, ProposalPool},
        tuning::{BATCH, MOST_CHOSEN, SHRUNK_TENTHS},
        types::Stop,
    },
    journal::Key,
    judge::Candidate,
    oracle::Verdict,
};

impl Search<'_> {
    /// Tries proposals that were not rejected before, the most promising first, until none is left,
    /// or so much was removed that another traced run is worth its time.
    ///
    /// Several successes of one batch are merged, and the next batch is made against their union
    /// while the union itself is being judged, as one more candidate of that batch. If it does not
    /// hold, its batch counts for nothing, and the successes are folded with care.
    pub(in crate::engine) fn greedy_search(&mut self, stages: &[Stage]) -> Result<SearchEnd, Stop> {
        let mut pool = self.sparing_pool(stages)?;
        let mut repairs: VecDeque<Chunk> = VecDeque::new();
        let mut pending: Option<Pending> = None;
        let most = if self.options.singly { 1 } else { BATCH };
        loop {
            if !self.confirm_on_the_way()? {
                // Everything made from a program that does not hold is void, a union of it as well.
                pending = None;
                pool = self.sparing_pool(stages)?;
                repairs.clear();
            }
            let tokens = self.base.program.size().tokens;
            let is_shrunk = self.traces && tokens * 10 < self.traced_at * SHRUNK_TENTHS;
            if is_shrunk && pending.is_none() {
                return Ok(SearchEnd::Shrunk);
            }
            // Before the traced run the union has to be known, and nothing else is worth a run.
            let room = if is_shrunk {
                0
            } else {
                most - usize::from(pending.is_some())
            };
            let batch = self.next_batch(&pool, &mut repairs, room);
            if batch.is_empty() && pending.is_none() {
                return Ok(SearchEnd::Exhausted);
            }
            let union = pending.as_ref().map(|pending| &pending.union);
            let judged = self.judge_batch(&pool, &repairs, &batch, union);
            // Verdicts before a halt count, so the union is settled before the halt ends the
            // search.
            let held = pending.take().is_none_or(|pending| self.settle(pending));
            judged?;
            if held {
                let successes = self.sort_out(batch, &mut repairs);
                if successes.is_empty() {
                    self.check_budget()?;
                    if self.recheck()? {
                        continue;
                    }
                } else {
                    pending = self.merge(successes);
                }
            }
            // The program is another one: all is proposed anew, and repairs of the old one are
            // void.
            pool = match self.sparing_pool(stages) {
                Ok(pool) => pool,
                Err(stop) => {
                    // No verdict says that the union holds.
                    if let Some(pending) = pending {
                        self.give_up(pending);
                    }
                    return Err(stop);
                }
            };
            repairs.clear();
            if pending.is_none() {
                self.check_budget()?;
            }
        }
    }

    /// Allows that failing statements are moved from here on. Says whether they were not before.
    pub(in crate::engine) fn move_failing(&mut self) -> bool {
        self.base.move_failing()
    }

    /// The proposals of the passes of some stages for the program, without those that remove a
    /// failing or decisive statement.
    fn sparing_pool(&mut self, stages: &[Stage]) -> Result<ProposalPool, Stop> {
        let mut proposals = self.proposals_of(stages)?;
        proposals.retain(|proposal| !self.base.removes_vital(&proposal.edits));
        self.pool_of(proposals)
    }

    /// Judges a batch and a union, in parallel with speculative runs.
    fn judge_batch(
        &mut self,
        pool: &ProposalPool,
        repairs: &VecDeque<Chunk>,
        batch: &[ChunkCandidate],
        union: Option<&Candidate>,
    ) -> Result<(), Stop> {
        let pass = batch.first().map_or("fold", |member| member.chunk.pass());
        let attempts: Vec<Attempt> = union
            .into_iter()
            .chain(batch.iter().map(|member| &member.candidate))
            .map(|candidate| Attempt::Candidate(Box::new(candidate.clone())))
            .collect();
        self.note_makers(batch);
        self.makers.extend(union.map(|union| (union.key, "fold")));
        let speculative = self.prefetch(pool, repairs, batch, union);
        self.judge_with(pass, &attempts, &speculative)
    }

    /// Learns from the verdicts of a batch. Returns its successes; the others are queued for repair
    /// where their failure says how.
    fn sort_out(
        &mut self,
        batch: Vec<ChunkCandidate>,
        repairs: &mut VecDeque<Chunk>,
    ) -> Vec<ChunkCandidate> {
        let mut successes = Vec::new();
        for member in batch {
            match self.verdicts.get(&member.candidate.key).cloned() {
                Some(Verdict::Same) => {
                    self.priors.accept(&member.chunk.names);
                    successes.push(member);
                }
                Some(verdict) => repairs.extend(self.reject(&member, &verdict)),
                None => {}
            }
        }
        successes
    }

    /// Learns from a chunk that was not accepted; returns it in the wider form that its failure
    /// names.
    pub(super) fn reject(&mut self, member: &ChunkCandidate, verdict: &Verdict) -> Option<Chunk> {
        let ChunkCandidate { chunk, candidate } = member;
        // A repair is tried once: it says nothing of the proposal, and its own failure no more.
        if chunk.widened {
            return None;
        }
        self.priors.reject(&chunk.names);
        // Of several proposals it is not known which one failed.
        if chunk.units.len() > 1 {
            return None;
        }
        self.base.note_needed(&candidate.edits, verdict);
        self.widened(chunk, candidate, verdict)
    }

    /// The next candidates to try: repairs first, then the most promising. If chunks need no run,
    /// because they cannot show the bug or were run before, the search learns from them at once.
    pub(super) fn next_batch(
        &mut self,
        pool: &ProposalPool,
        repairs: &mut VecDeque<Chunk>,
        room: usize,
    ) -> Vec<ChunkCandidate> {
        let mut batch: Vec<ChunkCandidate> = Vec::new();
        // The more of the chosen chunks need no run, the more are chosen at once.
        let mut count = room;
        while batch.len() < room {
            let mut chunks: Vec<Chunk> = repairs
                .drain(..repairs.len().min(room - batch.len()))
                .collect();
            if chunks.is_empty() {
                let trying: Vec<Chunk> = batch.iter().map(|member| member.chunk.clone()).collect();
                chunks = pool.choose(&self.priors, count, &trying);
                count = (2 * count).min(MOST_CHOSEN);
            }
            if chunks.is_empty() {
                break;
            }
            while !chunks.is_empty() && batch.len() < room {
                let rest = chunks.split_off(chunks.len().min(room));
                let (base, until) = (&self.base, self.options.until);
                let attempts: Option<Vec<Attempt>> = chunks
                    .par_iter()
                    .map(|chunk| (!is_over(until)).then(|| base.attempt_sparing(&chunk.edits)))
                    .collect();
                // Whoever judges this batch finds out that the time is up.
                let Some(attempts) = attempts else {
                    return batch;
                };
                for (chunk, attempt) in chunks.into_iter().zip(attempts) {
                    self.take(chunk, attempt, room, &mut batch);
                }
                chunks = rest;
            }
        }
        batch
    }

    /// Puts a candidate into a batch that has room, unless it needs no run.
    fn take(
        &mut self,
        chunk: Chunk,
        attempt: Attempt,
        room: usize,
        batch: &mut Vec<ChunkCandidate>,
    ) {
        let is_new = |key: Key| {
            !batch.iter().any(|member| member.candidate.key == key)
                && self.verdicts.get(&key).is_none_or(Verdict::is_same)
        };
        match attempt {
            Attempt::Candidate(candidate) if is_new(candidate.key) => {
                if batch.len() < room {
                    batch.push(ChunkCandidate {
                        chunk,
                        candidate: *candidate,
                    });
                }
            }
            attempt => {
                self.note_breach(&chunk, &attempt);
                self.tally.pruned += 1;
                if !chunk.widened {
                    self.priors.reject(&chunk.names);
                }
            }
        }
    }
}
