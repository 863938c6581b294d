//! From successes to commits: a single success is adopted, several are merged.

use std::sync::Arc;

use minrepro_reducers::rewrite::{
    edit::{EditSet, splice},
    rebase::Rebase,
};

use super::{ChunkCandidate, Search};
use crate::{
    engine::{
        base::{Attempt, Base},
        types::{Commit, Event},
    },
    judge::Candidate,
    oracle::Verdict,
};

/// A union that is taken as the base before its verdict is there, and the base to return to if it
/// does not hold.
pub(super) struct Pending {
    base: Base,
    pub(super) union: Candidate,
    members: Vec<ChunkCandidate>,
}

impl Search<'_> {
    /// Takes a candidate that shows the bug as the base.
    pub(super) fn adopt(&mut self, success: ChunkCandidate) {
        let candidate = success.candidate.clone();
        let base = self.advance(&candidate);
        self.record_commits(&base, &candidate, &[success]);
    }

    /// Takes the union of successes as the base: at once if it is known to hold, else pending its
    /// verdict.
    pub(super) fn merge(&mut self, successes: Vec<ChunkCandidate>) -> Option<Pending> {
        // Of changes that exclude each other, two values for one literal say, the first stays.
        let mut edits = EditSet::default();
        let members: Vec<ChunkCandidate> = successes
            .into_iter()
            .filter(|success| {
                let union = edits.union(&success.candidate.edits);
                let fits = union.resolve(&self.base.program).is_ok();
                if fits {
                    edits = union;
                }
                fits
            })
            .collect();
        if let Attempt::Candidate(union) = self.base.attempt(&edits) {
            match self.verdicts.get(&union.key).map(Verdict::is_same) {
                Some(true) => {
                    let base = self.advance(&union);
                    self.record_commits(&base, &union, &members);
                    return None;
                }
                // Unions nearly always hold: to wait for each verdict would cost a round of idle
                // workers for every batch that succeeds.
                None => {
                    return Some(Pending {
                        base: self.advance(&union),
                        union: *union,
                        members,
                    });
                }
                Some(false) => {}
            }
        }
        self.fold_with_care(members);
        None
    }

    /// Commits a union if its verdict is positive. If not, returns to the base before it and
    /// commits those parts of the union that work together. Says whether the union held.
    pub(super) fn settle(&mut self, pending: Pending) -> bool {
        let Pending {
            base,
            union,
            members,
        } = pending;
        let verdict = self.verdicts.get(&union.key);
        let holds = verdict.is_some_and(Verdict::is_same);
        if holds {
            self.record_commits(&base, &union, &members);
        } else {
            self.base = base;
            self.fold_with_care(members);
        }
        holds
    }

    /// Returns to the base before a union of which the verdict will not be found out.
    pub(super) fn give_up(&mut self, pending: Pending) {
        self.base = pending.base;
    }

    /// Commits those of some successes that work together.
    pub(super) fn fold_with_care(&mut self, successes: Vec<ChunkCandidate>) {
        let Some((union, indices)) = self.fold(&successes) else {
            return;
        };
        let members: Vec<ChunkCandidate> = successes
            .into_iter()
            .enumerate()
            .filter_map(|(index, success)| indices.contains(&index).then_some(success))
            .collect();
        let base = self.advance(&union);
        self.record_commits(&base, &union, &members);
    }

    /// Takes a candidate as the base; returns the base that was.
    fn advance(&mut self, candidate: &Candidate) -> Base {
        let done = candidate
            .edits
            .resolve(&self.base.program)
            .unwrap_or_default();
        let rebase = Rebase::new(&self.base.program, &done, &candidate.program);
        let base = self.base.rebased(Arc::clone(&candidate.program), &rebase);
        std::mem::replace(&mut self.base, base)
    }

    /// Records the way from `base` to the program that is the base now, a commit for each of its
    /// members: people read one change at a time, though all were made at once.
    fn record_commits(&mut self, base: &Base, union: &Candidate, members: &[ChunkCandidate]) {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut together = EditSet::default();
        for (index, ChunkCandidate { chunk, candidate }) in members.iter().enumerate() {
            together.extend(&candidate.edits);
            let text = together
                .resolve(&base.program)
                .map(|edits| splice(base.program.text(), &edits));
            let partial = text.ok().and_then(|text| base.program.sibling(text).ok());
            // The union may have removed more than its members: things that depended on both of
            // two.
            let last = index + 1 == members.len();
            let program = partial.as_ref().filter(|_| !last).unwrap_or(&union.program);
            self.commits.push(Commit {
                pass: chunk.pass().to_owned(),
                note: chunk.note.clone(),
                tokens: program.size().tokens,
                run: self.tally.judged(),
                seconds,
            });
            self.milestones.add(program, self.commits.len());
        }
        self.tally.tokens_now = union.program.size().tokens;
        self.last_success = self.tally.runs;
        if let Some(commit) = self.commits.last() {
            (self.watch)(
                &Event::Commit {
                    commit,
                    program: &union.program,
                },
                &self.tally,
            );
        }
    }
}
