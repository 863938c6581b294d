use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{AnyNodeRef, Program, Ranged, TextRange, TextSize, ast::Stmt},
};

pass! {
    /// Removes `elif`, `else`, `except`, `finally` and `case` clauses.
    ///
    /// ```python before
    /// try:
    ///     f()
    /// except ValueError:
    ///     pass
    /// finally:
    ///     g()
    /// ```
    /// ```python after
    /// try:
    ///     f()
    /// finally:
    ///     g()
    /// ```
    pub(crate) static DROP_CLAUSES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let mut drop = |range: Option<TextRange>, name: &str| {
        if let Some(range) = range {
            out.propose(
                EditSet::one(Edit::delete(range)),
                Prior::Likely,
                format!("`{name}` clause"),
            );
        }
    };
    let program = cx.program;
    for node in program.tree().nodes.iter().rev() {
        match node.node {
            AnyNodeRef::StmtIf(stmt) => {
                for clause in stmt.elif_else_clauses.iter().rev() {
                    drop(
                        lines(program, clause.range),
                        if clause.test.is_some() {
                            "elif"
                        } else {
                            "else"
                        },
                    );
                }
            }
            AnyNodeRef::StmtFor(stmt) => drop(after(program, &stmt.body, &stmt.orelse), "else"),
            AnyNodeRef::StmtWhile(stmt) => drop(after(program, &stmt.body, &stmt.orelse), "else"),
            AnyNodeRef::StmtTry(stmt) => {
                let handlers: Vec<TextRange> = stmt.handlers.iter().map(Ranged::range).collect();
                let last = stmt
                    .orelse
                    .last()
                    .map(Ranged::end)
                    .or(handlers.last().map(Ranged::end));
                if let Some(last) = last
                    && !handlers.is_empty()
                {
                    drop(between(program, last, &stmt.finalbody), "finally");
                }
                if let Some(last) = handlers.last() {
                    drop(between(program, last.end(), &stmt.orelse), "else");
                }
                // An `else` needs an `except` before it, and `try` needs one clause at least.
                let spare =
                    handlers.len() > 1 || (!stmt.finalbody.is_empty() && stmt.orelse.is_empty());
                for &handler in handlers.iter().rev().filter(|_| spare) {
                    drop(lines(program, handler), "except");
                }
            }
            AnyNodeRef::StmtMatch(stmt) if stmt.cases.len() > 1 => {
                for case in stmt.cases.iter().rev() {
                    drop(lines(program, case.range), "case");
                }
            }
            _ => {}
        }
    }
}

/// The range of a clause, with whole lines.
fn lines(program: &Program, clause: TextRange) -> Option<TextRange> {
    Some(TextRange::new(
        program.logical_start(clause.start())?,
        program.logical_end(clause.end()),
    ))
}

/// The clause that holds `body`, which follows the block `before`.
fn after(program: &Program, before: &[Stmt], body: &[Stmt]) -> Option<TextRange> {
    between(program, before.last()?.end(), body)
}

fn between(program: &Program, before: TextSize, body: &[Stmt]) -> Option<TextRange> {
    let start = program.logical_end(before);
    Some(TextRange::new(
        start,
        program.logical_end(body.last()?.end()),
    ))
}

#[cfg(test)]
mod tests {
    use super::DROP_CLAUSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn clauses_go_one_by_one() {
        check_edits(
            &DROP_CLAUSES,
            "if a:\n    b\nelif c: d\nelse:\n    e\n",
            &["if a:\n    b\nelif c: d\n", "if a:\n    b\nelse:\n    e\n"],
        );
        check_edits(
            &DROP_CLAUSES,
            "try: a\nexcept B: b\nexcept C: c\nelse: d\nfinally: e\n",
            &[
                "try: a\nexcept B: b\nexcept C: c\nelse: d\n",
                "try: a\nexcept B: b\nexcept C: c\nfinally: e\n",
                "try: a\nexcept B: b\nelse: d\nfinally: e\n",
                "try: a\nexcept C: c\nelse: d\nfinally: e\n",
            ],
        );
        check_edits(
            &DROP_CLAUSES,
            "for a in b:\n    c\n# why\nelse:\n    d\n",
            &["for a in b:\n    c\n"],
        );
        check_edits(
            &DROP_CLAUSES,
            "match a:\n    case 1: b\n    case _: c\n",
            &["match a:\n    case 1: b\n", "match a:\n    case _: c\n"],
        );
    }

    #[test]
    fn the_one_clause_that_a_statement_needs_stays() {
        check_none(
            &DROP_CLAUSES,
            "try:\n    a\nexcept B:\n    c\nmatch a:\n    case 1: b\n",
        );
        check_none(&DROP_CLAUSES, "try:\n    a\nfinally:\n    c\n");
    }
}
