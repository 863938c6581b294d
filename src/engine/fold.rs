//! Folding: of several changes that each show the bug alone, as many as show it together. In the order of their
//! proposals, so that the outcome depends on nothing else. After ShrinkRay's patch merging (MacIver), but ordered.

use minrepro_reducers::edit::EditSet;

use super::{session::Session, types::Candidate};

impl Session<'_> {
    /// Folds successes, which are in the order of their proposals: the whole if it works; else the longest prefix that
    /// works, found by doubling and halving, then on behind the one that breaks it. Returns what is to be committed and
    /// the indices of the successes in it.
    pub(super) fn fold(&mut self, successes: &[&Candidate]) -> Option<(Candidate, Vec<usize>)> {
        let first = successes.first()?;
        let mut best = ((*first).clone(), vec![0]);
        let (mut at, mut step) = (1, successes.len() - 1);
        while at < successes.len() && step > 0 {
            step = step.min(successes.len() - at);
            let mut edits: EditSet = best.0.edits.clone();
            for success in &successes[at..at + step] {
                edits.extend(&success.edits);
            }
            match self.try_fold(&edits) {
                Some(candidate) => {
                    best.0 = candidate;
                    best.1.extend(at..at + step);
                    at += step;
                    step *= 2;
                }
                None if step == 1 => at += 1,
                None => step = step.div_ceil(2),
            }
        }
        Some(best)
    }
}
