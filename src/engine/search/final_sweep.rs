//! The final sweep: tries every proposal once more, one by one, on the final program.

use std::collections::{HashSet, VecDeque};

use minrepro_reducers::pass::Stage;

use super::{ChunkCandidate, Search, SearchEnd};
use crate::{
    engine::{
        base::Attempt,
        tuning::BATCH,
        types::{Stop, WhyKept},
    },
    journal::Key,
    oracle::Verdict,
};

impl Search<'_> {
    /// Tries everything once more, one by one, on the current program, and repairs candidates that
    /// fail because of something that they leave behind. A candidate that shows the bug is adopted.
    /// If none does, this proves that no single proposal is left, and it is the reason why each
    /// part stays.
    ///
    /// After a success, the sweep continues where it was: the pass that proposed it comes first,
    /// then the proposals that were rejected longest ago, since the program has changed most since
    /// then.
    pub(in crate::engine) fn final_sweep(&mut self, stages: &[Stage]) -> Result<SearchEnd, Stop> {
        self.kept.clear();
        let proposals = self.proposals_of(stages)?;
        let pool = self.pool_of(proposals)?;
        let mut members = self.singles(&pool)?;
        self.tally.pruned += (pool.len() - members.len()) as u64;
        let mut seen = HashSet::new();
        members.retain(|member| seen.insert(member.candidate.key));
        // Known verdicts cost nothing, so they come first and in one batch.
        let (mut batch, new): (Vec<ChunkCandidate>, Vec<ChunkCandidate>) = members
            .into_iter()
            .partition(|member| self.verdicts.contains_key(&member.candidate.key));
        let mut left = VecDeque::from(new);
        let latest = self.commits.last().map_or("", |commit| &commit.pass);
        left.make_contiguous()
            .sort_by_key(|ChunkCandidate { chunk, .. }| {
                (
                    chunk.pass() != latest,
                    self.priors.last_refusal(&chunk.names),
                )
            });
        loop {
            let attempts: Vec<Attempt> = batch
                .iter()
                .map(|member| Attempt::Candidate(Box::new(member.candidate.clone())))
                .collect();
            let pass = batch.first().map_or("", |member| member.chunk.pass());
            self.note_makers(&batch);
            self.judge(pass, &attempts)?;
            let mut successes = Vec::new();
            for member in std::mem::take(&mut batch) {
                match self.verdicts.get(&member.candidate.key).cloned() {
                    Some(Verdict::Same) => successes.push(member),
                    Some(verdict) => {
                        // At once, so that each part has one reason beside the other.
                        if let Some(repair) = self.repair(&member, &verdict, &mut seen) {
                            left.push_front(repair);
                        }
                        self.keep(member, verdict);
                    }
                    None => {}
                }
            }
            if !successes.is_empty() {
                self.fold_with_care(successes);
                return Ok(SearchEnd::Shrunk);
            }
            self.check_budget()?;
            if !self.confirm_on_the_way()? || !self.confirm_at_last(left.len())? {
                return Ok(SearchEnd::Shrunk);
            }
            batch.extend(left.drain(..left.len().min(BATCH)));
            if batch.is_empty() {
                return Ok(SearchEnd::Exhausted);
            }
        }
    }

    /// A refused candidate in the wider form that its failure names, if that is a new one.
    fn repair(
        &self,
        member: &ChunkCandidate,
        verdict: &Verdict,
        seen: &mut HashSet<Key>,
    ) -> Option<ChunkCandidate> {
        if member.chunk.widened {
            return None;
        }
        let chunk = self.widened(&member.chunk, &member.candidate, verdict)?;
        let Attempt::Candidate(candidate) = self.base.attempt(&chunk.edits) else {
            return None;
        };
        let is_new = !self.verdicts.contains_key(&candidate.key) && seen.insert(candidate.key);
        is_new.then_some(ChunkCandidate {
            chunk,
            candidate: *candidate,
        })
    }

    /// Records why a part of the program stays.
    fn keep(&mut self, ChunkCandidate { chunk, candidate }: ChunkCandidate, verdict: Verdict) {
        // The proposal itself has its reason already.
        if chunk.widened {
            return;
        }
        self.priors.refuse(&chunk.names);
        self.base.note_needed(&candidate.edits, &verdict);
        self.kept.push(WhyKept {
            line: self.base.line_of(&chunk.edits),
            pass: chunk.pass().to_owned(),
            note: chunk.note,
            verdict,
        });
    }
}
