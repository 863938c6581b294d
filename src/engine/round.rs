//! The order in which the proposals of one round are tried: all at once, then in chunks that shrink, then one by one.
//! Pure bookkeeping; judges nothing.

use std::collections::{HashSet, VecDeque};

use minrepro_reducers::{
    edit::{EditSet, Rebase},
    pass::{Prior, Proposal},
};

/// How many candidates a batch has at most. Fixed, so that results do not depend on the number of workers; small, so that
/// each batch is made with what the one before it taught.
pub(super) const BATCH: usize = 8;

/// At least so many chunks a group is cut into once it was not accepted whole.
const CHUNKS: usize = 8;

/// What a round tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoroughness {
    /// What was not tried one by one before, in chunks.
    New,
    /// Everything, one by one.
    Everything,
}

/// Proposals that are tried together: indices into the round.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) units: Vec<usize>,
    /// Set for a chunk that was widened by what its failure named.
    pub(super) widened: Option<EditSet>,
}

/// The proposals of one round and what is still to be tried of them.
#[derive(Clone)]
pub(super) struct Round {
    units: Vec<Option<Proposal>>,
    groups: Vec<Group>,
    queue: VecDeque<Chunk>,
}

#[derive(Clone)]
struct Group {
    units: Vec<usize>,
    /// Chunk sizes still to come, the next one last.
    sizes: Vec<usize>,
}

impl Group {
    /// Queues the chunks of the next size.
    fn begin_level(&mut self, queue: &mut VecDeque<Chunk>) {
        if let Some(size) = self.sizes.pop() {
            queue.extend(self.units.chunks(size).map(|units| Chunk { units: units.to_vec(), widened: None }));
        }
    }
}

