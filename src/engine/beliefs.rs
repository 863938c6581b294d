//! How likely it is that proposals are accepted: the passes' priors, corrected by what was accepted
//! and rejected so far. Pure bookkeeping. After `ProbDD` (Wang et al., "Probabilistic Delta
//! Debugging", ESEC/FSE 2021): a rejected chunk makes each of its members less likely, by Bayes'
//! rule; what is shared by the members of one pass is learnt per pass. Chunks shrink to a third
//! when they are rejected, as in counter-based delta debugging (Zhang et al., ICSE 2025).

use std::collections::{HashMap, HashSet};

use minrepro_reducers::pass::Prior;

/// How many runs a prior is worth.
const STRENGTH: f64 = 4.0;

/// What was learnt in one reduction.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs {
    passes: HashMap<(&'static str, Prior), Record>,
    /// How far a proposal is less likely than its pass makes it, in log odds; by its print.
    doubts: HashMap<u64, f64>,
    /// How many of which a proposal may be one from now on, if a chunk with it was rejected.
    limits: HashMap<u64, usize>,
    /// Proposals that were rejected alone.
    rejected: HashSet<u64>,
    /// The same, by the last sweep through all that is left: which one in a row of all such
    /// refusals it was.
    refused: HashMap<u64, usize>,
    refusals: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    accepted: f64,
    tried: f64,
}

/// A proposal as the beliefs know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) pass: &'static str,
    pub(super) prior: Prior,
    /// What it does, independent of the program it is made against.
    pub(super) print: u64,
}

impl Beliefs {
    /// The probability that a proposal is accepted.
    pub(super) fn of(&self, name: Name) -> f64 {
        let record = self
            .passes
            .get(&(name.pass, name.prior))
            .copied()
            .unwrap_or_default();
        let likely =
            (name.prior.probability() * STRENGTH + record.accepted) / (STRENGTH + record.tried);
        let doubt = self.doubts.get(&name.print).copied().unwrap_or_default();
        probability(log_odds(likely) - doubt)
    }

    /// How large a chunk with this proposal may be: a third of one that was rejected.
    pub(super) fn limit(&self, name: Name) -> usize {
        self.limits.get(&name.print).copied().unwrap_or(usize::MAX)
    }

    /// Whether a proposal was rejected alone.
    pub(super) fn is_rejected(&self, print: u64) -> bool {
        self.rejected.contains(&print)
    }

    /// When a sweep refused a proposal last, if it did.
    pub(super) fn last_refusal(&self, names: &[Name]) -> Option<usize> {
        names
            .iter()
            .filter_map(|name| self.refused.get(&name.print).copied())
            .max()
    }

    /// A sweep refused a proposal.
    pub(super) fn refuse(&mut self, names: &[Name]) {
        self.refusals += 1;
        self.refused
            .extend(names.iter().map(|name| (name.print, self.refusals)));
    }

    /// All of these were accepted together.
    pub(super) fn accept(&mut self, names: &[Name]) {
        for name in names {
            let record = self.passes.entry((name.pass, name.prior)).or_default();
            record.accepted += 1.0;
            record.tried += 1.0;
        }
    }

    /// These were not accepted together: at least one of them can not go.
    pub(super) fn reject(&mut self, names: &[Name]) {
        if let [name] = names {
            self.rejected.insert(name.print);
        }
        let all = all_of(
            names.iter().map(|&name| self.of(name).ln()).sum(),
            names.len(),
        );
        for &name in names {
            let before = self.of(name);
            // Given that not all can go, this one can with so much less probability.
            let after = ((before - all) / (1.0 - all)).max(0.001);
            self.limits.insert(name.print, names.len().div_ceil(3));
            *self.doubts.entry(name.print).or_default() += log_odds(before) - log_odds(after);
        }
        if let Some(name) = names.first() {
            self.passes
                .entry((name.pass, name.prior))
                .or_default()
                .tried += 1.0;
        }
    }
}

/// The probability that so many proposals are accepted together, of the sum of the logarithms of
/// their own. Noise comes in heaps, so it falls with the logarithm of their number, not with the
/// number.
pub(super) fn all_of(logarithms: f64, count: usize) -> f64 {
    let count = count as f64;
    (logarithms / count * (1.0 + count.ln())).exp()
}

fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(0.001, 0.999);
    (probability / (1.0 - probability)).ln()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: u64) -> Vec<Name> {
        (0..count)
            .map(|print| Name {
                pass: "p",
                prior: Prior::Likely,
                print,
            })
            .collect()
    }

    #[test]
    fn acceptance_makes_the_rest_of_the_pass_more_likely() {
        let mut beliefs = Beliefs::default();
        let names = names(9);
        let before = beliefs.of(names[8]);
        beliefs.accept(&names[..8]);
        assert!(beliefs.of(names[8]) > before + 0.1);
    }

    #[test]
    fn rejection_makes_the_members_less_likely_than_the_rest() {
        let mut beliefs = Beliefs::default();
        let names = names(4);
        beliefs.reject(&names[..3]);
        assert!(beliefs.of(names[0]) < beliefs.of(names[3]));
        assert!(!beliefs.is_rejected(0));
        beliefs.reject(&names[..1]);
        assert!(beliefs.is_rejected(0) && beliefs.of(names[0]) < 0.01);
    }
}
