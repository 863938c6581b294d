//! What hangs on a statement: everything that would use a name nothing binds any more. Called by
//! passes that remove definitions and by the engine, which offers a pruned candidate once more with
//! all that hangs on it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::ExprContext,
        rows::ItemId,
        scope::{BindingKind, ScopeKind},
    },
};

/// Statements of a program by their range.
pub struct Statements<'a> {
    program: &'a Program,
    by_range: BTreeMap<(TextSize, TextSize), ItemId>,
}

/// An attribute that the program itself defines: by the members of its classes of that name, and by
/// assignments.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    /// The statements that define it.
    pub definitions: Vec<ItemId>,
    /// The statements that read it, and where.
    pub uses: Vec<(ItemId, TextRange)>,
}

impl<'a> Statements<'a> {
    /// All statements of a program.
    pub fn of(program: &'a Program) -> Self {
        let mut by_range = BTreeMap::new();
        for (id, row, range) in program.items() {
            if row.kind.is_suite() {
                by_range.insert((range.start(), range.end()), id);
            }
        }
        Self { program, by_range }
    }

    /// The place of a statement.
    pub fn place(&self, statement: TextRange) -> Option<ItemId> {
        self.by_range
            .get(&(statement.start(), statement.end()))
            .copied()
    }

    /// The statement that stands after another, in the same suite.
    pub fn next(&self, place: ItemId) -> Option<TextRange> {
        self.program.rows()[place.row as usize]
            .items
            .get(place.item as usize + 1)
            .copied()
    }

    /// The attributes that the program defines, by name; those with a meaning to the interpreter
    /// are left out.
    pub fn attributes(&self) -> BTreeMap<&'a str, Attribute> {
        let mut found: BTreeMap<&str, Attribute> = BTreeMap::new();
        let is_special = |name: &str| name.starts_with("__") && name.ends_with("__");
        for variable in &self.program.scopes().variables {
            if variable.scope == ScopeKind::Class && !is_special(&variable.name) {
                let definitions = variable
                    .bindings
                    .iter()
                    .filter_map(|binding| self.place(binding.statement));
                found
                    .entry(&variable.name)
                    .or_default()
                    .definitions
                    .extend(definitions);
            }
        }
        let tree = self.program.tree();
        let mut loads = Vec::new();
        for (index, node) in tree.nodes.iter().enumerate() {
            let AnyNodeRef::ExprAttribute(it) = node.node else {
                continue;
            };
            let around = tree
                .ancestors(index as u32)
                .find(|statement| statement.is_statement());
            let Some(place) = around.and_then(|statement| self.place(statement.range())) else {
                continue;
            };
            if it.ctx == ExprContext::Load {
                loads.push((it.attr.as_str(), place, it.range));
            } else if !is_special(&it.attr) {
                found
                    .entry(it.attr.as_str())
                    .or_default()
                    .definitions
                    .push(place);
            }
        }
        for (name, place, range) in loads {
            if let Some(attribute) = found.get_mut(name) {
                attribute.uses.push((place, range));
            }
        }
        found.retain(|_, attribute| !attribute.definitions.is_empty());
        found
    }

    /// The text of a statement.
    pub fn range(&self, place: ItemId) -> TextRange {
        self.program.rows()[place.row as usize].items[place.item as usize]
    }

    /// The removal of some statements and of all statements that use a name which only these bind,
    /// and so on.
    ///
    /// `gone` are ranges that go by other means.
    pub fn removing(
        &self,
        seeds: impl IntoIterator<Item = ItemId>,
        gone: &[TextRange],
    ) -> BTreeSet<ItemId> {
        let mut removed: BTreeSet<ItemId> = seeds.into_iter().collect();
        let mut ranges: Vec<TextRange> = removed.iter().map(|&place| self.range(place)).collect();
        ranges.extend_from_slice(gone);
        loop {
            let mut grown = false;
            for variable in &self.program.scopes().variables {
                let is_gone = |range: TextRange| {
                    ranges
                        .iter()
                        .any(|removed_range| removed_range.contains_range(range))
                };
                let mut strong = variable
                    .bindings
                    .iter()
                    .filter(|binding| binding.kind != BindingKind::Weak)
                    .peekable();
                if strong.peek().is_none() || !strong.all(|binding| is_gone(binding.range)) {
                    continue;
                }
                let hanging: Vec<TextRange> = variable
                    .uses
                    .iter()
                    .filter(|used| !is_gone(used.range))
                    .map(|used| used.statement)
                    .chain(
                        variable
                            .bindings
                            .iter()
                            .filter(|binding| !is_gone(binding.range))
                            .map(|binding| binding.statement),
                    )
                    .collect();
                for statement in hanging {
                    if let Some(place) = self.place(statement)
                        && removed.insert(place)
                    {
                        ranges.push(statement);
                        grown = true;
                    }
                }
            }
            if !grown {
                return removed;
            }
        }
    }

    /// How much of the program's text some statements are, in bytes, nested ones counted once.
    pub fn extent(&self, places: &BTreeSet<ItemId>) -> u32 {
        let mut ranges: Vec<TextRange> = places.iter().map(|&place| self.range(place)).collect();
        ranges.sort_unstable_by_key(|range| (range.start(), std::cmp::Reverse(range.end())));
        let (mut total, mut end) = (0, TextSize::new(0));
        for range in ranges {
            if range.end() > end {
                total += u32::from(range.end()) - u32::from(range.start().max(end));
                end = range.end();
            }
        }
        total
    }
}

/// An edit set with the removal of all that hangs on what it deletes; `None` if nothing does.
pub fn with_dependents(program: &Program, edits: &EditSet) -> Option<EditSet> {
    let statements = Statements::of(program);
    let deleted: Vec<TextRange> = edits
        .resolve(program)
        .ok()?
        .iter()
        .map(|edit| edit.range)
        .collect();
    let removals: BTreeSet<ItemId> = edits
        .removals()
        .filter(|place| program.rows()[place.row as usize].kind.is_suite())
        .collect();
    let closed = statements.removing(removals.iter().copied(), &deleted);
    if closed == removals {
        return None;
    }
    let mut wider = edits.clone();
    for place in closed {
        wider.remove(place);
    }
    Some(wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seed: &str, expected: &str) {
        let program = Program::parse(text).unwrap();
        let statements = Statements::of(&program);
        let start = TextSize::new(text.find(seed).unwrap() as u32);
        let seed = statements
            .place(TextRange::at(start, TextSize::of(seed)))
            .unwrap();
        let edits = EditSet::removal(seed);
        let wider = with_dependents(&program, &edits).unwrap_or(edits);
        assert_eq!(wider.apply(&program).unwrap(), expected);
    }

    #[test]
    fn uses_go_with_the_definition() {
        check(
            "import a\nx = a.b()\ny = x + 1\nprint(2)\nprint(y)\n",
            "import a",
            "print(2)\n",
        );
        check(
            "def f(): pass\ndef g():\n    f()\n    return 1\ng()\n",
            "def f(): pass",
            "def g():\n    return 1\ng()\n",
        );
        check("x = 1\nx += 1\nz = 2\n", "x = 1", "z = 2\n");
    }

    #[test]
    fn a_name_with_another_binding_keeps_its_uses() {
        check(
            "x = 1\nif y: x = 2\nprint(x)\n",
            "x = 1",
            "if y: x = 2\nprint(x)\n",
        );
    }

    #[test]
    fn nothing_else_goes() {
        check("x = 1\nprint(2)\n", "x = 1", "print(2)\n");
    }
}
