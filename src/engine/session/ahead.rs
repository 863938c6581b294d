//! What workers do that a batch leaves idle: they run what would be tried next if nothing of the
//! batch showed the bug, as is most likely. Such a verdict counts from when it is needed, as if it
//! had been found then, so that the search takes the same way however many workers there are; some
//! are never needed.

use std::collections::{VecDeque, hash_map::Entry};

use super::{Member, Session};
use crate::{
    engine::offer::{Chunk, Offer},
    journal::Key,
    judge::Candidate,
    oracle::Verdict,
};

impl Session<'_> {
    /// The candidates of the batches after one that shows nothing, as many as there are workers
    /// without work beside those that judge it and a union.
    pub(super) fn foresee(
        &mut self,
        offer: &Offer,
        urgent: &VecDeque<Chunk>,
        batch: &[Member],
        union: Option<&Candidate>,
    ) -> Vec<Candidate> {
        let unknown = |session: &Self, members: &[Member]| -> Vec<Candidate> {
            let candidates = members.iter().map(|it| &it.candidate);
            candidates
                .filter(|it| !session.foreseen.contains_key(&it.key))
                .cloned()
                .collect()
        };
        let tried = unknown(self, batch).len() + usize::from(union.is_some());
        let mut idle = self.options.jobs.saturating_sub(tried);
        // A budget is for what is needed, and a batch is not to wait for what hangs and may not be.
        let hangs = || {
            self.verdicts
                .values()
                .any(|it| matches!(it, Verdict::TimedOut(_)))
        };
        if idle == 0
            || tried == 0
            || self.options.singly
            || self.options.max_runs.is_some()
            || hangs()
        {
            return Vec::new();
        }
        let known = (self.beliefs.clone(), self.base.clone(), self.tally);
        let mut supposed: Vec<Key> = Vec::new();
        let mut urgent = urgent.clone();
        let mut ahead: Vec<Candidate> = Vec::new();
        let mut next = batch.to_vec();
        while !next.is_empty() && idle > 0 {
            for member in &next {
                let key = member.candidate.key;
                let verdict = self
                    .foreseen
                    .get(&key)
                    .map_or(Verdict::Passed, |it| it.verdict.clone());
                urgent.extend(self.reject(member, &verdict));
                if let Entry::Vacant(entry) = self.verdicts.entry(key) {
                    entry.insert(verdict);
                    supposed.push(key);
                }
            }
            // What follows a success is made of another program.
            if next.iter().any(|it| {
                self.verdicts
                    .get(&it.candidate.key)
                    .is_some_and(Verdict::is_same)
            }) {
                break;
            }
            next = self.next_batch(offer, &mut urgent, idle);
            let found = unknown(self, &next);
            idle -= found.len();
            ahead.extend(found);
        }
        for key in supposed {
            self.verdicts.remove(&key);
        }
        (self.beliefs, self.base, self.tally) = known;
        ahead
    }
}
