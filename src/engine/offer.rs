//! What could be done to one program, and which of it is tried next: the chunks of proposals that
//! gain most for a run. Pure bookkeeping; judges nothing. Called by the session.

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
    beliefs::{Beliefs, Name, all_of},
    plan::Base,
};

/// How many candidates a batch has at most. Fixed, so that results do not depend on the number of
/// workers; small, so that each batch is made with what the one before it taught.
pub(super) const BATCH: usize = 8;

/// At least so many chunks a long row of proposals is cut into.
const CHUNKS: usize = 8;

/// Proposals that are tried together.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) edits: EditSet,
    pub(super) names: Vec<Name>,
    /// The change in words.
    pub(super) note: String,
    /// Which proposals of the offer these are.
    pub(super) units: Vec<usize>,
    /// The group of the first of them, in their pass.
    pub(super) group: u32,
    /// Whether the edits are wider than the proposals, by what a failure named.
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

    /// Whether the nearest range that starts no later goes on to the end of this one.
    fn contain(&self, range: TextRange) -> bool {
        self.0
            .range(..=range.start())
            .next_back()
            .is_some_and(|(_, &end)| end >= range.end())
    }
}

/// The proposals for one program.
pub(super) struct Offer {
    units: Vec<Unit>,
    /// Proposals that may be tried together stand in one row.
    groups: Vec<Range<usize>>,
}

struct Unit {
    proposal: Proposal,
    name: Name,
    /// Tokens that would go.
    gain: f64,
    ranges: Vec<TextRange>,
}

impl Offer {
    /// The proposals for a program, in the passes' order.
    pub(super) fn new(base: &Base, proposals: Vec<Proposal>) -> Self {
        let mut units: Vec<Unit> = Vec::with_capacity(proposals.len());
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut previous = None;
        for proposal in proposals {
            let place = (proposal.pass, proposal.group);
            let index = units.len();
            match groups.last_mut() {
                Some(group) if previous == Some(place) => group.end = index + 1,
                _ => groups.push(index..index + 1),
            }
            previous = Some(place);
            let edits = proposal.edits.resolve(&base.program).unwrap_or_default();
            let gain: f64 = edits
                .iter()
                .map(|edit| tokens(&base.program, edit.range) - tokens_of(&edit.text) as f64)
                .sum::<f64>()
                .max(0.25);
            let print = base.fingerprint(&proposal, &edits);
            units.push(Unit {
                name: Name {
                    pass: proposal.pass,
                    prior: proposal.prior,
                    print,
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

    /// The chunks to try next, at most `room`, those that promise most first; none within another,
    /// and none of what is being tried already. Proposals that were rejected alone are left out.
    pub(super) fn choose(&self, beliefs: &Beliefs, room: usize, trying: &[Chunk]) -> Vec<Chunk> {
        let taken: BTreeSet<usize> = trying
            .iter()
            .flat_map(|chunk| chunk.units.iter().copied())
            .collect();
        let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
        for group in &self.groups {
            let mut open: Vec<(usize, f64)> = group
                .clone()
                .filter(|unit| {
                    !taken.contains(unit) && !beliefs.is_rejected(self.units[*unit].name.print)
                })
                .map(|unit| (unit, beliefs.of(self.units[unit].name)))
                .collect();
            // Few are tried at once as they are; of many an eighth, since something of them will be
            // needed.
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
                let (promise, chunk) = self.best_chunk(beliefs, &mut open, most);
                found.push((promise, chunk));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut ranges = Ranges::default();
        for &unit in &taken {
            ranges.extend(&self.units[unit].ranges);
        }
        let mut chosen = Vec::new();
        for (_, mut units) in found {
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
                units.sort_unstable();
                chosen.push(self.chunk(units));
            }
        }
        chosen
    }

    /// Takes the units out of a row, likely ones first, that together promise most: their gain
    /// times the probability that all of it is accepted.
    fn best_chunk(
        &self,
        beliefs: &Beliefs,
        open: &mut Vec<(usize, f64)>,
        most: usize,
    ) -> (f64, Vec<usize>) {
        let (mut odds, mut gain, mut promise, mut limit) = (0.0, 0.0, 0.0, usize::MAX);
        let mut chunk = Vec::new();
        let mut rest = Vec::new();
        for &(unit, likely) in open.iter() {
            let name = self.units[unit].name;
            let most = limit
                .min(beliefs.limit(name))
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
