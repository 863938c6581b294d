use std::collections::BTreeSet;

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind, Tree,
        ast::{Expr, ExprAwait},
    },
};

pass! {
    /// Turns `async` functions, loops and blocks into plain ones.
    ///
    /// A function loses every `await` and `async` in its body, and its calls lose their `await`.
    ///
    /// ```python before
    /// async def f(x):
    ///     async with x: return await x
    /// async def g(): await f(1)
    /// ```
    /// ```python after
    /// def f(x):
    ///     with x: return x
    /// async def g(): f(1)
    /// ```
    pub(crate) static DROP_ASYNC = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        if !def.is_async {
            continue;
        }
        let mut inside = EditSet::default();
        let from = def.decorator_list.last().map_or(def.start(), Ranged::end);
        let Some(word) = async_from(cx.program, from) else {
            continue;
        };
        inside.edit(Edit::delete(word));
        for edit in of_function(cx.program, tree, index as u32) {
            inside.edit(edit);
        }
        let mut everywhere = inside.clone();
        for edit in awaits_of(cx.program, tree, def.name.as_str()) {
            everywhere.edit(edit);
        }
        if everywhere != inside {
            out.propose(
                everywhere,
                Prior::Even,
                format!("`async` of `{}` and `await` of its calls", def.name),
            );
            out.next_group();
        }
        out.propose(inside, Prior::Even, format!("`async` of `{}`", def.name));
        out.next_group();
    }
    // Hoisting the awaited expression removes a single `await`.
    for node in tree.nodes.iter().rev() {
        if !matches!(node.node, AnyNodeRef::ExprAwait(_))
            && let Some(edit) = plain(cx.program, node.node)
        {
            out.propose(EditSet::one(edit), Prior::Even, "`async`");
        }
    }
}

/// The edits that make a loop, a block, a comprehension or an `await` plain.
fn plain(program: &Program, node: AnyNodeRef<'_>) -> Option<Edit> {
    let is_async = match node {
        AnyNodeRef::StmtFor(stmt) => stmt.is_async,
        AnyNodeRef::StmtWith(stmt) => stmt.is_async,
        AnyNodeRef::Comprehension(clause) => clause.is_async,
        AnyNodeRef::ExprAwait(expr) => return without_await(program, expr),
        _ => false,
    };
    is_async
        .then(|| async_from(program, node.start()))
        .flatten()
        .map(Edit::delete)
}

/// The first `async` from here on, with the white space after it.
fn async_from(program: &Program, start: TextSize) -> Option<TextRange> {
    let tokens = &program.tokens()[program.token_from(start)..];
    let word = tokens
        .iter()
        .find(|token| token.kind() == TokenKind::Async)?;
    Some(TextRange::new(
        word.start(),
        program.next_token(word.end())?.start(),
    ))
}

fn without_await(program: &Program, expr: &ExprAwait) -> Option<Edit> {
    let value = program.next_token(expr.start() + TextSize::of("await"))?;
    // `not await(x)` would become one word.
    let range = TextRange::new(expr.start(), value.start());
    let rest = program.slice(TextRange::new(value.start(), expr.end()));
    (!program.would_glue(expr.range, rest)).then(|| Edit::delete(range))
}

/// The edits that remove `async` and `await` from a function, nested functions excluded.
fn of_function(program: &Program, tree: &Tree<'_>, index: u32) -> Vec<Edit> {
    let mut inside = BTreeSet::from([index]);
    let mut edits = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate().skip(index as usize + 1) {
        let is_inside = node.parent.is_some_and(|parent| inside.contains(&parent));
        if is_inside && !matches!(node.node, AnyNodeRef::StmtFunctionDef(_)) {
            inside.insert(at as u32);
            edits.extend(plain(program, node.node));
        }
    }
    edits
}

/// The edits that take `await` away from calls of a function.
fn awaits_of(program: &Program, tree: &Tree<'_>, name: &str) -> Vec<Edit> {
    let is_called = |expr: &ExprAwait| match &*expr.value {
        Expr::Call(call) => match &*call.func {
            Expr::Name(called) => called.id == name,
            Expr::Attribute(called) => called.attr.as_str() == name,
            _ => false,
        },
        _ => false,
    };
    let awaits = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprAwait(expr) if is_called(expr) => without_await(program, expr),
        _ => None,
    });
    awaits.collect()
}

#[cfg(test)]
mod tests {
    use super::DROP_ASYNC;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn functions_go_with_what_is_in_them() {
        check_edits(
            &DROP_ASYNC,
            "@a\nasync def f():\n    async def g(): await b\n    await c\n    return not await(d)\n",
            &[
                "@a\nasync def f():\n    def g(): b\n    await c\n    return not await(d)\n",
                "@a\ndef f():\n    async def g(): await b\n    c\n    return not (d)\n",
            ],
        );
    }

    #[test]
    fn loops_blocks_and_comprehensions() {
        check_edits(
            &DROP_ASYNC,
            "async for a in b:\n    async with c: [d async for d in e]\n",
            &[
                "async for a in b:\n    async with c: [d for d in e]\n",
                "async for a in b:\n    with c: [d async for d in e]\n",
                "for a in b:\n    async with c: [d async for d in e]\n",
            ],
        );
    }

    #[test]
    fn plain_code_stays() {
        check_none(
            &DROP_ASYNC,
            "def f():\n    for a in b:\n        with c: pass\n",
        );
    }
}
