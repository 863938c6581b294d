//! Edits: what a proposal changes in a program's text. An [`EditSet`] holds plain replacements and
//! removals from rows ([`crate::syntax::rows`]); removals are laid out only when applied, so that
//! the union of two sets is exact: two arguments of the same call, or all statements of a suite,
//! can go together. Pure data; judges nothing. Called by passes and engine.

use std::collections::{BTreeMap, BTreeSet};

pub use crate::rewrite::splice::{Edit, splice};
use crate::{
    rewrite::removal::removal,
    syntax::{Program, TextRange, rows::ItemId},
};

/// A set of edits against one program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EditSet {
    pub(super) edits: BTreeSet<Edit>,
    pub(super) removals: BTreeSet<ItemId>,
}

/// Two edits that can not both be done, or a row that can not be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edits conflict at offset {at}")]
pub struct Conflict {
    /// Where, in bytes.
    pub at: u32,
}

impl EditSet {
    /// The set of one edit.
    pub fn one(edit: Edit) -> Self {
        Self {
            edits: BTreeSet::from([edit]),
            removals: BTreeSet::new(),
        }
    }

    /// The set of one removal.
    pub fn removal(item: ItemId) -> Self {
        Self {
            edits: BTreeSet::new(),
            removals: BTreeSet::from([item]),
        }
    }

    /// Adds an edit.
    pub fn edit(&mut self, edit: Edit) {
        self.edits.insert(edit);
    }

    /// Adds the removal of a thing from its row.
    pub fn remove(&mut self, item: ItemId) {
        self.removals.insert(item);
    }

    /// The removals, in order.
    pub fn removals(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.removals.iter().copied()
    }

    /// Whether it removes from rows and puts no other text anywhere.
    pub fn only_removes(&self) -> bool {
        self.edits.is_empty()
    }

    /// Whether nothing is edited.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.removals.is_empty()
    }

    /// Both sets together. Whether they can be done together shows when they are applied.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.extend(other);
        union
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Self) {
        self.edits.extend(other.edits.iter().cloned());
        self.removals.extend(other.removals.iter().copied());
    }

    /// The set as disjoint replacements, ascending. An edit within the range of another is subsumed
    /// by it.
    ///
    /// # Errors
    ///
    /// Two edits overlap without one holding the other, two replace the same range by different
    /// texts, or a row that needs at least one thing would be emptied.
    pub fn resolve(&self, program: &Program) -> Result<Vec<Edit>, Conflict> {
        let mut edits = self.edits.clone();
        let mut by_list: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for removal in &self.removals {
            by_list.entry(removal.row).or_default().push(removal.item);
        }
        for (index, gone) in by_list {
            let row = &program.rows()[index as usize];
            let conflict = Conflict {
                at: row.inner.start().into(),
            };
            edits.extend(removal(program, row, &gone).ok_or(conflict)?);
        }
        let mut disjoint: Vec<Edit> = Vec::with_capacity(edits.len());
        for edit in edits {
            let Some(last) = disjoint.last() else {
                disjoint.push(edit);
                continue;
            };
            if edit.range.start() >= last.range.end() && edit.range != last.range {
                disjoint.push(edit);
            } else if !last.range.contains_range(edit.range) || last.range == edit.range {
                return Err(Conflict {
                    at: edit.range.start().into(),
                });
            }
        }
        Ok(disjoint)
    }

    /// The program's text with the edits done.
    ///
    /// # Errors
    ///
    /// As [`EditSet::resolve`].
    pub fn apply(&self, program: &Program) -> Result<String, Conflict> {
        Ok(splice(program.text(), &self.resolve(program)?))
    }
}

