use std::collections::BTreeMap;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::parentheses,
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, StmtAssign},
        rows::ItemId,
        scope::Variable,
    },
};

pass! {
    /// Replaces a variable with its value.
    ///
    /// A variable qualifies if it is bound once, and is used once or bound to a plain name or
    /// literal. It also qualifies if only the next statement uses its value before it is bound
    /// again.
    ///
    /// ```python before
    /// x = g(1)
    /// f(x)
    /// ```
    /// ```python after
    /// f(g(1))
    /// ```
    pub(crate) static INLINE_VARIABLES = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    let mut assignments: BTreeMap<TextSize, &StmtAssign> = BTreeMap::new();
    let mut strings: Vec<TextRange> = Vec::new();
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtAssign(assign) => {
                if let [Expr::Name(name)] = assign.targets.as_slice() {
                    assignments.insert(name.start(), assign);
                }
            }
            AnyNodeRef::ExprFString(it) => strings.push(it.range),
            AnyNodeRef::ExprTString(it) => strings.push(it.range),
            _ => {}
        }
    }
    for variable in cx.program.scopes().variables.iter().rev() {
        let [binding] = variable.bindings.as_slice() else {
            for binding in variable.bindings.iter().rev() {
                let Some(assign) = assignments.get(&binding.range.start()) else {
                    continue;
                };
                let found = passed_on(&statements, tree, variable, assign);
                let Some((place, used)) = found.filter(|(_, used)| !is_within(&strings, *used))
                else {
                    continue;
                };
                let value = cx.program.slice(assign.value.range());
                let (open, close) = parentheses(cx.program, &assign.value, used);
                let mut edits = EditSet::removal(place);
                edits.edit(Edit::replace(used, format!("{open}{value}{close}")));
                if cx.scales.lightens(&edits) {
                    out.propose(
                        edits,
                        Prior::Even,
                        format!("`{}` replaced with its value", variable.name),
                    );
                }
            }
            continue;
        };
        let Some(assign) = assignments.get(&binding.range.start()) else {
            continue;
        };
        let is_plain = matches!(
            &*assign.value,
            Expr::Name(_) | Expr::NumberLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_)
        );
        // Quotes and braces of a value may not fit into a formatted string.
        let in_string = variable
            .uses
            .iter()
            .any(|usage| is_within(&strings, usage.range));
        if variable.uses.is_empty()
            || (variable.uses.len() > 1 && !is_plain)
            || (in_string && !is_plain)
        {
            continue;
        }
        let Some(place) = statements.place(assign.range) else {
            continue;
        };
        let value = cx.program.slice(assign.value.range());
        let mut edits = EditSet::removal(place);
        for it in &variable.uses {
            let (open, close) = parentheses(cx.program, &assign.value, it.range);
            edits.edit(Edit::replace(it.range, format!("{open}{value}{close}")));
        }
        if cx.scales.lightens(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("`{}` replaced with its value", variable.name),
            );
        }
    }
}

fn is_within(strings: &[TextRange], place: TextRange) -> bool {
    strings.iter().any(|range| range.contains_range(place))
}

/// An assignment and the only use of its value: in the next statement, after which the variable is
/// bound again.
fn passed_on(
    statements: &Statements<'_>,
    tree: &Tree<'_>,
    variable: &Variable,
    assign: &StmtAssign,
) -> Option<(ItemId, TextRange)> {
    let place = statements.place(assign.range)?;
    let next = statements.next(place)?;
    let mut found = tree.nodes.iter().map(|node| node.node);
    let ends = found.any(|node| match node {
        AnyNodeRef::StmtReturn(it) => it.range == next,
        AnyNodeRef::StmtAssign(it) => {
            let is_same =
                |target: &Expr| matches!(target, Expr::Name(it) if it.id == variable.name);
            it.range == next && it.targets.iter().any(is_same)
        }
        _ => false,
    });
    let mut uses = variable
        .uses
        .iter()
        .map(|usage| usage.range)
        .filter(|range| next.contains_range(*range));
    let used = uses.next().filter(|_| ends && uses.next().is_none())?;
    Some((place, used))
}

#[cfg(test)]
mod tests {
    use super::INLINE_VARIABLES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn values_move_to_their_use() {
        check_edits(
            &INLINE_VARIABLES,
            "a = b + 1\nc(a * 2)\n",
            &["c((b + 1) * 2)\n"],
        );
        check_edits(&INLINE_VARIABLES, "a = b + 1\nc(a)\n", &["c(b + 1)\n"]);
        check_edits(&INLINE_VARIABLES, "a = 1\nb(a, a)\n", &["b(1, 1)\n"]);
        check_edits(
            &INLINE_VARIABLES,
            "def f(x):\n    y = g(x)\n    return y\n",
            &["def f(x):\n    return g(x)\n"],
        );
    }

    #[test]
    fn what_is_passed_on_at_once_moves_to_where() {
        check_edits(
            &INLINE_VARIABLES,
            "def f(x):\n    x = g(x)\n    x = h(x) + 1\n    return x\n",
            &[
                "def f(x):\n    x = g(x)\n    return h(x) + 1\n",
                "def f(x):\n    x = h(g(x)) + 1\n    return x\n",
            ],
        );
        check_none(
            &INLINE_VARIABLES,
            "def f(x):\n    x = g(x)\n    x = h(x, x)\n    k(x, x)\n",
        );
    }

    #[test]
    fn what_is_bound_or_used_more_than_once_stays() {
        check_none(
            &INLINE_VARIABLES,
            "a = f()\nb(a, a)\nc = 1\nc = 2\nprint(c)\nd = f()\nf'{d}'\n",
        );
    }
}
