//! How likely proposals are to be accepted: the passes' priors, corrected by earlier acceptances
//! and rejections. Pure bookkeeping. After `ProbDD` (Wang et al., "Probabilistic Delta Debugging",
//! ESEC/FSE 2021): a rejected chunk makes each of its members less likely, by Bayes' rule. The part
//! that the members of a pass share is learned per pass. Chunks shrink when they are rejected, as
//! in counter-based delta debugging (Zhang et al., ICSE 2025).

use std::collections::{HashMap, HashSet};

use minrepro_reducers::pass::Prior;

use super::tuning::{LEAST_PROBABILITY, PRIOR_WEIGHT, SHRINK};

/// How likely proposals are accepted, as far as one reduction has learned.
#[derive(Clone, Debug, Default)]
pub(super) struct Priors {
    passes: HashMap<(&'static str, Prior), Score>,
    /// How much less likely a proposal is than its pass makes it, in log odds; by its fingerprint.
    handicaps: HashMap<u64, f64>,
    /// How large a chunk with this proposal may be, if one with it was rejected.
    limits: HashMap<u64, usize>,
    /// Proposals that were rejected alone.
    rejected: HashSet<u64>,
    /// When the final sweep refused a proposal, in the order of its refusals.
    refused: HashMap<u64, usize>,
    refusals: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    accepted: f64,
    tried: f64,
}

/// A proposal as the priors know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProposalName {
    pub(super) pass: &'static str,
    pub(super) prior: Prior,
    /// Identifies its effect, whatever program it is made against.
    pub(super) fingerprint: u64,
}

impl Priors {
    /// The probability that a proposal is accepted.
    pub(super) fn of(&self, name: ProposalName) -> f64 {
        let score = self
            .passes
            .get(&(name.pass, name.prior))
            .copied()
            .unwrap_or_default();
        // The pass's guess counts as so many candidates that confirm it. Observations are added to
        // them, so that a pass that errs on this script soon counts less.
        let likely = (name.prior.probability() * PRIOR_WEIGHT + score.accepted)
            / (PRIOR_WEIGHT + score.tried);
        let handicap = self.handicaps.get(&name.fingerprint).copied();
        probability(log_odds(likely) - handicap.unwrap_or_default())
    }

    /// How large a chunk with this proposal may be: a part of one that was rejected.
    pub(super) fn limit(&self, name: ProposalName) -> usize {
        self.limits
            .get(&name.fingerprint)
            .copied()
            .unwrap_or(usize::MAX)
    }

    /// Whether a proposal was rejected alone.
    pub(super) fn is_rejected(&self, fingerprint: u64) -> bool {
        self.rejected.contains(&fingerprint)
    }

    /// When the final sweep refused one of these last, if it did.
    pub(super) fn last_refusal(&self, names: &[ProposalName]) -> Option<usize> {
        names
            .iter()
            .filter_map(|name| self.refused.get(&name.fingerprint).copied())
            .max()
    }

    /// Notes that the final sweep refused these.
    pub(super) fn refuse(&mut self, names: &[ProposalName]) {
        self.refusals += 1;
        self.refused
            .extend(names.iter().map(|name| (name.fingerprint, self.refusals)));
    }

    /// Learns that all of these were accepted together.
    pub(super) fn accept(&mut self, names: &[ProposalName]) {
        for name in names {
            let score = self.passes.entry((name.pass, name.prior)).or_default();
            score.accepted += 1.0;
            score.tried += 1.0;
        }
    }

    /// Learns that these were not accepted together: at least one of them has to stay.
    pub(super) fn reject(&mut self, names: &[ProposalName]) {
        if let [name] = names {
            self.rejected.insert(name.fingerprint);
        }
        let all = all_of(
            names.iter().map(|&name| self.of(name).ln()).sum(),
            names.len(),
        );
        for &name in names {
            let before = self.of(name);
            // Bayes' rule, given that not all of them can be removed: in a large chunk the blame is
            // spread thin, in a pair it weighs much.
            let after = ((before - all) / (1.0 - all)).max(LEAST_PROBABILITY);
            self.limits
                .insert(name.fingerprint, names.len().div_ceil(SHRINK));
            *self.handicaps.entry(name.fingerprint).or_default() +=
                log_odds(before) - log_odds(after);
        }
        // One rejection, whatever the size of the chunk: it says of one member only that it stays,
        // and a pass must not be given up for the company its proposals were in.
        if let Some(name) = names.first() {
            self.passes
                .entry((name.pass, name.prior))
                .or_default()
                .tried += 1.0;
        }
    }
}

/// The probability that so many proposals are accepted together, from the sum of the logarithms of
/// their own probabilities. Noise comes in heaps: where one statement is not needed, its neighbours
/// are seldom needed either. So the exponent grows with the logarithm of the number, not with the
/// number as it would for independent proposals, and large chunks are worth a try.
pub(super) fn all_of(logarithms: f64, count: usize) -> f64 {
    let count = count as f64;
    (logarithms / count * (1.0 + count.ln())).exp()
}

fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
    (probability / (1.0 - probability)).ln()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: u64) -> Vec<ProposalName> {
        (0..count)
            .map(|fingerprint| ProposalName {
                pass: "p",
                prior: Prior::Likely,
                fingerprint,
            })
            .collect()
    }

    #[test]
    fn acceptance_makes_the_rest_of_the_pass_more_likely() {
        let mut priors = Priors::default();
        let names = names(9);
        let before = priors.of(names[8]);
        priors.accept(&names[..8]);
        assert!(priors.of(names[8]) > before + 0.1);
    }

    #[test]
    fn rejection_makes_the_members_less_likely_than_the_rest() {
        let mut priors = Priors::default();
        let names = names(4);
        priors.reject(&names[..3]);
        assert!(priors.of(names[0]) < priors.of(names[3]));
        assert!(!priors.is_rejected(0));
        priors.reject(&names[..1]);
        assert!(priors.is_rejected(0) && priors.of(names[0]) < 0.01);
    }
}