/// A part of a program's text with those edits done that lie within it; `None` if they conflict.
pub(crate) fn rewritten(program: &Program, range: TextRange, edits: &[Edit]) -> Option<String> {
    let mut set = EditSet::default();
    for edit in edits.iter().filter(|edit| range.contains_range(edit.range)) {
        set.edit(edit.clone());
    }
    let mut inside = set.resolve(program).ok()?;
    for edit in &mut inside {
        edit.range -= range.start();
    }
    Some(splice(program.slice(range), &inside))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        Program::parse(text).unwrap()
    }

    /// Removes, from the row that holds the first, the things with these texts.
    pub(in crate::rewrite) fn removing(program: &Program, things: &[&str]) -> EditSet {
        let mut set = EditSet::default();
        for thing in things {
            let found = program
                .items()
                .find(|(_, _, range)| program.slice(*range) == *thing);
            let (id, ..) = found.unwrap_or_else(|| panic!("`{thing}` stands in no row"));
            set.remove(id);
        }
        set
    }

    #[track_caller]
    fn check(text: &str, things: &[&str], expected: &str) {
        let program = program(text);
        let result = removing(&program, things).apply(&program).unwrap();
        assert_eq!(result, expected);
        Program::parse(result).unwrap();
    }

    #[test]
    fn statements_go_with_their_lines() {
        check("a = 1\nb = 2  # two\nc = 3\n", &["b = 2"], "a = 1\nc = 3\n");
        check("if x:\n    a\n    b\n", &["a", "b"], "if x:\n    pass\n");
        check("if x:\r\n\ta\r\n\tb\r\n", &["a"], "if x:\r\n\tb\r\n");
        check("a\nb", &["b"], "a\n");
        check("a\n", &["a"], "");
        check(
            "@d\n# why\ndef f(): pass\nf()\n",
            &["@d\n# why\ndef f(): pass"],
            "f()\n",
        );
    }

    #[test]
    fn statements_that_share_a_line_leave_the_others() {
        check("a; b; c\n", &["a"], "b; c\n");
        check("a; b; c\n", &["b"], "a; c\n");
        check("a; b; c;\n", &["c"], "a; b;\n");
        check("a; b; c\n", &["b", "c"], "a\n");
        check("a; b;\nc\n", &["a", "b"], "c\n");
        check("if x: a; b\n", &["a"], "if x: b\n");
        check("if x: a; b\n", &["a", "b"], "if x: pass\n");
        check("if x: \\\n  a; b\n", &["b"], "if x: \\\n  a\n");
        check("a; \\\n b\n", &["a"], "b\n");
    }

    #[test]
    fn things_between_commas() {
        check("f(a, b, c)\n", &["a"], "f(b, c)\n");
        check("f(a, (b), c)\n", &["(b)"], "f(a, c)\n");
        check("f(a, b, c,)\n", &["b", "c"], "f(a,)\n");
        check("f(a, b)\n", &["a", "b"], "f()\n");
        check(
            "f(lambda p, q: (p), *r, k=1, **s)\n",
            &["lambda p, q: (p)", "**s"],
            "f(*r, k=1)\n",
        );
        check(
            "x = [\n    1,  # one\n    2,\n]\n",
            &["1"],
            "x = [\n    2,\n]\n",
        );
        check(
            "x = {**a, 'k': (1), 'l': 2}\n",
            &["**a", "'l': 2"],
            "x = {'k': (1)}\n",
        );
        check("from m import (a, b,)\n", &["b"], "from m import (a,)\n");
        check("import a, b as c\n", &["b as c"], "import a\n");
    }

    #[test]
    fn markers_among_parameters_stay() {
        check(
            "def f(a, b, /, c=1, *, d, e): pass\n",
            &["b", "d"],
            "def f(a, /, c=1, *, e): pass\n",
        );
        check(
            "def f(a, b, /, c=1, *, d, e): pass\n",
            &["a", "b", "c=1"],
            "def f(*, d, e): pass\n",
        );
        check(
            "def f(a, b, /, c=1, *, d, e): pass\n",
            &["d", "e"],
            "def f(a, b, /, c=1): pass\n",
        );
        check(
            "def f(a=1, b=2, *, c, d): pass\n",
            &["b=2", "c"],
            "def f(a=1, *, d): pass\n",
        );
        check("lambda *, d, **e: 0\n", &["*, d"], "lambda **e: 0\n");
    }

    #[test]
    fn a_tuple_of_one_keeps_its_comma() {
        check("(a, b)\n", &["a"], "(b,)\n");
        check("(a, b)\n", &["b"], "(a,)\n");
        check("(a, b, )\n", &["b"], "(a, )\n");
        check("x = a, b, c\n", &["a", "c"], "x = b,\n");
        check("x = a, b,\n", &["a", "b"], "x = ()\n");
        check("(a, b)\n", &["a", "b"], "()\n");
    }

    #[test]
    fn a_row_that_needs_one_refuses() {
        let program = program("from m import a, b\n");
        assert!(removing(&program, &["a", "b"]).apply(&program).is_err());
    }

    #[test]
    fn the_outer_edit_subsumes_the_inner() {
        let program = program("if x:\n    f(a, b)\n    c\nd\n");
        let set = removing(&program, &["a", "f(a, b)", "if x:\n    f(a, b)\n    c"]);
        assert_eq!(set.apply(&program).unwrap(), "d\n");
    }

    #[test]
    fn overlapping_edits_conflict() {
        let program = program("abc + d\n");
        let range = |from: u32, to: u32| TextRange::new(from.into(), to.into());
        let mut set = EditSet::one(Edit::replace(range(0, 3), "x"));
        assert!(
            set.union(&EditSet::one(Edit::delete(range(2, 5))))
                .apply(&program)
                .is_err()
        );
        assert!(
            set.union(&EditSet::one(Edit::replace(range(0, 3), "y")))
                .apply(&program)
                .is_err()
        );
        set.edit(Edit::replace(range(6, 7), "e"));
        assert_eq!(set.apply(&program).unwrap(), "x + e\n");
    }
}
