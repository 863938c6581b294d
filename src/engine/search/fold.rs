//! Folding: of several changes that each show the bug alone, finds as many as show it together.
//! Goes in the order of their proposals, so that the outcome depends on nothing else. After
//! ShrinkRay's patch merging (MacIver), but ordered, and by halves, so that all halves of one level
//! are judged at once.

use std::ops::Range;

use minrepro_reducers::rewrite::edit::EditSet;

use rayon::prelude::*;

use super::{ChunkCandidate, Search};
use crate::{engine::base::Attempt, judge::Candidate, oracle::Verdict};

/// Successes that hold together: their indices and the candidate that they make.
struct Piece {
    indices: Vec<usize>,
    candidate: Candidate,
}

impl Search<'_> {
    /// Folds successes whose union does not show the bug: halves it until each piece holds
    /// together, then joins neighbouring pieces, level by level; of two that do not go together the
    /// larger stays, and the other's changes are proposed again later. Returns the candidate to
    /// commit and the indices of the successes in it.
    ///
    /// Of N successes of which one pair excludes each other, that takes about log N levels, and
    /// each level is one batch; adding them one by one would take N batches.
    pub(super) fn fold(&mut self, successes: &[ChunkCandidate]) -> Option<(Candidate, Vec<usize>)> {
        let mut pieces = self.pieces(successes);
        while pieces.len() > 1 {
            let unions: Vec<EditSet> = pieces
                .chunks_exact(2)
                .map(|pair| pair[0].candidate.edits.union(&pair[1].candidate.edits))
                .collect();
            let mut tried = self.try_folds(&unions).into_iter();
            let mut joined = Vec::new();
            let mut left = pieces.into_iter();
            // An odd piece at the end moves to the next level as it is.
            while let Some(mut one) = left.next() {
                if let Some(other) = left.next() {
                    match tried.next().flatten() {
                        Some(candidate) => {
                            one.indices.extend(other.indices);
                            one.candidate = candidate;
                        }
                        None if other.indices.len() > one.indices.len() => one = other,
                        None => {}
                    }
                }
                joined.push(one);
            }
            pieces = joined;
        }
        pieces.pop().map(|piece| (piece.candidate, piece.indices))
    }

    /// Neighbouring successes in pieces that each hold together, as large as halving finds them.
    fn pieces(&mut self, successes: &[ChunkCandidate]) -> Vec<Piece> {
        let halves = |range: Range<usize>| {
            let middle = range.start + range.len().div_ceil(2);
            [range.start..middle, middle..range.end]
        };
        let mut good: Vec<Piece> = Vec::new();
        // The whole is known to fail: that is why it is folded.
        let mut open: Vec<Range<usize>> = halves(0..successes.len()).into();
        while !open.is_empty() {
            open.retain(|range| !range.is_empty());
            let unions: Vec<EditSet> = open
                .iter()
                .map(|range| union(&successes[range.clone()]))
                .collect();
            let tried = self.try_folds(&unions);
            let mut next = Vec::new();
            for (range, found) in open.into_iter().zip(tried) {
                match found {
                    Some(candidate) => good.push(Piece {
                        indices: range.collect(),
                        candidate,
                    }),
                    None if range.len() > 1 => next.extend(halves(range)),
                    // A single success showed the bug in its batch, whatever its union with nothing
                    // was not tried for: a spent budget, say.
                    None => {
                        let candidate = successes[range.start].candidate.clone();
                        good.push(Piece {
                            indices: range.collect(),
                            candidate,
                        });
                    }
                }
            }
            open = next;
        }
        // Larger pieces are found first. Their order must not decide which are joined.
        good.sort_by_key(|piece| piece.indices.first().copied());
        good
    }

    /// Which unions of changes show the bug. Out of budget, a union without a verdict does not
    /// count.
    fn try_folds(&mut self, unions: &[EditSet]) -> Vec<Option<Candidate>> {
        let attempts: Vec<Attempt> = unions
            .par_iter()
            .map(|edits| self.base.attempt(edits))
            .collect();
        // A halt shows at the next batch. Verdicts before it count.
        let _ = self.judge("fold", &attempts);
        let verdicts = self.verdicts_of(&attempts);
        let shows = |(attempt, verdict)| match (attempt, verdict) {
            (Attempt::Candidate(candidate), Some(Verdict::Same)) => Some(*candidate),
            _ => None,
        };
        attempts.into_iter().zip(verdicts).map(shows).collect()
    }
}

fn union(members: &[ChunkCandidate]) -> EditSet {
    members.iter().fold(EditSet::default(), |mut all, member| {
        all.extend(&member.candidate.edits);
        all
    })
}
