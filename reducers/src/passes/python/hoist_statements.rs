use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::parentheses_of_statement,
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, Stmt},
        positions::is_plain,
    },
};

pass! {
    /// Replaces a statement with the expression that it evaluates first.
    ///
    /// A block is replaced once its body is empty.
    ///
    /// ```python before
    /// for item in load(x):
    ///     pass
    /// ```
    /// ```python after
    /// load(x)
    /// ```
    pub(crate) static HOIST_STATEMENTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for node in cx.program.tree().nodes.iter().rev() {
        let Some(expr) = evaluated(node.node).filter(|expr| !is_plain(expr)) else {
            continue;
        };
        let whole = node.node.range();
        let (open, close) = parentheses_of_statement(cx.program, expr);
        if !open.is_empty() && node.node.is_stmt_return() {
            continue;
        }
        let mut edits = EditSet::default();
        edits.edit(Edit::replace(
            TextRange::new(whole.start(), expr.start()),
            open,
        ));
        edits.edit(Edit::replace(
            TextRange::new(expr.end(), whole.end()),
            close,
        ));
        out.propose(
            edits,
            Prior::Even,
            format!("reduced to `{}`", cx.program.excerpt(expr.range())),
        );
    }
}

/// The expression that a statement evaluates first, if nothing else is in it.
fn evaluated(node: AnyNodeRef<'_>) -> Option<&Expr> {
    match node {
        AnyNodeRef::StmtReturn(stmt) => stmt.value.as_deref(),
        AnyNodeRef::StmtAssert(stmt) => Some(&stmt.test),
        AnyNodeRef::StmtFor(stmt) => {
            (is_empty(&stmt.body) && is_empty(&stmt.orelse)).then_some(&stmt.iter)
        }
        AnyNodeRef::StmtWhile(stmt) => {
            (is_empty(&stmt.body) && is_empty(&stmt.orelse)).then_some(&stmt.test)
        }
        AnyNodeRef::StmtIf(stmt) => {
            (is_empty(&stmt.body) && stmt.elif_else_clauses.is_empty()).then_some(&stmt.test)
        }
        AnyNodeRef::StmtWith(stmt) => match stmt.items.as_slice() {
            [only] => is_empty(&stmt.body).then_some(&only.context_expr),
            _ => None,
        },
        AnyNodeRef::StmtMatch(stmt) => stmt
            .cases
            .iter()
            .all(|case| is_empty(&case.body))
            .then_some(&stmt.subject),
        _ => None,
    }
}

/// Whether a block does nothing.
fn is_empty(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Pass(_) | Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::Expr(stmt) => is_plain(&stmt.value),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::HOIST_STATEMENTS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn what_is_evaluated_stays() {
        check_edits(
            &HOIST_STATEMENTS,
            "def f(): return g(1)\n",
            &["def f(): g(1)\n"],
        );
        check_edits(
            &HOIST_STATEMENTS,
            "assert (a ==\n  b), c\n",
            &["(a ==\n  b)\n"],
        );
        check_edits(&HOIST_STATEMENTS, "if f(a):\n    pass\nx\n", &["f(a)\nx\n"]);
        check_edits(&HOIST_STATEMENTS, "with a() as b: ...\n", &["a()\n"]);
    }

    #[test]
    fn blocks_that_do_something_stay() {
        check_none(
            &HOIST_STATEMENTS,
            "if f(a): b()\nwhile c: pass\nmatch d(): \n    case 1: e()\n",
        );
    }
}
