use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::unwrap::unwrap_block,
    syntax::{
        AnyNodeRef, Ranged,
        ast::{self, Stmt},
    },
};

pass! {
    /// Replaces a block with its body.
    ///
    /// The body is one branch of an `if`, `try` or `match`, or the body of a `for`, `while` or
    /// `with`.
    ///
    /// ```python before
    /// if __name__ == "__main__":
    ///     x = 1
    ///     f(x)
    /// ```
    /// ```python after
    /// x = 1
    /// f(x)
    /// ```
    pub(crate) static UNWRAP_BLOCKS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    // The first body of each block, then the others: two bodies of one block exclude each other.
    for rank in 0.. {
        let mut found = false;
        for node in tree.nodes.iter().rev() {
            let (keyword, bodies) = bodies(node.node);
            let Some(body) = bodies.into_iter().filter(|body| !body.is_empty()).nth(rank) else {
                continue;
            };
            found = true;
            if let Some(edits) = unwrap_block(cx.program, node.node.range(), body) {
                out.propose(
                    edits,
                    Prior::Even,
                    format!("`{keyword}` replaced with its body"),
                );
            }
        }
        if !found {
            break;
        }
        out.next_group();
    }
}

fn bodies(node: AnyNodeRef<'_>) -> (&'static str, Vec<&[Stmt]>) {
    match node {
        AnyNodeRef::StmtIf(stmt) => {
            let clauses = stmt
                .elif_else_clauses
                .iter()
                .map(|clause| clause.body.as_slice());
            (
                "if",
                std::iter::once(stmt.body.as_slice())
                    .chain(clauses)
                    .collect(),
            )
        }
        AnyNodeRef::StmtFor(stmt) => ("for", vec![&stmt.body, &stmt.orelse]),
        AnyNodeRef::StmtWhile(stmt) => ("while", vec![&stmt.body, &stmt.orelse]),
        AnyNodeRef::StmtWith(stmt) => ("with", vec![&stmt.body]),
        AnyNodeRef::StmtTry(stmt) => {
            let handlers = stmt.handlers.iter().map(|handler| {
                let ast::ExceptHandler::ExceptHandler(handler) = handler;
                handler.body.as_slice()
            });
            let first: [&[Stmt]; 3] = [&stmt.body, &stmt.orelse, &stmt.finalbody];
            ("try", first.into_iter().chain(handlers).collect())
        }
        AnyNodeRef::StmtMatch(stmt) => (
            "match",
            stmt.cases.iter().map(|case| case.body.as_slice()).collect(),
        ),
        _ => ("", Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::UNWRAP_BLOCKS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn each_branch_is_an_attempt_of_its_own() {
        check_edits(
            &UNWRAP_BLOCKS,
            "if a:\n    b\nelif c:\n    d\nelse:\n    e\n",
            &["b\n", "d\n", "e\n"],
        );
        check_edits(
            &UNWRAP_BLOCKS,
            "try:\n    a\nexcept B:\n    c\nelse:\n    d\nfinally:\n    e\n",
            &["a\n", "d\n", "e\n", "c\n"],
        );
        check_edits(
            &UNWRAP_BLOCKS,
            "match a:\n    case 1: b\n    case _:\n        c\n",
            &["b\n", "c\n"],
        );
    }

    #[test]
    fn nested_blocks_unwrap_together() {
        check_all(
            &UNWRAP_BLOCKS,
            "for a in b:\n  # why\n  while c:\n        with d as e:\n            f(e,\n              '''\n            text''')\n            g\n",
            "# why\nf(e,\n'''\n            text''')\ng\n"
                .replace("# why\n", "")
                .replace("\n'''", "\n  '''")
                .as_str(),
        );
    }

    #[test]
    fn bodies_on_the_line_of_the_header() {
        check_all(&UNWRAP_BLOCKS, "if a: b; c\nd\n", "b; c\nd\n");
        check_edits(&UNWRAP_BLOCKS, "if a: b\nelse: c\n", &["b\n", "c\n"]);
    }

    #[test]
    fn definitions_are_no_blocks() {
        check_none(
            &UNWRAP_BLOCKS,
            "def f():\n    return 1\nclass A:\n    x = 1\n",
        );
    }
}
