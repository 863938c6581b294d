//! Speculative runs: workers that a batch leaves idle run the candidates that would come next if no
//! candidate of the batch shows the bug, which is the most likely case. Such a verdict counts from
//! the moment it is needed, as if it had been found then, so the search takes the same path for any
//! number of workers. Some verdicts are never needed.

use std::collections::{VecDeque, hash_map::Entry};

use super::{ChunkCandidate, Search};
use crate::{
    engine::proposal_pool::{Chunk, ProposalPool},
    journal::Key,
    judge::Candidate,
    oracle::Verdict,
};

impl Search<'_> {
    /// The candidates of the batches that would follow if this one and a union of earlier successes
    /// showed nothing, as many as there are workers left.
    ///
    /// The next batches are made by the same steps that will make them in earnest, on copies of the
    /// state that those steps change. So such a guess never names another candidate than the search
    /// will ask for.
    pub(super) fn prefetch(
        &mut self,
        pool: &ProposalPool,
        repairs: &VecDeque<Chunk>,
        batch: &[ChunkCandidate],
        union: Option<&Candidate>,
    ) -> Vec<Candidate> {
        let unknown = |search: &Self, members: &[ChunkCandidate]| -> Vec<Candidate> {
            let candidates = members.iter().map(|member| &member.candidate);
            candidates
                .filter(|candidate| !search.prefetched.contains_key(&candidate.key))
                .cloned()
                .collect()
        };
        let tried = unknown(self, batch).len() + usize::from(union.is_some());
        let mut idle = self.options.jobs.saturating_sub(tried);
        // A budget is only for runs that are needed. And a batch waits for all of its runs: it must
        // not wait for one that hangs and may never be needed.
        let hangs = || {
            self.verdicts
                .values()
                .any(|verdict| matches!(verdict, Verdict::TimedOut(_)))
        };
        if idle == 0
            || tried == 0
            || self.options.singly
            || self.options.max_runs.is_some()
            || hangs()
        {
            return Vec::new();
        }
        // Everything that making batches changes is restored at the end.
        let known = (self.priors.clone(), self.base.clone(), self.tally);
        let mut supposed: Vec<Key> = Vec::new();
        let mut repairs = repairs.clone();
        let mut ahead: Vec<Candidate> = Vec::new();
        let mut next = batch.to_vec();
        while !next.is_empty() && idle > 0 {
            for member in &next {
                let key = member.candidate.key;
                // Known verdicts count as they are. All other candidates are assumed to fail, as
                // most do.
                let verdict = self
                    .prefetched
                    .get(&key)
                    .map_or(Verdict::Passed, |judged| judged.verdict.clone());
                repairs.extend(self.reject(member, &verdict));
                if let Entry::Vacant(entry) = self.verdicts.entry(key) {
                    entry.insert(verdict);
                    supposed.push(key);
                }
            }
            // After a success, the search continues from another program.
            if next.iter().any(|member| {
                self.verdicts
                    .get(&member.candidate.key)
                    .is_some_and(Verdict::is_same)
            }) {
                break;
            }
            next = self.next_batch(pool, &mut repairs, idle);
            let found = unknown(self, &next);
            idle -= found.len();
            ahead.extend(found);
        }
        for key in supposed {
            self.verdicts.remove(&key);
        }
        (self.priors, self.base, self.tally) = known;
        ahead
    }
}
