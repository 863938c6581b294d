use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind, Tree,
        ast::{Alias, ExceptHandler, Expr, ExprSlice, Identifier, StmtTry},
        rows::widened,
    },
};

pass! {
    /// Removes optional parts of statements and expressions: values, causes, messages, classes,
    /// names, bounds.
    ///
    /// These are a returned or yielded value, the cause of a `raise`, the message of an `assert`,
    /// the class and the name of a handled exception, the guard of a `case`, the `as` of an import,
    /// and the bounds of a slice.
    ///
    /// ```python before
    /// raise ValueError("x") from error
    /// ```
    /// ```python after
    /// raise ValueError("x")
    /// ```
    pub(crate) static DROP_OPTIONAL_PARTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tree = program.tree();
    let is_unused = |name: TextSize| {
        let variable = program.scopes().bound_at(name);
        variable.is_some_and(|variable| variable.uses.is_empty())
    };
    let behind =
        |lead, part: Option<&Expr>| part.and_then(|part| program.behind(lead, part.range()));
    let tail = |lead, part: Option<&Expr>| part.and_then(|part| program.tail(lead, part.range()));
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let mut drop = |range: Option<TextRange>, prior: Prior, what: &str| {
            if let Some(range) = range {
                let note = format!("{what} `{}`", program.excerpt(range).trim());
                out.delete(range, prior, note);
            }
        };
        match node.node {
            AnyNodeRef::StmtReturn(stmt) => {
                let value = behind(TokenKind::Return, stmt.value.as_deref());
                drop(value, Prior::Even, "value");
            }
            AnyNodeRef::ExprYield(expr) => {
                let value = behind(TokenKind::Yield, expr.value.as_deref());
                drop(value, Prior::Even, "value");
            }
            AnyNodeRef::StmtRaise(stmt) => {
                let cause = stmt.cause.as_deref();
                drop(tail(TokenKind::From, cause), Prior::Likely, "cause");
                let can_go = cause.is_none() && is_handling(tree, index as u32);
                let exception = stmt.exc.as_deref().filter(|_| can_go);
                let exception = behind(TokenKind::Raise, exception);
                drop(exception, Prior::Unlikely, "exception");
            }
            AnyNodeRef::StmtAssert(stmt) => {
                let message = tail(TokenKind::Comma, stmt.msg.as_deref());
                drop(message, Prior::Likely, "message");
            }
            AnyNodeRef::StmtAnnAssign(stmt) => {
                let can_go = is_unused(stmt.target.start()) || !stmt.target.is_name_expr();
                let value = stmt.value.as_deref().filter(|_| can_go);
                drop(tail(TokenKind::Equal, value), Prior::Unlikely, "value");
            }
            AnyNodeRef::MatchCase(case) => {
                let guard = tail(TokenKind::If, case.guard.as_deref());
                drop(guard, Prior::Even, "guard");
            }
            AnyNodeRef::StmtTry(stmt) => {
                for (range, what) in of_handlers(program, stmt) {
                    drop(range, Prior::Even, what);
                }
            }
            AnyNodeRef::Alias(alias) => {
                for (range, what) in of_alias(alias, is_unused(alias.start())) {
                    drop(Some(range), Prior::Even, what);
                }
            }
            AnyNodeRef::StmtImportFrom(import) => {
                let part = import.module.as_ref().and_then(last_part);
                drop(part, Prior::Unlikely, "submodule");
            }
            AnyNodeRef::ExprSlice(slice) => {
                for range in of_slice(program, slice) {
                    drop(range, Prior::Even, "bound");
                }
            }
            _ => {}
        }
    }
}

/// Whether a statement stands in an exception's handler, where `raise` alone raises it again.
fn is_handling(tree: &Tree<'_>, index: u32) -> bool {
    tree.ancestors(index)
        .any(|node| matches!(node, AnyNodeRef::ExceptHandlerExceptHandler(_)))
}

fn of_handlers(program: &Program, stmt: &StmtTry) -> Vec<(Option<TextRange>, &'static str)> {
    let mut found = Vec::new();
    for ExceptHandler::ExceptHandler(handler) in stmt.handlers.iter().rev() {
        let name = handler.name.as_ref().map(|name| name.range);
        found.push((
            name.and_then(|name| program.tail(TokenKind::As, name)),
            "name",
        ));
    }
    // Only the last handler may catch everything, and none with a star.
    if let Some(ExceptHandler::ExceptHandler(last)) = stmt.handlers.last()
        && let Some(class) = &last.type_
        && !stmt.is_star
    {
        let class = widened(program, last.range, class.range());
        let end = last
            .name
            .as_ref()
            .map_or(class.end(), |name| name.range.end());
        let start = last.start() + TextSize::of("except");
        found.push((Some(TextRange::new(start, end)), "class"));
    }
    found
}

/// The `as` of an import that nothing uses, and the last part of a dotted name.
fn of_alias(alias: &Alias, is_unused: bool) -> Vec<(TextRange, &'static str)> {
    let mut found = Vec::new();
    if let Some(name) = &alias.asname
        && is_unused
    {
        found.push((TextRange::new(alias.name.end(), name.end()), "name"));
    }
    found.extend(last_part(&alias.name).map(|range| (range, "submodule")));
    found
}

/// The last part of a dotted name with its dot, if the name is written without spaces.
fn last_part(name: &Identifier) -> Option<TextRange> {
    let dot = name
        .rfind('.')
        .filter(|_| name.range.len() == TextSize::of(name.as_str()))?;
    Some(TextRange::new(
        name.start() + TextSize::new(dot as u32),
        name.end(),
    ))
}

fn of_slice(program: &Program, slice: &ExprSlice) -> Vec<Option<TextRange>> {
    let part = |expr: &Option<Box<_>>| {
        expr.as_deref()
            .map(|expr| widened(program, slice.range, Ranged::range(expr)))
    };
    let step = slice
        .step
        .as_deref()
        .and_then(|step| program.tail(TokenKind::Colon, Ranged::range(step)));
    vec![step, part(&slice.upper), part(&slice.lower)]
}

#[cfg(test)]
mod tests {
    use super::DROP_OPTIONAL_PARTS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn values_causes_and_messages() {
        check_all(
            &DROP_OPTIONAL_PARTS,
            "def f():\n    assert (a), (b)\n    x = yield (c)\n    raise d from (e)\n    return(g)\n",
            "def f():\n    assert (a)\n    x = yield\n    raise d\n    return\n",
        );
    }

    #[test]
    fn handlers() {
        check_edits(
            &DROP_OPTIONAL_PARTS,
            "try: a\nexcept (B): raise c\nexcept (D) as d: pass\n",
            &[
                "try: a\nexcept (B): raise\nexcept (D) as d: pass\n",
                "try: a\nexcept (B): raise c\nexcept (D): pass\n",
                "try: a\nexcept (B): raise c\nexcept: pass\n",
            ],
        );
    }

    #[test]
    fn slices_and_imports() {
        check_edits(
            &DROP_OPTIONAL_PARTS,
            "x[(a):b:c]\n",
            &["x[(a):b]\n", "x[(a)::c]\n", "x[:b:c]\n"],
        );
        check_edits(
            &DROP_OPTIONAL_PARTS,
            "import a.b as c\n",
            &["import a.b\n", "import a as c\n"],
        );
    }

    #[test]
    fn what_is_needed_stays() {
        check_none(
            &DROP_OPTIONAL_PARTS,
            "import a as b\nb.c\nraise d\nx[:]\ntry: e\nexcept* F: g\n",
        );
    }
}
