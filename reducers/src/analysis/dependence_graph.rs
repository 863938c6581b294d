//! The dependence graph of a traced program: which executed statements define a name or an
//! attribute, use it, or change its value, and which give a function's result. Names are resolved
//! by scopes, attributes by name alone. Slices and the dependence check walk the graph and decide
//! what to follow and how far. Proposes nothing.

use std::collections::HashMap;

use crate::{
    analysis::{
        assignments::is_empty,
        statement_tree::{Change, StatementTree},
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange, TextSize,
        scope::{Binding, BindingKind, ScopeKind, Variable},
    },
};

/// The edges between the statements of a program.
pub(crate) struct DependenceGraph<'o, 'a> {
    pub(crate) tree: &'o StatementTree<'a>,
    /// The statements of classes that bind a name, by that name.
    members: HashMap<&'a str, Vec<Definition>>,
}

/// A statement that binds a name, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) kind: BindingKind,
    pub(crate) statement: usize,
    pub(crate) range: TextRange,
}

impl<'o, 'a> DependenceGraph<'o, 'a> {
    pub(crate) fn of(tree: &'o StatementTree<'a>) -> Self {
        let mut graph = Self {
            tree,
            members: HashMap::new(),
        };
        for (index, variable) in graph.variables().iter().enumerate() {
            if variable.scope == ScopeKind::Class {
                let definitions: Vec<Definition> = graph.definitions(index).collect();
                let members = graph.members.entry(variable.name.as_str()).or_default();
                members.extend(definitions);
            }
        }
        graph
    }

