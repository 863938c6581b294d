use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::unwrap::unwrap_block,
    syntax::{AnyNodeRef, ast::Stmt},
};

pass! {
    /// Moves the body of an `else` after the `if` if no other branch runs to its end.
    ///
    /// ```python before
    /// def f(x):
    ///     if x:
    ///         return 1
    ///     else:
    ///         return 2
    /// ```
    /// ```python after
    /// def f(x):
    ///     if x:
    ///         return 1
    ///     return 2
    /// ```
    pub(crate) static FLATTEN_ELSE = Pass { stage: Stage::Tidy, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for node in cx.program.tree().nodes.iter().rev() {
        if let AnyNodeRef::StmtIf(stmt) = node.node
            && let Some((last, clauses)) = stmt.elif_else_clauses.split_last()
            && last.test.is_none()
            && leaves(&stmt.body)
            && clauses.iter().all(|clause| leaves(&clause.body))
            && let Some(edits) = unwrap_block(cx.program, last.range, &last.body)
        {
            out.propose(edits, Prior::Certain, "`else` after what leaves");
        }
    }
}

/// Whether a block never runs to its end.
fn leaves(body: &[Stmt]) -> bool {
    matches!(
        body.last(),
        Some(Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_))
    )
}

#[cfg(test)]
mod tests {
    use super::FLATTEN_ELSE;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn what_follows_moves_out() {
        check_edits(
            &FLATTEN_ELSE,
            "while a:\n    if b: break\n    elif c: raise d\n    else: e; f\n",
            &["while a:\n    if b: break\n    elif c: raise d\n    e; f\n"],
        );
    }

    #[test]
    fn branches_that_go_on_keep_their_else() {
        check_none(
            &FLATTEN_ELSE,
            "if a: b\nelse: c\nfor d in e:\n    if f: continue\n    elif g: h\n    else: i\n",
        );
    }
}
