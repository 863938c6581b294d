//! The dependents of a statement: everything that would use a name that nothing binds any more.
//! Called by passes that remove definitions, and by the engine, which offers a pruned candidate
//! once more together with all dependents of its removals.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_graph::DependenceGraph,
        statement_tree::StatementTree,
        statements::{Attribute, Statements},
    },
    rewrite::edit::EditSet,
    syntax::{
        Program, TextRange,
        rows::ItemId,
        scope::{BindingKind, ScopeKind},
    },
};

impl DependenceGraph<'_, '_> {
    /// Some statements, all statements that use a name that only these bind, and so on. Names bound
    /// within `deleted` ranges are lost anyway.
    pub(crate) fn with_dependents(
        &self,
        seeds: impl IntoIterator<Item = ItemId>,
        deleted: &[TextRange],
    ) -> BTreeSet<ItemId> {
        let range = |place: &ItemId| self.tree.program.item(*place);
        let mut removed: BTreeSet<ItemId> = seeds.into_iter().collect();
        let mut ranges: Vec<TextRange> = removed.iter().map(range).collect();
        ranges.extend_from_slice(deleted);
        loop {
            let before = removed.len();
            for variable in 0..self.variables().len() {
                let is_left = |at: &TextRange| !ranges.iter().any(|lost| lost.contains_range(*at));
                let strong: Vec<TextRange> = self
                    .definitions(variable)
                    .filter(|definition| definition.kind != BindingKind::Weak)
                    .map(|definition| definition.range)
                    .collect();
                if strong.is_empty() || strong.iter().any(is_left) {
                    continue;
                }
                let definitions = self.definitions(variable);
                let definitions =
                    definitions.map(|definition| (definition.statement, definition.range));
                let dependents: Vec<usize> = self
                    .uses(variable)
                    .chain(definitions)
                    .filter(|(_, range)| is_left(range))
                    .map(|(statement, _)| statement)
                    .collect();
                for statement in dependents {
                    let statement = &self.tree.statements[statement];
                    if removed.insert(statement.place) {
                        ranges.push(statement.range);
                    }
                }
            }
            if removed.len() == before {
                return removed;
            }
        }
    }
}

/// An edit set that also removes everything that depends on its deletions; `None` if nothing does.
pub fn with_dependents(program: &Program, edits: &EditSet) -> Option<EditSet> {
    let deleted: Vec<TextRange> = edits
        .resolve(program)
        .ok()?
        .iter()
        .map(|edit| edit.range)
        .collect();
    let removals: BTreeSet<ItemId> = edits
        .removals()
        .filter(|place| program.row(*place).kind.is_suite())
        .collect();
    let tree = StatementTree::untraced(program);
    let closed = DependenceGraph::of(&tree).with_dependents(removals.iter().copied(), &deleted);
    if closed == removals {
        return None;
    }
    let mut wider = edits.clone();
    for place in closed {
        wider.remove(place);
    }
    Some(wider)
}

/// The attributes that a program itself defines, and the statements that read them.
#[derive(Clone, Debug, Default)]
pub struct Readers(Vec<Attribute>);

impl Readers {
    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        Self(Statements::of(program).attributes().into_values().collect())
    }

    /// A removal with the statements that read attributes which nothing defines without it. That is
    /// a guess: an attribute of the same name may be a library's.
    #[must_use]
    pub fn removed_with(&self, program: &Program, removal: &EditSet) -> EditSet {
        let mut wider = removal.clone();
        loop {
            let before = wider.clone();
            let ranges: Vec<TextRange> = before.removals().map(|item| program.item(item)).collect();
            let is_left =
                |range: TextRange| !ranges.iter().any(|removed| removed.contains_range(range));
            for attribute in &self.0 {
                let mut definitions = attribute.definitions.iter();
                if definitions.any(|&definition| is_left(program.item(definition))) {
                    continue;
                }
                let readers = attribute.uses.iter().filter(|(_, range)| is_left(*range));
                readers.for_each(|(statement, _)| wider.remove(*statement));
            }
            if wider == before {
                return wider;
            }
        }
    }
}

/// A text without the classes and functions that nothing in it uses; `None` if it is no program.
pub(crate) fn without_unused_definitions(program: &Program, mut text: String) -> Option<String> {
    loop {
        let program = program.sibling(text.as_str()).ok()?;
        let statements = Statements::of(&program);
        let mut edits = EditSet::default();
        for variable in &program.scopes().variables {
            let [binding] = variable.bindings.as_slice() else {
                continue;
            };
            let is_definition = variable.scope == ScopeKind::Module
                && matches!(binding.kind, BindingKind::Class | BindingKind::Function);
            // A function that only its own body uses is not used.
            let is_inside = |range: TextRange| binding.statement.contains_range(range);
            if is_definition
                && variable.uses.iter().all(|used| is_inside(used.range))
                && let Some(place) = statements.place(binding.statement)
            {
                edits.remove(place);
            }
        }
        if edits.is_empty() {
            return Some(text);
        }
        // Names that only these used are removed next.
        text = edits.apply(&program).ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{analysis::statements::Statements, syntax::TextSize};

    #[track_caller]
    fn check(text: &str, seed: &str, expected: &str) {
        let program = Program::parse(text).unwrap();
        let start = TextSize::new(text.find(seed).unwrap() as u32);
        let seed = Statements::of(&program)
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

    #[test]
    fn definitions_that_only_unused_ones_use_go_with_them() {
        let text = "def f(): return f()\ndef g(): return f()\nclass A: pass\nA()\n";
        let program = Program::parse(text).unwrap();
        let left = without_unused_definitions(&program, text.to_owned()).unwrap();
        assert_eq!(left, "class A: pass\nA()\n");
    }

    #[test]
    fn readers_go_with_an_attribute() {
        let text = "class A:\n    def f(self):\n        self.x = 1\n    def g(self): pass\na = A()\n\
                    print(a.x)\na.g()\n";
        let program = Program::parse(text).unwrap();
        let statements = Statements::of(&program);
        let at = |line: &str| {
            let start = text.find(line).unwrap();
            statements
                .place(TextRange::at(
                    (start as u32).into(),
                    (line.len() as u32).into(),
                ))
                .unwrap()
        };
        let readers = Readers::of(&program);
        let removed = |line: &str| {
            let wider = readers.removed_with(&program, &EditSet::removal(at(line)));
            wider.apply(&program).unwrap()
        };
        let print = "print(a.x)\n";
        assert_eq!(
            removed("self.x = 1"),
            text.replace("self.x = 1", "pass").replace(print, "")
        );
        assert!(!removed("def g(self): pass").contains("a.g()"));
        assert_eq!(removed("a.g()"), text.replace("a.g()\n", ""));
    }
}
