use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_graph::DependenceGraph, statement_tree::StatementTree, statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::EditSet,
    syntax::{
        rows::ItemId,
        scope::{BindingKind, ScopeKind, Variable},
    },
};

pass! {
    /// Removes functions, classes, imports, variables and attributes together with every statement
    /// that uses them.
    ///
    /// ```python before
    /// def log(text):
    ///     print(text)
    /// x = 1
    /// log(x)
    /// f(x)
    /// ```
    /// ```python after
    /// x = 1
    /// f(x)
    /// ```
    pub(crate) static DROP_DEFINITIONS = Pass { stage: Stage::Structure, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let whole: u32 = statements.extent(&module_statements(cx));
    let mut seen = BTreeSet::new();
    let variables = cx
        .program
        .scopes()
        .variables
        .iter()
        .rev()
        .filter_map(|variable| {
            Some((
                variable.name.as_str(),
                variable.uses.is_empty(),
                definitions(variable, &statements)?,
            ))
        });
    let attributes = statements.attributes();
    let attributes = attributes.iter().rev().map(|(name, attribute)| {
        let uses = attribute.uses.iter().map(|(place, _)| *place);
        (
            *name,
            attribute.uses.is_empty(),
            attribute.definitions.iter().copied().chain(uses).collect(),
        )
    });
    let tree = StatementTree::untraced(cx.program);
    let graph = DependenceGraph::of(&tree);
    for (name, is_unused, seeds) in variables.chain(attributes) {
        let removed = graph.with_dependents(seeds, &[]);
        // A removal of nearly everything tells no more than the removal of the rest would.
        if statements.extent(&removed) >= whole || !seen.insert(removed.clone()) {
            continue;
        }
        let mut edits = EditSet::default();
        for &statement in &removed {
            edits.remove(statement);
        }
        let uses = removed.len() - 1;
        let prior = match uses {
            0 if is_unused => Prior::Likely,
            0 | 1 => Prior::Even,
            _ => Prior::Unlikely,
        };
        let note = match uses {
            0 => format!("`{name}`"),
            _ => format!("`{name}` and {uses} statements that depend on it"),
        };
        out.propose(edits, prior, note);
    }
}

fn module_statements(cx: &PassContext<'_>) -> BTreeSet<ItemId> {
    let count = cx.program.rows().first().map_or(0, |row| row.items.len());
    (0..count as u32)
        .map(|item| ItemId { row: 0, item })
        .collect()
}

/// The statements that bind a variable; none if it is a parameter or belongs to a comprehension.
fn definitions(variable: &Variable, statements: &Statements<'_>) -> Option<Vec<ItemId>> {
    if variable.scope == ScopeKind::Comprehension {
        return None;
    }
    let removable = variable
        .bindings
        .iter()
        .all(|binding| binding.kind != BindingKind::Parameter);
    removable
        .then(|| {
            variable
                .bindings
                .iter()
                .filter_map(|binding| statements.place(binding.statement))
                .collect()
        })
        .filter(|seeds: &Vec<_>| !seeds.is_empty())
}

#[cfg(test)]
mod tests {
    use super::DROP_DEFINITIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn a_definition_takes_its_uses_along() {
        check_edits(
            &DROP_DEFINITIONS,
            "import a\ndef f():\n    a.b()\n    return 1\nx = f()\ny = 2\n",
            &[
                "import a\ndef f():\n    a.b()\n    return 1\nx = f()\n",
                "import a\ndef f():\n    a.b()\n    return 1\ny = 2\n",
                "import a\ny = 2\n",
                "def f():\n    return 1\nx = f()\ny = 2\n",
            ],
        );
    }

    #[test]
    fn parameters_are_not_definitions() {
        check_none(&DROP_DEFINITIONS, "print(lambda x: x)\n");
    }
}
