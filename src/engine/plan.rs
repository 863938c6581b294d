//! From edits to a candidate, or to the reason why it needs no run. Pure; called for many proposals
//! at once.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use minrepro_reducers::{
    analysis::dependents::with_dependents,
    cost::Cost,
    pass::Proposal,
    rewrite::{
        edit::{Edit, EditSet},
        rebase::Rebase,
    },
    syntax::{Program, Ranged, rows::ItemId},
};

use crate::{journal::Key, judge::Candidate};

/// How many tokens on each side tell one place from another.
const AROUND: usize = 1;

/// The program that proposals are made against, and what is known of it.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) program: Arc<Program>,
    pub(super) key: Key,
    cost: Cost,
    unbound: BTreeSet<String>,
    /// Whether candidates with unbound names are run all the same.
    unbound_names: bool,
    /// Statements that could not go alone.
    needed: BTreeSet<ItemId>,
    /// The statements that fail, as a traced run showed: what takes them away can hardly show the
    /// bug.
    failing: BTreeSet<ItemId>,
}

/// Edits made into a candidate, or not.
pub(super) enum Plan {
    Candidate(Box<Candidate>),
    /// Not worth a run.
    Pruned,
    /// The edits do not even apply, parse, or gain anything: for a single proposal a breach of the
    /// pass's contract.
    Useless,
}

impl Base {
    pub(super) fn new(program: Arc<Program>, unbound_names: bool) -> Self {
        let key = Key::of(&program.encode().unwrap_or_default());
        let unbound = program
            .scopes()
            .unbound_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let cost = Cost::of(&program);
        Self {
            program,
            key,
            cost,
            unbound,
            unbound_names,
            needed: BTreeSet::new(),
            failing: BTreeSet::new(),
        }
    }

    /// The same knowledge of the program that `rebase` leads to.
    pub(super) fn rebased(&self, program: Arc<Program>, rebase: &Rebase<'_>) -> Self {
        let rebased = |places: &BTreeSet<ItemId>| {
            let moved = |place: &ItemId| EditSet::removal(*place).rebase(rebase)?.removals().next();
            places.iter().filter_map(moved).collect()
        };
        Self {
            needed: rebased(&self.needed),
            failing: rebased(&self.failing),
            ..Self::new(program, self.unbound_names)
        }
    }

    /// Remembers that a statement can not go alone, if that is what the edits are.
    pub(super) fn note_needed(&mut self, edits: &EditSet) {
        let mut removals = edits.removals();
        if let (Some(place), None) = (removals.next(), removals.next())
            && *edits == EditSet::removal(place)
            && self.program.rows()[place.row as usize].kind.is_suite()
        {
            self.needed.insert(place);
        }
    }

    /// Remembers which statements fail.
    pub(super) fn note_failing(&mut self, failing: BTreeSet<ItemId>) {
        self.failing = failing;
    }

    /// As [`Base::plan`], but nothing that takes away a statement that fails.
    pub(super) fn plan_sparing(&self, edits: &EditSet) -> Plan {
        let lists = self.program.rows();
        let range = |place: &ItemId| lists[place.row as usize].items[place.item as usize];
        let removes_failing = |edits: &EditSet| {
            edits.removals().any(|gone| {
                self.failing
                    .iter()
                    .any(|it| range(&gone).contains_range(range(it)))
            })
        };
        match self.plan(edits) {
            Plan::Candidate(candidate) if removes_failing(&candidate.edits) => Plan::Pruned,
            plan => plan,
        }
    }

    /// Makes a candidate of edits. One that would leave names unbound is tried with all that hangs
    /// on these names gone as well, unless that includes a statement known to be needed.
    pub(super) fn plan(&self, edits: &EditSet) -> Plan {
        let Some(program) = self.build(edits) else {
            return Plan::Useless;
        };
        if self.binds_its_names(&program) {
            return self.candidate(program, edits.clone());
        }
        let Some(wider) = with_dependents(&self.program, edits) else {
            return Plan::Pruned;
        };
        let drags_needed = wider
            .removals()
            .any(|place| self.needed.contains(&place) && !edits.removals().any(|it| it == place));
        if drags_needed {
            return Plan::Pruned;
        }
        match self.build(&wider) {
            Some(program) if self.binds_its_names(&program) => self.candidate(program, wider),
            _ => Plan::Pruned,
        }
    }

    /// The program itself.
    pub(super) fn itself(&self) -> Plan {
        match self.program.encode() {
            Some(bytes) => Plan::Candidate(Box::new(Candidate {
                key: self.key,
                bytes: bytes.into(),
                program: Arc::clone(&self.program),
                edits: EditSet::default(),
                variables: Arc::default(),
            })),
            None => Plan::Useless,
        }
    }

    fn build(&self, edits: &EditSet) -> Option<Program> {
        let program = self
            .program
            .sibling(edits.apply(&self.program).ok()?)
            .ok()?;
        (Cost::of(&program) < self.cost).then_some(program)
    }

    fn binds_its_names(&self, program: &Program) -> bool {
        let scopes = program.scopes();
        self.unbound_names
            || scopes
                .unbound
                .iter()
                .all(|load| self.unbound.contains(load.name.as_str()))
    }

    fn candidate(&self, program: Program, edits: EditSet) -> Plan {
        // Nothing is left to show a bug, or CPython's compiler would refuse what the parser lets
        // pass.
        let hopeless = program.body().is_empty()
            || (program.scopes().misplaced.is_some() && self.program.scopes().misplaced.is_none());
        match program.encode() {
            Some(bytes) if !hopeless => Plan::Candidate(Box::new(Candidate {
                key: Key::of(&bytes),
                bytes: bytes.into(),
                program: Arc::new(program),
                edits,
                variables: Arc::default(),
            })),
            _ => Plan::Pruned,
        }
    }

    /// What a proposal would do, and the tokens around that, independent of where it stands: tells
    /// whether it was tried before on another base.
    pub(super) fn fingerprint(&self, proposal: &Proposal, edits: &[Edit]) -> u64 {
        let mut hasher = DefaultHasher::new();
        proposal.pass.hash(&mut hasher);
        let tokens = self.program.tokens();
        for edit in edits {
            let first = tokens.partition_point(|token| token.range().end() <= edit.range.start());
            // Tokens without width, as line ends have, may count for both.
            let end = tokens
                .partition_point(|token| token.range().start() < edit.range.end())
                .max(first);
            for token in &tokens[first.saturating_sub(AROUND)..(end + AROUND).min(tokens.len())] {
                self.program.slice(token.range()).hash(&mut hasher);
            }
            self.program.slice(edit.range).hash(&mut hasher);
            edit.text.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The line on which edits begin, counted from 1.
    pub(super) fn line_of(&self, edits: &EditSet) -> u32 {
        let start = edits
            .resolve(&self.program)
            .ok()
            .and_then(|edits| edits.first().map(|edit| edit.range.start()))
            .unwrap_or_default();
        self.program.line_of(start)
    }
}
