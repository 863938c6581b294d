//! A search over versions in order, with several probes at a time, for the last change between two
//! that have an answer. Pure.

use serde::Serialize;

/// The result of running a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionProbe {
    /// The bug shows.
    Shows(String),
    /// The script passes.
    Gone(String),
    /// Unknown: the script fails in another way.
    Other(String),
    /// Unknown: the version does not run.
    Broken(String),
}

/// A search over versions in order, oldest first.
#[derive(Debug)]
pub struct VersionSearch {
    /// The results so far for each version.
    pub(super) probes: Vec<Option<VersionProbe>>,
    /// The number of rounds so far.
    pub rounds: u32,
}

impl VersionSearch {
    /// A search over a number of versions.
    pub fn new(versions: usize) -> Self {
        Self {
            probes: vec![None; versions],
            rounds: 0,
        }
    }

    /// The versions to probe next, at most `most`; none once nothing more can be learned.
    pub fn next(&self, most: usize) -> Vec<usize> {
        let open = |range: std::ops::Range<usize>| {
            range
                .filter(|&at| self.probes[at].is_none())
                .collect::<Vec<_>>()
        };
        let total = self.probes.len();
        let known: Vec<usize> = (0..total).filter(|&at| self.shows(at).is_some()).collect();
        let (Some(&first), Some(&last)) = (known.first(), known.last()) else {
            return spread(&open(0..total), most, true);
        };
        // If the version at an end cannot run, the next one stands for it.
        let mut wanted: Vec<usize> = open(0..first)
            .first()
            .copied()
            .into_iter()
            .chain(open(last + 1..total).last().copied())
            .collect();
        // Only the last change matters for the newest version.
        let change = known
            .windows(2)
            .rev()
            .find(|pair| self.shows(pair[0]) != self.shows(pair[1]));
        if let Some(pair) = change {
            let within = open(pair[0] + 1..pair[1]);
            wanted.extend(spread(&within, most.saturating_sub(wanted.len()), false));
        }
        wanted.truncate(most);
        wanted
    }

    /// Whether a version shows the bug, where that is known.
    pub(super) fn shows(&self, at: usize) -> Option<bool> {
        match self.probes[at] {
            Some(VersionProbe::Shows(_)) => Some(true),
            Some(VersionProbe::Gone(_)) => Some(false),
            _ => None,
        }
    }

    /// Records a round of probes.
    pub fn learn(&mut self, found: Vec<(usize, VersionProbe)>) {
        self.rounds += 1;
        for (at, probe) in found {
            self.probes[at] = Some(probe);
        }
    }

    /// The last change: the version before and the version after.
    pub(super) fn change(&self) -> Option<(usize, usize)> {
        let known: Vec<usize> = (0..self.probes.len())
            .filter(|&at| self.shows(at).is_some())
            .collect();
        known
            .windows(2)
            .rev()
            .find(|pair| self.shows(pair[0]) != self.shows(pair[1]))
            .map(|pair| (pair[0], pair[1]))
    }
}

/// Picks evenly spread places, with both ends or strictly between them.
fn spread(places: &[usize], most: usize, with_ends: bool) -> Vec<usize> {
    if places.len() <= most {
        return places.to_vec();
    }
    let count = places.len();
    let mut chosen: Vec<usize> = match (with_ends, most) {
        (_, 0) => Vec::new(),
        (true, 1) => vec![count - 1],
        (true, most) => (0..most).map(|at| at * (count - 1) / (most - 1)).collect(),
        (false, most) => (1..=most).map(|at| at * count / (most + 1)).collect(),
    };
    chosen.dedup();
    chosen.into_iter().map(|at| places[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where versions from `fixed` on are well and those of `broken` cannot run; returns
    /// the answer and the rounds.
    fn run(
        count: usize,
        fixed: usize,
        broken: &[usize],
        at_once: usize,
    ) -> (Option<(usize, usize)>, u32) {
        let mut search = VersionSearch::new(count);
        loop {
            let next = search.next(at_once);
            if next.is_empty() {
                return (search.change(), search.rounds);
            }
            assert!(next.len() <= at_once);
            let probe = |at: usize| match at {
                at if broken.contains(&at) => VersionProbe::Broken(String::new()),
                at if at < fixed => VersionProbe::Shows(String::new()),
                _ => VersionProbe::Gone(String::new()),
            };
            search.learn(next.into_iter().map(|at| (at, probe(at))).collect());
        }
    }

    #[test]
    fn nine_versions_take_three_rounds_at_most() {
        for fixed in 1..9 {
            let (change, rounds) = run(9, fixed, &[], 3);
            assert_eq!(change, Some((fixed - 1, fixed)));
            assert!(rounds <= 3, "{fixed}: {rounds}");
        }
    }

    #[test]
    fn a_version_that_cannot_run_does_not_mislead() {
        for fixed in 1..9 {
            for broken in 0..9 {
                let (change, rounds) = run(9, fixed, &[broken], 3);
                let before = (0..fixed).rev().find(|at| *at != broken);
                let after = (fixed..9).find(|at| *at != broken);
                assert_eq!(change, before.zip(after), "{fixed} {broken}");
                assert!(rounds <= 4, "{fixed} {broken}: {rounds}");
            }
        }
        assert_eq!(run(3, 1, &[0, 1, 2], 3).0, None);
        assert_eq!(run(5, 0, &[], 3).0, None);
        assert_eq!(run(5, 5, &[], 2).0, None);
        assert_eq!(run(0, 0, &[], 3), (None, 0));
    }
}
