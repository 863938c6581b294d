//! Flaky bugs: how often a program must be run to know whether it still shows the bug often enough.
//! After Wald's sequential probability ratio test ("Sequential Tests of
//! Statistical Hypotheses", 1945): as few runs as the stated error rates need. Pure.

use serde::{Deserialize, Serialize};

/// A sequential test and its error rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequentialTest {
    /// The share of runs in which the script as given shows the bug.
    pub rate: f64,
    /// A program that shows it in at most this share of runs is refused.
    pub least: f64,
    /// Of programs that show it in `least` of their runs or fewer, at most this share is accepted.
    pub wrongly_accepted: f64,
    /// Of programs that show it as often as the script, at most this share is refused.
    pub wrongly_refused: f64,
}

impl SequentialTest {
    /// The test for candidates of a script that showed the bug in `same` of `of` runs; none if that
    /// is too rare.
    pub fn of(same: usize, of: usize, least: Option<f64>) -> Option<Self> {
        // Less than 1 even if every run showed it.
        let rate = same as f64 / (of + 1) as f64;
        let least = least.unwrap_or((rate / 16.0).max(0.01));
        (same > 1 && least < rate * 0.8).then_some(Self {
            rate,
            least,
            wrongly_accepted: 0.03,
            wrongly_refused: 0.3,
        })
    }

    /// The same test with much smaller error rates, for programs that are to be kept.
    #[must_use]
    pub fn strict(self) -> Self {
        Self {
            wrongly_accepted: self.wrongly_accepted / 15.0,
            wrongly_refused: 0.005,
            ..self
        }
    }

    /// Whether a program that showed the bug in `same` of `of` runs is accepted; none while that is
    /// undecided.
    pub fn decide(&self, same: usize, of: usize) -> Option<bool> {
        let hit = (self.rate / self.least).ln();
        let miss = ((1.0 - self.rate) / (1.0 - self.least)).ln();
        let evidence = same as f64 * hit + of.saturating_sub(same) as f64 * miss;
        if evidence >= -self.wrongly_accepted.ln() {
            Some(true)
        } else if evidence <= self.wrongly_refused.ln() {
            Some(false)
        } else {
            None
        }
    }

    /// How many runs in a row without the bug refuse a program.
    pub fn patience(&self) -> usize {
        (1..=100)
            .find(|&runs| self.decide(0, runs).is_some())
            .unwrap_or(100)
    }

    /// How many more runs a program needs at least after these.
    pub fn at_least(&self, same: usize, of: usize) -> usize {
        let decided = |&more: &usize| {
            self.decide(same + more, of + more).is_some() || self.decide(same, of + more).is_some()
        };
        (1..=100).find(decided).unwrap_or(1)
    }

    /// After how many unsuccessful candidates in a row the current program itself is doubtful:
    /// twice as many as the runs that would refuse it.
    pub fn doubtful_after(&self) -> u64 {
        2 * self.strict().patience() as u64
    }
}