    pub(crate) fn variables(&self) -> &'a [Variable] {
        &self.tree.program.scopes().variables
    }

    /// The variable that is bound by the name at an offset.
    pub(crate) fn variable_at(&self, name: TextSize) -> Option<usize> {
        self.tree.program.scopes().position_of(name)
    }

    /// The statement of a range, if it was executed.
    pub(crate) fn executed(&self, range: TextRange) -> Option<usize> {
        let found = self.tree.at(range);
        found.filter(|&statement| self.tree.statements[statement].is_executed)
    }

    /// The executed statements that bind a variable.
    pub(crate) fn definitions(&self, variable: usize) -> impl Iterator<Item = Definition> + '_ {
        let bindings = self.variables()[variable].bindings.iter();
        bindings.filter_map(|binding| {
            Some(Definition {
                kind: binding.kind,
                statement: self.executed(binding.statement)?,
                range: binding.range,
            })
        })
    }

    /// Whether a statement assigns a variable something that nobody reads, since a later statement of
    /// the same block assigns it something else.
    pub(crate) fn is_overwritten(&self, variable: &Variable, binding: &Binding) -> bool {
        let tree = self.tree;
        let assigning = |binding: &Binding| {
            let at = self.executed(binding.statement)?;
            let target = tree.statements[at].target()?;
            (target.is_name_expr() && tree.statements[at].value().is_some()).then_some(at)
        };
        let Some(at) = assigning(binding) else {
            return false;
        };
        let block = tree.statements[at].place.row;
        let all = variable.bindings.iter().filter_map(assigning);
        let later = all.filter(|&other| other > at && tree.statements[other].place.row == block);
        let Some(next) = later.min() else {
            return false;
        };
        // What may leave in between, or handles that, may read it.
        let is_straight = (at..next).all(|between| tree.statements[between].children.is_empty())
            && !tree
                .ancestors(at)
                .any(|around| tree.statements[around].node.is_stmt_try());
        let between = tree.statements[at].range.cover(tree.statements[next].range);
        is_straight
            && variable.uses.iter().all(|used| {
                let reader = tree.at(used.statement);
                let is_here =
                    reader.is_some_and(|reader| tree.function_of(reader) == tree.function_of(at));
                is_here && !between.contains_range(used.range)
            })
    }

    /// The executed statements that use a variable, and where.
    pub(crate) fn uses(&self, variable: usize) -> impl Iterator<Item = (usize, TextRange)> + '_ {
        let uses = self.variables()[variable].uses.iter();
        uses.filter_map(|used| Some((self.executed(used.statement)?, used.range)))
    }

    /// The executed statements that use a function's name, outside the function.
    pub(crate) fn uses_of_function(&self, function: usize) -> Vec<usize> {
        let def = self.tree.statements[function].range;
        let own = self.tree.program.scopes().bound_by(def).iter();
        own.flat_map(|&index| self.uses(index))
            .filter(|(_, range)| !def.contains_range(*range))
            .map(|(statement, _)| statement)
            .collect()
    }

    /// The executed statements that change the value of a variable, or the elements that a loop
    /// over it finds.
    pub(crate) fn changes(&self, variable: usize) -> Vec<usize> {
        let variables = self.variables();
        let mut found = Vec::new();
        // An element that a loop takes out of a container is a part of it, so its changes are the
        // container's.
        let mut all = vec![variable];
        let mut at = 0;
        while let Some(&variable) = all.get(at) {
            at += 1;
            for (statement, range) in self.uses(variable) {
                let node = self.tree.statements[statement].node;
                if Change::of(self.tree.program, node, range).is_some() {
                    found.push(statement);
                }
                if let AnyNodeRef::StmtFor(stmt) = node
                    && stmt.iter.range().contains_range(range)
                {
                    let target = stmt.target.range();
                    let is_target = |variable: &Variable| {
                        let mut bindings = variable.bindings.iter();
                        bindings.any(|binding| target.contains_range(binding.range))
                    };
                    let parts = (0..variables.len()).filter(|&part| is_target(&variables[part]));
                    let new: Vec<usize> = parts.filter(|part| !all.contains(part)).collect();
                    all.extend(new);
                }
            }
        }
        found
    }

    /// The statements that change the value of a variable in place, executed or not.
    fn in_place(&self, variable: usize) -> impl Iterator<Item = usize> + '_ {
        let uses = self.variables()[variable].uses.iter();
        uses.filter_map(|used| {
            let statement = self.tree.at(used.statement)?;
            let node = self.tree.statements[statement].node;
            let change = Change::of(self.tree.program, node, used.range);
            (change == Some(Change::InPlace)).then_some(statement)
        })
    }

    /// The executed statements that change the value of a variable in place.
    pub(crate) fn changes_in_place(&self, variable: usize) -> impl Iterator<Item = usize> + '_ {
        let changes = self.in_place(variable);
        changes.filter(|&statement| self.tree.statements[statement].is_executed)
    }

    /// The statements that would bind a variable, or change its value in place, but were not
    /// executed.
    pub(crate) fn missed(&self, variable: usize) -> impl Iterator<Item = usize> + '_ {
        let bindings = self.variables()[variable].bindings.iter();
        // What a module does is no change of it.
        let mut bound = bindings.clone();
        let is_value = bound.all(|binding| binding.kind != BindingKind::Import);
        let binding = bindings.filter_map(|binding| self.tree.at(binding.statement));
        let changes = self.in_place(variable).filter(move |_| is_value);
        self.unexecuted_of(binding.chain(changes))
    }

    /// Whether a variable is made empty, and nothing was put in, though the program has code for it.
    pub(crate) fn is_unfilled(&self, variable: usize) -> bool {
        let bindings = self.variables()[variable].bindings.iter();
        let made = bindings.filter_map(|binding| self.executed(binding.statement));
        self.is_unfilled_by(made, self.in_place(variable))
    }

    /// Whether an attribute is made so.
    pub(crate) fn is_unfilled_attribute(&self, attribute: &str) -> bool {
        let changes = self.tree.changes.get(attribute).into_iter().flatten();
        let in_place = changes.filter(|(_, change)| *change == Change::InPlace);
        let in_place = in_place.map(|(statement, _)| *statement);
        self.is_unfilled_by(self.stores(attribute), in_place)
    }

    /// Whether some statements make a value empty, and others would put something in, but were not
    /// executed, as far as a trace shows.
    fn is_unfilled_by(
        &self,
        made: impl Iterator<Item = usize>,
        filling: impl Iterator<Item = usize>,
    ) -> bool {
        let mut made = made.peekable();
        let mut filling = filling.peekable();
        let is_executed = |at: usize| self.tree.statements[at].is_executed;
        made.peek().is_some()
            && made.all(|at| self.tree.statements[at].value().is_some_and(is_empty))
            && filling.peek().is_some()
            && !(self.tree.is_traced && filling.any(is_executed))
    }

    /// The statements that would assign an attribute, or change its value in place, but were not
    /// executed.
    pub(crate) fn missed_of_attribute(
        &self,
        attribute: &str,
    ) -> impl Iterator<Item = usize> + use<'_> {
        let stores = self.tree.stores.get(attribute).into_iter().flatten();
        let changes = self.tree.changes.get(attribute).into_iter().flatten();
        let in_place = changes.filter(|(_, change)| *change == Change::InPlace);
        let in_place = in_place.map(|(statement, _)| statement);
        self.unexecuted_of(stores.chain(in_place).copied())
    }

    /// The executed statements of classes that bind an attribute's name.
    pub(crate) fn members(&self, attribute: &str) -> &[Definition] {
        self.members.get(attribute).map_or(&[], Vec::as_slice)
    }

    /// The executed statements that assign an attribute, or store it by its name in a text.
    pub(crate) fn stores(&self, attribute: &str) -> impl Iterator<Item = usize> + '_ {
        let stores = self.tree.stores.get(attribute).into_iter().flatten();
        self.executed_of(stores)
    }

    /// The executed statements that may change the values of attributes of a name.
    pub(crate) fn attribute_changes(&self, attribute: &str) -> impl Iterator<Item = usize> + '_ {
        let changes = self.tree.changes.get(attribute).into_iter().flatten();
        self.executed_of(changes.map(|(statement, _)| statement))
    }

    /// The executed statements that change the value of an attribute in place.
    pub(crate) fn attribute_changes_in_place(
        &self,
        attribute: &str,
    ) -> impl Iterator<Item = usize> {
        let changes = self.tree.changes.get(attribute).into_iter().flatten();
        let in_place = changes.filter(|(_, change)| *change == Change::InPlace);
        self.executed_of(in_place.map(|(statement, _)| statement))
    }

    fn executed_of<'s>(
        &'s self,
        statements: impl Iterator<Item = &'s usize>,
    ) -> impl Iterator<Item = usize> {
        statements
            .copied()
            .filter(|&statement| self.tree.statements[statement].is_executed)
    }

    fn unexecuted_of(
        &self,
        statements: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        statements.filter(|&statement| !self.tree.statements[statement].is_executed)
    }

    /// The executed statements of a function's own body, those of functions in it excluded.
    pub(crate) fn body(&self, function: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.within(function).filter(move |&statement| {
            self.tree.statements[statement].is_executed
                && self.tree.function_of(statement) == Some(function)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{syntax::Program, testing::evidence};

    #[test]
    fn what_loops_change_in_a_variable_is_a_change_of_it() {
        let text = "\
boxes = read()
for number, box in enumerate(boxes):
    print(box)
    box.mark = number
    for side in box.sides:
        side.clear()
    for other in others:
        other.clear()
";
        let program = Program::parse(text).unwrap();
        let evidence = evidence(text);
        let outline = StatementTree::of(&program, &evidence);
        let graph = DependenceGraph::of(&outline);
        let boxes = program
            .scopes()
            .variables
            .iter()
            .position(|variable| variable.name == "boxes")
            .unwrap();
        let text = |statement: usize| program.slice(outline.statements[statement].range);
        let found: Vec<&str> = graph.changes(boxes).into_iter().map(text).collect();
        assert_eq!(found, ["box.mark = number", "side.clear()"]);
    }

    #[test]
    fn what_is_assigned_again_unread_is_overwritten() {
        let is_overwritten = |text: &str| {
            let program = Program::parse(text).unwrap();
            let tree = StatementTree::untraced(&program);
            let graph = DependenceGraph::of(&tree);
            let x = graph
                .variables()
                .iter()
                .find(|variable| variable.name == "x")
                .unwrap();
            graph.is_overwritten(x, &x.bindings[0])
        };
        assert!(is_overwritten("x = f()\nx = g()\nh(x)\n"));
        for text in [
            "x = f()\nx = g(x)\n",
            "x = f()\nif y:\n    x = g()\nh(x)\n",
            "x = f()\ndef h():\n    return x\nx = g()\n",
            "x = f()\nx += g()\n",
            "try:\n    x = f()\n    x = g()\nexcept E:\n    h(x)\n",
        ] {
            assert!(!is_overwritten(text), "{text}");
        }
    }
}
