//! Folding: of several changes that each show the bug alone, as many as show it together. In the
//! order of their proposals, so that the outcome depends on nothing else. After ShrinkRay's patch
//! merging (MacIver), but ordered, and by halves, so that a level of halves can be judged at once.

use std::ops::Range;

use minrepro_reducers::rewrite::edit::EditSet;

use super::session::{Member, Session};
use crate::judge::Candidate;

/// Successes that hold together: their indices and the candidate that they make.
struct Piece {
    indices: Vec<usize>,
    candidate: Candidate,
}

impl Session<'_> {
    /// Folds successes whose union does not show the bug: halves it until each piece holds
    /// together, then joins neighbouring pieces, level by level; of two that do not go together the
    /// larger stays, and what the other holds is proposed again later. Returns what is to be
    /// committed and the indices of the successes in it.
    pub(super) fn fold(&mut self, successes: &[Member]) -> Option<(Candidate, Vec<usize>)> {
        let mut pieces = self.pieces(successes);
        while pieces.len() > 1 {
            let unions: Vec<EditSet> = pieces
                .chunks_exact(2)
                .map(|pair| pair[0].candidate.edits.union(&pair[1].candidate.edits))
                .collect();
            let mut tried = self.try_folds(&unions).into_iter();
            let mut joined = Vec::new();
            let mut left = pieces.into_iter();
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
    fn pieces(&mut self, successes: &[Member]) -> Vec<Piece> {
        let halves = |range: Range<usize>| {
            let middle = range.start + range.len().div_ceil(2);
            [range.start..middle, middle..range.end]
        };
        let mut good: Vec<Piece> = Vec::new();
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
        good.sort_by_key(|piece| piece.indices.first().copied());
        good
    }
}

fn union(members: &[Member]) -> EditSet {
    members.iter().fold(EditSet::default(), |mut all, member| {
        all.extend(&member.candidate.edits);
        all
    })
}
