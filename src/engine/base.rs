//! The program that proposals are made against, and the step from their edits to a candidate or to
//! the reason why it needs no run. Pure. Called for many proposals at once, on all cores.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use minrepro_reducers::{
    analysis::dependents::{Readers, with_dependents},
    cost::Cost,
    pass::Proposal,
    rewrite::{
        edit::{Edit, EditSet},
        rebase::Rebase,
    },
    syntax::{Program, Ranged, rows::ItemId},
};

use super::tuning::CONTEXT;
use crate::{journal::Key, judge::Candidate, oracle::Verdict};

/// The program that proposals are made against, and what is known about it.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) program: Arc<Program>,
    pub(super) key: Key,
    cost: Cost,
    unbound: BTreeSet<String>,
    /// Whether candidates with unbound names are run all the same.
    unbound_names: bool,
    /// Statements that could not be removed alone.
    needed: BTreeSet<ItemId>,
    /// Those of them without which the program succeeded: nothing else missed them.
    decisive: BTreeSet<ItemId>,
    /// The statements that fail, as a traced run showed: without them a program can hardly show the
    /// bug.
    failing: BTreeSet<ItemId>,
    /// Whether failing statements may be moved to another place.
    moves_failing: bool,
    readers: Arc<Readers>,
}

/// The outcome of applying edits.
pub(super) enum Attempt {
    Candidate(Box<Candidate>),
    /// Not worth a run.
    Pruned,
    /// The edits contradict each other or leave text that does not parse: for a single proposal a
    /// breach of the pass's contract.
    Broken,
}

