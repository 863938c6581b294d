//! What may make a bug show each time that shows in some runs only: seeds. Says what is tried and
//! how many runs in a row have to show the bug before that is believed. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that decides what chance decided before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// The variable `PYTHONHASHSEED`.
    Hash(u32),
    /// The script itself seeds its random numbers by this, for which these calls were put in.
    Calls(u32, String),
}

impl Seed {
    /// The seeds that are tried, of each kind.
    pub const TRIED: std::ops::Range<u32> = 0..8;

    /// In how many of a script's runs one that does nothing would be believed, over all that are
    /// tried.
    const BY_CHANCE: f64 = 0.01;

    /// The variable that it sets.
    pub fn variable(&self) -> Option<(String, String)> {
        match self {
            Self::Hash(seed) => Some(("PYTHONHASHSEED".to_owned(), seed.to_string())),
            Self::Calls(..) => None,
        }
    }

    /// How many runs in a row have to show a bug that shows in this share of runs without it; none
    /// if that would be too many, since the bug is steady enough as it is.
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
    fn chance_is_hardly_ever_believed() {
        for (rate, runs) in [(0.01, 3), (0.1, 4), (0.3, 7), (0.5, 11), (0.7, 21)] {
            assert_eq!(Seed::enough(rate), Some(runs), "{rate}");
            assert!(rate.powf(runs as f64) * 16.0 <= 0.01, "{rate}");
        }
        assert_eq!(Seed::enough(0.9), None);
    }
}