impl Round {
    pub(super) fn new(proposals: Vec<Proposal>, how: Thoroughness) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut previous = None;
        for (index, proposal) in proposals.iter().enumerate() {
            let place = (proposal.pass, proposal.group);
            match groups.last_mut() {
                Some(group) if previous == Some(place) => group.units.push(index),
                _ => groups.push(Group { units: vec![index], sizes: Vec::new() }),
            }
            previous = Some(place);
        }
        let mut queue = VecDeque::new();
        for group in &mut groups {
            let prior = group.units.iter().map(|&unit| proposals[unit].prior).max().unwrap_or(Prior::Even);
            group.sizes = match how {
                Thoroughness::New => sizes(group.units.len(), prior),
                Thoroughness::Everything => vec![1],
            };
        }
        let certain: Vec<usize> =
            (0..proposals.len()).filter(|&unit| proposals[unit].prior == Prior::Certain).collect();
        if how == Thoroughness::New && certain.len() > 1 {
            queue.push_back(Chunk { units: certain, widened: None });
        }
        Self { units: proposals.into_iter().map(Some).collect(), groups, queue }
    }

    /// Every proposal by itself.
    pub(super) fn all(&self) -> Vec<Chunk> {
        (0..self.units.len()).map(|unit| Chunk { units: vec![unit], widened: None }).collect()
    }

    /// The next chunks to try, none once the round is through. While there is room, groups of which nothing is being
    /// tried go on to their next size: full batches keep all workers busy.
    pub(super) fn next_batch(&mut self, room: usize) -> Vec<Chunk> {
        let mut batch: Vec<Chunk> = Vec::new();
        let mut trying: HashSet<usize> = HashSet::new();
        while batch.len() < room {
            if let Some(mut chunk) = self.queue.pop_front() {
                chunk.units.retain(|&unit| self.units[unit].is_some());
                if !chunk.units.is_empty() {
                    trying.extend(&chunk.units);
                    batch.push(chunk);
                }
            } else if !self.next_group(&trying) {
                break;
            }
        }
        batch
    }

    /// Queues the chunks of the first group that can go on; false if none can.
    fn next_group(&mut self, trying: &HashSet<usize>) -> bool {
        for group in &mut self.groups {
            group.units.retain(|&unit| self.units[unit].is_some());
        }
        self.groups.retain(|group| !group.sizes.is_empty() && !group.units.is_empty());
        let is_idle = |group: &&mut Group| !group.units.iter().any(|unit| trying.contains(unit));
        // The group with the largest chunks first, so that none runs ahead of the others.
        let idle = self.groups.iter_mut().filter(is_idle);
        match idle.max_by_key(|group| (group.sizes.len(), std::cmp::Reverse(group.units[0]))) {
            Some(group) => {
                group.begin_level(&mut self.queue);
                true
            }
            None => false,
        }
    }

    /// The edits of a chunk.
    pub(super) fn edits(&self, chunk: &Chunk) -> EditSet {
        chunk.widened.clone().unwrap_or_else(|| {
            chunk.units.iter().filter_map(|&unit| self.units[unit].as_ref()).fold(
                EditSet::default(),
                |mut all, proposal| {
                    all.extend(&proposal.edits);
                    all
                },
            )
        })
    }

    /// The pass of a chunk.
    pub(super) fn pass_of(&self, chunk: &Chunk) -> &'static str {
        chunk.units.first().and_then(|&unit| self.proposal(unit)).map_or("", |proposal| proposal.pass)
    }

    pub(super) fn proposal(&self, unit: usize) -> Option<&Proposal> {
        self.units[unit].as_ref()
    }

    /// A chunk is to be tried next in a wider form.
    pub(super) fn widen(&mut self, chunk: &Chunk, edits: EditSet) {
        self.queue.push_front(Chunk { units: chunk.units.clone(), widened: Some(edits) });
    }

    /// These chunks were accepted; the rest now stands against another program.
    pub(super) fn accept<'c>(&mut self, chunks: impl Iterator<Item = &'c Chunk>, rebase: &Rebase<'_>) {
        for unit in chunks.flat_map(|chunk| &chunk.units) {
            self.units[*unit] = None;
        }
        for unit in &mut self.units {
            if let Some(proposal) = unit {
                match proposal.edits.rebase(rebase) {
                    Some(edits) => proposal.edits = edits,
                    None => *unit = None,
                }
            }
        }
        // A widened chunk's edits stand against the program that failed: its units are tried again in time.
        self.queue.retain(|chunk| chunk.widened.is_none());
    }
}

/// Chunk sizes for `n` proposals, the first one last: all at once where that is certain or they are few, then what
/// counter-based delta debugging says for the prior but no less than an eighth of all, then thirds down to one.
fn sizes(n: usize, prior: Prior) -> Vec<usize> {
    let keeps = 1.0 - prior.probability();
    // argmax over k of k (1 - p)^k
    let ideal = (-1.0 / (1.0 - keeps).ln()).round() as usize;
    let is_small = n <= CHUNKS;
    let mut sizes = Vec::new();
    if prior == Prior::Certain || (is_small && prior != Prior::Unlikely) {
        sizes.push(n);
    }
    let mut size = if is_small { 1 } else { ideal.max(n.div_ceil(CHUNKS)).clamp(1, n) };
    loop {
        if sizes.last() != Some(&size) {
            sizes.push(size);
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(3);
    }
    sizes.reverse();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_sizes_follow_the_prior_and_the_number() {
        let falling = |n, prior| {
            let mut sizes = sizes(n, prior);
            sizes.reverse();
            sizes
        };
        assert_eq!(falling(1, Prior::Certain), [1]);
        assert_eq!(falling(40, Prior::Likely), [5, 2, 1]);
        assert_eq!(falling(4, Prior::Even), [4, 1]);
        assert_eq!(falling(6, Prior::Unlikely), [1]);
        assert_eq!(falling(2000, Prior::Likely), [250, 84, 28, 10, 4, 2, 1]);
        assert_eq!(falling(100, Prior::Certain), [100, 49, 17, 6, 2, 1]);
    }
}