/// Why edits make no program that could be an improvement.
enum Unfit {
    Broken,
    NoGain,
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
        let readers = Readers::of(&program);
        Self {
            program,
            key,
            cost,
            unbound,
            unbound_names,
            needed: BTreeSet::new(),
            decisive: BTreeSet::new(),
            failing: BTreeSet::new(),
            moves_failing: false,
            readers: Arc::new(readers),
        }
    }

    /// The same knowledge about the program that `rebase` leads to.
    pub(super) fn rebased(&self, program: Arc<Program>, rebase: &Rebase<'_>) -> Self {
        let rebased = |places: &BTreeSet<ItemId>| {
            let moved = |place: &ItemId| EditSet::removal(*place).rebase(rebase)?.removals().next();
            places.iter().filter_map(moved).collect()
        };
        Self {
            needed: rebased(&self.needed),
            decisive: rebased(&self.decisive),
            failing: rebased(&self.failing),
            moves_failing: self.moves_failing,
            ..Self::new(program, self.unbound_names)
        }
    }

    /// Remembers that a statement cannot be removed alone, if the edits are its removal, and how
    /// the program ended without it.
    pub(super) fn note_needed(&mut self, edits: &EditSet, verdict: &Verdict) {
        let mut removals = edits.removals();
        if let (Some(place), None) = (removals.next(), removals.next())
            && *edits == EditSet::removal(place)
            && self.program.row(place).kind.is_suite()
        {
            self.needed.insert(place);
            if matches!(verdict, Verdict::Passed) {
                self.decisive.insert(place);
            }
        }
    }

    /// Remembers which statements fail.
    pub(super) fn note_failing(&mut self, failing: BTreeSet<ItemId>) {
        self.failing = failing;
    }

    /// Whether edits remove a failing or decisive statement. Without it the program nearly always
    /// ends without the bug, whatever else of it has changed since. A decisive statement may be
    /// moved, as when its function is inlined. A failing one may be moved only late: until then
    /// the recorded values of its function are the shortest way to it.
    pub(super) fn removes_vital(&self, edits: &EditSet) -> bool {
        let mut removals = edits.removals();
        let is_moved = !edits.only_removes();
        removals.any(|part| {
            !(is_moved && self.moves_failing) && self.holds_any(part, &self.failing)
                || !is_moved && self.holds_any(part, &self.decisive)
        })
    }

    /// Allows that failing statements are moved from here on. Says whether they were not before.
    pub(super) fn move_failing(&mut self) -> bool {
        !std::mem::replace(&mut self.moves_failing, true)
    }

    /// Whether a part is, or holds, one of some statements.
    fn holds_any(&self, part: ItemId, statements: &BTreeSet<ItemId>) -> bool {
        let part = self.program.item(part);
        let mut statements = statements.iter();
        statements.any(|&statement| part.contains_range(self.program.item(statement)))
    }

    /// Like [`Base::attempt`], but goes by what other candidates would most likely show. An
    /// attribute that a removal leaves without a definition is removed wherever it is read, and
    /// candidates are pruned that remove a failing or decisive statement, themselves or with what
    /// depends on their names. The final sweep tries everything as it is proposed.
    pub(super) fn attempt_sparing(&self, edits: &EditSet) -> Attempt {
        let wider = edits
            .only_removes()
            .then(|| self.readers.removed_with(&self.program, edits));
        let edits = wider.as_ref().unwrap_or(edits);
        if self.removes_vital(edits) {
            return Attempt::Pruned;
        }
        let drags_decisive = |candidate: &Candidate| {
            let mut removals = candidate.edits.removals();
            removals.any(|part| {
                !edits.removals().any(|own| own == part) && self.holds_any(part, &self.decisive)
            })
        };
        match self.attempt(edits) {
            Attempt::Candidate(candidate)
                if self.removes_vital(&candidate.edits) || drags_decisive(&candidate) =>
            {
                Attempt::Pruned
            }
            attempt => attempt,
        }
    }

    /// Makes a candidate of edits. One that would leave names unbound is tried without everything
    /// that depends on these names, unless that includes a statement known to be needed.
    ///
    /// A `NameError` is the most frequent end of a careless candidate, and the scopes predict it
    /// without a run. So most candidates that would be rejected cost no run, and the wider removal
    /// often gains more than the proposed one.
    pub(super) fn attempt(&self, edits: &EditSet) -> Attempt {
        let program = match self.build(edits) {
            Ok(program) => program,
            Err(Unfit::Broken) => return Attempt::Broken,
            Err(Unfit::NoGain) => return Attempt::Pruned,
        };
        if self.binds_its_names(&program) {
            return self.candidate(program, edits.clone());
        }
        let Some(wider) = with_dependents(&self.program, edits) else {
            return Attempt::Pruned;
        };
        let drags_needed = wider
            .removals()
            .filter(|place| self.needed.contains(place))
            .any(|needed| !edits.removals().any(|own| own == needed));
        if drags_needed {
            return Attempt::Pruned;
        }
        match self.build(&wider) {
            Ok(program) if self.binds_its_names(&program) => self.candidate(program, wider),
            _ => Attempt::Pruned,
        }
    }

    /// The program itself as a candidate, if its encoding has all its characters.
    pub(super) fn itself(&self) -> Option<Candidate> {
        Some(Candidate {
            key: self.key,
            bytes: self.program.encode()?.into(),
            program: Arc::clone(&self.program),
            edits: EditSet::default(),
            variables: Arc::default(),
        })
    }

    /// The program that edits make. Only a cheaper one counts: that is why the search ends.
    fn build(&self, edits: &EditSet) -> Result<Program, Unfit> {
        let text = edits.apply(&self.program).map_err(|_| Unfit::Broken)?;
        let program = self.program.sibling(text).map_err(|_| Unfit::Broken)?;
        if Cost::of(&program) < self.cost {
            Ok(program)
        } else {
            Err(Unfit::NoGain)
        }
    }

    /// Whether a program leaves no name unbound that is bound here, not even one that then is a
    /// builtin.
    fn binds_its_names(&self, program: &Program) -> bool {
        let [own, scopes] = [self.program.scopes(), program.scopes()];
        let is_builtin = |name: &str| own.builtins.contains(name) || !own.binds(name);
        self.unbound_names
            || scopes.builtins.iter().all(|name| is_builtin(name))
                && scopes
                    .unbound
                    .iter()
                    .all(|load| self.unbound.contains(load.name.as_str()))
    }

    fn candidate(&self, program: Program, edits: EditSet) -> Attempt {
        // An empty program shows no bug, and CPython's compiler refuses a `return` or `await` in
        // the wrong place that the parser accepts.
        let is_hopeless = program.body().is_empty()
            || !self.program.keeps_encoding(program.text())
            || (program.scopes().misplaced.is_some() && self.program.scopes().misplaced.is_none());
        match program.encode() {
            Some(bytes) if !is_hopeless => Attempt::Candidate(Box::new(Candidate {
                key: Key::of(&bytes),
                bytes: bytes.into(),
                program: Arc::new(program),
                edits,
                variables: Arc::default(),
            })),
            _ => Attempt::Pruned,
        }
    }

    /// A hash of the effect of a proposal and of the tokens around it, but not of its position: a
    /// rejected proposal is recognized after lines above it are removed.
    pub(super) fn fingerprint(&self, proposal: &Proposal, edits: &[Edit]) -> u64 {
        let mut hasher = DefaultHasher::new();
        proposal.pass.hash(&mut hasher);
        let tokens = self.program.tokens();
        for edit in edits {
            let first = tokens.partition_point(|token| token.range().end() <= edit.range.start());
            // Tokens without width, such as line ends, may stand on both sides.
            let end = tokens
                .partition_point(|token| token.range().start() < edit.range.end())
                .max(first);
            for token in &tokens[first.saturating_sub(CONTEXT)..(end + CONTEXT).min(tokens.len())] {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of a function with one statement and a call of it.
    fn base() -> (Base, ItemId, ItemId) {
        let program = Arc::new(Program::parse("def f():\n    check()\nf()\ng()\n").unwrap());
        let inner = ItemId { row: 1, item: 0 };
        assert_eq!(program.slice(program.item(inner)), "check()");
        let base = Base::new(program, true);
        (base, inner, ItemId { row: 0, item: 0 })
    }

    #[test]
    fn nothing_that_holds_a_decisive_statement_is_removed() {
        let (mut base, inner, function) = base();
        assert!(!base.removes_vital(&EditSet::removal(function)));
        base.note_needed(&EditSet::removal(inner), &Verdict::Passed);
        assert!(base.removes_vital(&EditSet::removal(function)));
        assert!(matches!(
            base.attempt_sparing(&EditSet::removal(function)),
            Attempt::Pruned
        ));
        let other = EditSet::removal(ItemId { row: 0, item: 2 });
        assert!(matches!(
            base.attempt_sparing(&other),
            Attempt::Candidate(_)
        ));
    }

    #[test]
    fn a_name_does_not_become_a_builtin() {
        let text = "def f(input):\n    return input\nf(len)\n";
        let base = Base::new(Arc::new(Program::parse(text).unwrap()), false);
        let binds = |text: &str| base.binds_its_names(&Program::parse(text).unwrap());
        assert!(!binds("def f(): return input\nf()\n"));
        assert!(binds("f = len\nf(range)\n") && !binds("f = g\n"));
    }

    #[test]
    fn what_was_missed_by_others_is_not_decisive() {
        let (mut base, inner, function) = base();
        base.note_needed(&EditSet::removal(inner), &Verdict::TimedOut(1));
        assert!(!base.removes_vital(&EditSet::removal(function)));
    }

    #[test]
    fn failing_statements_are_moved_late() {
        let (mut base, inner, function) = base();
        base.note_failing(BTreeSet::from([inner]));
        let mut moved = EditSet::removal(function);
        let at = base.program.item(ItemId { row: 0, item: 1 });
        moved.edit(Edit::replace(at, "check()"));
        assert!(base.removes_vital(&moved));
        assert!(base.move_failing() && !base.move_failing());
        assert!(!base.removes_vital(&moved) && base.removes_vital(&EditSet::removal(function)));
    }
}
