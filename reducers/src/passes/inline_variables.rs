use std::collections::BTreeMap;

use crate::{
    closure::Statements,
    edit::{Edit, EditSet},
    pass::{Cx, Prior, Proposals, Stage, pass},
    paste::{lightens, parentheses},
    syntax::{
        AnyNodeRef, Ranged, TextRange, TextSize,
        ast::{Expr, StmtAssign},
    },
};

pass! {
    /// Puts the value of a variable where the variable is used.
    ///
    /// That is done for variables that are bound once, and used once or bound to a plain name or literal.
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

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
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
        let [binding] = variable.bindings.as_slice() else { continue };
        let Some(assign) = assignments.get(&binding.range.start()) else { continue };
        let is_plain = matches!(
            &*assign.value,
            Expr::Name(_) | Expr::NumberLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_)
        );
        // Quotes and braces of a value may not fit into a formatted string.
        let in_string =
            variable.uses.iter().any(|it| strings.iter().any(|range| range.contains_range(it.range)));
        if variable.uses.is_empty() || (variable.uses.len() > 1 && !is_plain) || (in_string && !is_plain) {
            continue;
        }
        let Some(place) = statements.place(assign.range) else { continue };
        let value = cx.program.slice(assign.value.range());
        let mut edits = EditSet::removal(place.list, place.item);
        for it in &variable.uses {
            let (open, close) = parentheses(cx.program, &assign.value, it.range);
            edits.edit(Edit::replace(it.range, format!("{open}{value}{close}")));
        }
        if lightens(cx.program, &edits) {
            out.propose(edits, Prior::Even, format!("`{}` by its value", variable.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::INLINE_VARIABLES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn values_move_to_their_use() {
        check_edits(&INLINE_VARIABLES, "a = b + 1\nc(a * 2)\n", &["c((b + 1) * 2)\n"]);
        check_edits(&INLINE_VARIABLES, "a = b + 1\nc(a)\n", &["c(b + 1)\n"]);
        check_edits(&INLINE_VARIABLES, "a = 1\nb(a, a)\n", &["b(1, 1)\n"]);
        check_edits(
            &INLINE_VARIABLES,
            "def f(x):\n    y = g(x)\n    return y\n",
            &["def f(x):\n    return g(x)\n"],
        );
    }

    #[test]
    fn what_is_bound_or_used_more_than_once_stays() {
        check_none(&INLINE_VARIABLES, "a = f()\nb(a, a)\nc = 1\nc = 2\nprint(c)\nd = f()\nf'{d}'\n");
    }
}
