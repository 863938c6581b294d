//! Seeds that may make a flaky bug show in every run: which are tried, and how many runs in a row
//! must show the bug before a seed is believed. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A seed, and how it is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// The variable `PYTHONHASHSEED`.
    Hash(u32),
    /// These calls, added to the script, seed its random numbers with this.
    Calls(u32, String),
}

impl Seed {
    /// The seeds to try, of each kind.
    pub const TRIED: std::ops::Range<u32> = 0..8;

    /// The probability that a seed without effect is accepted, over all seeds that are tried.
    const BY_CHANCE: f64 = 0.01;

    /// The environment variable that it sets.
    pub fn variable(&self) -> Option<(String, String)> {
        match self {
            Self::Hash(seed) => Some(("PYTHONHASHSEED".to_owned(), seed.to_string())),
            Self::Calls(..) => None,
        }
    }

    /// How many runs in a row must show a bug that shows in this share of runs without a seed; none
    /// if that would be too many, because the bug shows often enough as it is.
    pub fn enough(rate: f64) -> Option<usize> {
        const MOST: usize = 30;
        let tried = 2.0 * f64::from(Self::TRIED.end - Self::TRIED.start);
        let runs = ((Self::BY_CHANCE / tried).ln() / rate.clamp(0.05, 0.999).ln()).ceil() as usize;
        (runs <= MOST).then_some(runs.max(3))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash(seed) => write!(formatter, "PYTHONHASHSEED={seed}"),
            Self::Calls(_, calls) => formatter.write_str(calls),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_rarely_believed() {
        for (rate, runs) in [(0.01, 3), (0.1, 4), (0.3, 7), (0.5, 11), (0.7, 21)] {
            assert_eq!(Seed::enough(rate), Some(runs), "{rate}");
            assert!(rate.powf(runs as f64) * 16.0 <= 0.01, "{rate}");
        }
        assert_eq!(Seed::enough(0.9), None);
    }
}
