//! All proposals for one program, and the choice of what is tried next: the chunks of proposals
//! with the highest expected gain per run. Pure bookkeeping; judges nothing. Called by the search.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use minrepro_reducers::{
    cost::tokens_of,
    pass::{Prior, Proposal},
    rewrite::edit::EditSet,
    syntax::{Program, Ranged, TextRange, TextSize},
};

use super::{
    base::Base,
    priors::{Priors, ProposalName, all_of},
    tuning::{CHUNKS, LEAST_GAIN},
};

/// Proposals that are tried together.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) edits: EditSet,
    pub(super) names: Vec<ProposalName>,
    /// The change in words.
    pub(super) note: String,
    /// Which proposals of the pool these are.
    pub(super) units: Vec<usize>,
    /// The group of the first of them, in their pass.
    pub(super) group: u32,
    /// Whether the edits were widened by the hint of a failure.
    pub(super) widened: bool,
}

impl Chunk {
    /// The pass of the first of the proposals.
    pub(super) fn pass(&self) -> &'static str {
        self.names.first().map_or("", |name| name.pass)
    }
}

/// Ranges of a text, to look up whether one lies within another.
#[derive(Default)]
struct Ranges(BTreeMap<TextSize, TextSize>);

impl Ranges {
    fn extend(&mut self, ranges: &[TextRange]) {
        for range in ranges {
            let end = self.0.entry(range.start()).or_insert(range.end());
            *end = (*end).max(range.end());
        }
    }

    /// Whether the nearest range that starts no later extends to the end of this one.
    fn contain(&self, range: TextRange) -> bool {
        self.0
            .range(..=range.start())
            .next_back()
            .is_some_and(|(_, &end)| end >= range.end())
    }
}

/// The proposals for one program.
pub(super) struct ProposalPool {
    units: Vec<Unit>,
    /// Proposals that may be tried together stand in one row.
    groups: Vec<Range<usize>>,
}

struct Unit {
    proposal: Proposal,
    name: ProposalName,
    /// How many tokens it would remove.
    gain: f64,
    ranges: Vec<TextRange>,
}

impl ProposalPool {
    /// The proposals for a program, in the passes' order.
    pub(super) fn new(base: &Base, proposals: Vec<Proposal>) -> Self {
        let mut units: Vec<Unit> = Vec::with_capacity(proposals.len());
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut previous = None;
        for proposal in proposals {
            // Passes put what belongs together into one group and in one row, so a group is a
            // range.
            let owner = (proposal.pass, proposal.group);
            let index = units.len();
            match groups.last_mut() {
                Some(group) if previous == Some(owner) => group.end = index + 1,
                _ => groups.push(index..index + 1),
            }
            previous = Some(owner);
            let edits = proposal.edits.resolve(&base.program).unwrap_or_default();
            let gain: f64 = edits
                .iter()
                .map(|edit| tokens(&base.program, edit.range) - tokens_of(&edit.text) as f64)
                .sum::<f64>()
                .max(LEAST_GAIN);
            let fingerprint = base.fingerprint(&proposal, &edits);
            units.push(Unit {
                name: ProposalName {
                    pass: proposal.pass,
                    prior: proposal.prior,
                    fingerprint,
                },
                gain,
                ranges: edits.iter().map(|edit| edit.range).collect(),
                proposal,
            });
        }
        Self { units, groups }
    }

    /// How many proposals there are.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    /// Some proposals as one chunk.
    pub(super) fn chunk(&self, units: Vec<usize>) -> Chunk {
        let mut edits = EditSet::default();
        for &unit in &units {
            edits.extend(&self.units[unit].proposal.edits);
        }
        let note = units.first().map_or_else(String::new, |&first| {
            let note = &self.units[first].proposal.note;
            if units.len() > 1 {
                format!("{note} and {} more", units.len() - 1)
            } else {
                note.clone()
            }
        });
        let names = units.iter().map(|&unit| self.units[unit].name).collect();
        let group = units
            .first()
            .map_or(0, |&first| self.units[first].proposal.group);
        Chunk {
            edits,
            names,
            note,
            units,
            group,
            widened: false,
        }
    }

    /// The chunks to try next, at most `room`, the most promising first. None lies within another
    /// or within a chunk that is being tried. Proposals that were rejected alone are left out: the
    /// final sweep tries them once more.
    pub(super) fn choose(&self, priors: &Priors, room: usize, trying: &[Chunk]) -> Vec<Chunk> {
        let taken: BTreeSet<usize> = trying
            .iter()
            .flat_map(|chunk| chunk.units.iter().copied())
            .collect();
        let mut found = self.promising(priors, room, &taken);
        // A stable sort: chunks that promise the same stay in the order of their passes.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.apart(found.into_iter().map(|(_, units)| units), room, &taken)
    }

    /// The best chunks of each group with their promise, at most `room` of each.
    fn promising(
        &self,
        priors: &Priors,
        room: usize,
        taken: &BTreeSet<usize>,
    ) -> Vec<(f64, Vec<usize>)> {
        let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
        for group in &self.groups {
            let mut open: Vec<(usize, f64)> = group
                .clone()
                .filter(|unit| {
                    !taken.contains(unit) && !priors.is_rejected(self.units[*unit].name.fingerprint)
                })
                .map(|unit| (unit, priors.of(self.units[unit].name)))
                .collect();
            // A few are tried all at once; of many only a part, since one of them will be needed.
            let most = if open.len() <= CHUNKS {
                open.len()
            } else {
                open.len().div_ceil(CHUNKS)
            };
            open.sort_by(|a, b| b.1.total_cmp(&a.1));
            for _ in 0..room {
                if open.is_empty() {
                    break;
                }
                found.push(self.best_chunk(priors, &mut open, most));
            }
        }
        found
    }

    /// The first chunks that do not lie within a chunk that is being tried or was chosen earlier: a
    /// statement in a function says nothing new while the whole function is being tried.
    fn apart(
        &self,
        found: impl Iterator<Item = Vec<usize>>,
        room: usize,
        taken: &BTreeSet<usize>,
    ) -> Vec<Chunk> {
        let mut ranges = Ranges::default();
        for &unit in taken {
            ranges.extend(&self.units[unit].ranges);
        }
        let mut chosen = Vec::new();
        for mut units in found {
            if chosen.len() == room {
                break;
            }
            units.retain(|&unit| {
                !self.units[unit]
                    .ranges
                    .iter()
                    .all(|range| ranges.contain(*range))
            });
            if !units.is_empty() {
                for &unit in &units {
                    ranges.extend(&self.units[unit].ranges);
                }
                // Edits are made in the order of their proposals, not of their likelihood.
                units.sort_unstable();
                chosen.push(self.chunk(units));
            }
        }
        chosen
    }

    /// Takes the units out of a row, likely ones first, that together promise most: their gain
    /// times the probability that all of it is accepted. One more unit always adds gain and always
    /// lowers the probability, so the chunk grows as long as the product does.
    fn best_chunk(
        &self,
        priors: &Priors,
        open: &mut Vec<(usize, f64)>,
        most: usize,
    ) -> (f64, Vec<usize>) {
        let (mut odds, mut gain, mut promise, mut limit) = (0.0, 0.0, 0.0, usize::MAX);
        let mut chunk = Vec::new();
        let mut rest = Vec::new();
        for &(unit, likely) in open.iter() {
            let name = self.units[unit].name;
            // A chunk is no larger than the smallest limit of its members. But a part that nothing
            // can depend on is never split.
            let most = limit
                .min(priors.limit(name))
                .min(if name.prior == Prior::Certain {
                    usize::MAX
                } else {
                    most
                });
            let count = chunk.len() + 1;
            let (more, larger) = (odds + likely.ln(), gain + self.units[unit].gain);
            let together = all_of(more, count) * larger;
            if chunk.is_empty() || (count <= most && together > promise) {
                (odds, gain, promise, limit) = (more, larger, together, most);
                chunk.push(unit);
            } else {
                rest.push((unit, likely));
            }
        }
        *open = rest;
        (promise, chunk)
    }
}

fn tokens(program: &Program, range: TextRange) -> f64 {
    let at = |offset: TextSize| {
        program
            .tokens()
            .partition_point(|token| token.range().start() < offset)
    };
    (at(range.end()) - at(range.start())) as f64
}
