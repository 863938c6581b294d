use crate::{
    closure::Statements,
    edit::{Edit, EditSet},
    list::logical_start,
    pass::{Cx, Prior, Proposals, Stage, pass},
    passes::inline_functions::{arguments, function_site, moved, replaced},
    paste::gains,
    syntax::{
        AnyNodeRef, Ranged, TextRange, Tree,
        ast::{Expr, Stmt, StmtExpr, StmtFor, StmtFunctionDef},
    },
};

pass! {
    /// Puts the body of a generator that one loop turns over in the place of the loop, and the loop's body in that of its `yield`.
    ///
    /// ```python before
    /// def pairs(n):
    ///     for i in range(n):
    ///         yield i, i + 1
    ///
    /// for one, other in pairs(3):
    ///     f(one, other)
    /// ```
    /// ```python after
    ///
    /// for i in range(3):
    ///     one, other = i, i + 1
    ///     f(one, other)
    /// ```
    pub(crate) static INLINE_GENERATORS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for node in tree.nodes.iter().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else { continue };
        let Some(place) = statements.place(def.range).filter(|_| !def.is_async) else { continue };
        let Some((turned, text)) = inlined(cx, &tree, def) else { continue };
        let mut edits = EditSet::removal(place.list, place.item);
        edits.edit(Edit::replace(turned.range, text));
        if gains(cx.program, &edits) {
            out.propose(edits, Prior::Even, format!("`{}` where it is turned over", def.name));
        }
        out.next_group();
    }
}

/// The one loop that turns a generator over, and what stands for it.
fn inlined<'a>(cx: &Cx<'_>, tree: &Tree<'a>, def: &StmtFunctionDef) -> Option<(&'a StmtFor, String)> {
    let program = cx.program;
    let (yielding, value) = only_yield(tree, def)?;
    let site = function_site(cx, tree, def).filter(|site| !def.range.contains_range(site.whole))?;
    let turned = tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::StmtFor(it) if it.iter.range() == site.whole => Some(it),
        _ => None,
    })?;
    let is_plain = turned.orelse.is_empty() && !turned.is_async;
    let leaves = tree.nodes.iter().any(|node| {
        turned.range.contains_range(node.node.range())
            && matches!(node.node, AnyNodeRef::StmtBreak(_) | AnyNodeRef::StmtContinue(_))
    });
    if !is_plain || leaves {
        return None;
    }
    let (mut lines, substituted) = arguments(program, def, &site)?;
    let whole = |body: &[Stmt]| Some(TextRange::new(body.first()?.start(), body.last()?.end()));
    let margin = |at: TextRange| {
        let start = logical_start(program, at.start())?;
        Some(program.slice(TextRange::new(start, at.start())))
    };
    let (outer, inner) = (margin(whole(&def.body)?)?, margin(yielding.range)?);
    let deeper = inner.strip_prefix(outer)?;
    let target = program.slice(turned.target.range());
    let value = replaced(program, value.range(), &substituted)?;
    let mut body = moved(program, whole(&turned.body)?, &[], false)?;
    if value != target {
        body.insert(0, format!("{target} = {value}"));
    }
    let mut edits: Vec<Edit> =
        substituted.into_iter().filter(|it| !yielding.range.contains_range(it.range)).collect();
    edits.push(Edit::replace(yielding.range, body.join(&format!("\n{deeper}"))));
    lines.extend(moved(program, whole(&def.body)?, &edits, false)?);
    let indent = margin(turned.range)?;
    Some((turned, lines.join(&format!("{}{indent}", program.newline()))))
}

/// The statement by which a generator yields, and what, if there is one such, and it yields nowhere else and never returns.
fn only_yield<'a>(tree: &Tree<'a>, def: &StmtFunctionDef) -> Option<(&'a StmtExpr, &'a Expr)> {
    let mut found = None;
    for node in tree.nodes.iter().filter(|node| def.range.contains_range(node.node.range())) {
        match node.node {
            AnyNodeRef::StmtExpr(stmt) => {
                if let Expr::Yield(it) = &*stmt.value {
                    found = Some((stmt, it.value.as_deref()?));
                }
            }
            AnyNodeRef::ExprYield(it) if found.is_none_or(|(stmt, _)| stmt.value.range() != it.range) => {
                return None;
            }
            AnyNodeRef::StmtReturn(_)
            | AnyNodeRef::ExprYieldFrom(_)
            | AnyNodeRef::StmtGlobal(_)
            | AnyNodeRef::StmtNonlocal(_) => return None,
            _ => {}
        }
    }
    let yields = tree.nodes.iter().filter(|node| {
        def.range.contains_range(node.node.range()) && matches!(node.node, AnyNodeRef::ExprYield(_))
    });
    found.filter(|_| yields.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::INLINE_GENERATORS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_loop_stands_where_the_generator_yields() {
        check_edits(
            &INLINE_GENERATORS,
            "def g():\n    with a() as b:\n        while b:\n            yield b\n        c()\ndef f():\n    for x in g():\n        if x:\n            d(x)\n        e()\n",
            &[
                "def f():\n    with a() as b:\n        while b:\n            x = b\n            if x:\n                d(x)\n            e()\n        c()\n",
            ],
        );
        check_edits(&INLINE_GENERATORS, "def g(x):\n    yield x\nfor x in g(1): f(x)\n", &["x = 1\nf(x)\n"]);
    }

    #[test]
    fn what_can_not_be_told_stays() {
        check_none(&INLINE_GENERATORS, "def g():\n    yield 1\n    yield 2\nfor x in g(): f(x)\n");
        check_none(&INLINE_GENERATORS, "def g():\n    x = yield 1\nfor x in g(): f(x)\n");
        check_none(&INLINE_GENERATORS, "def g():\n    yield 1\n    return\nfor x in g(): f(x)\n");
        check_none(&INLINE_GENERATORS, "def g():\n    yield 1\nfor x in g():\n    break\n");
        check_none(&INLINE_GENERATORS, "def g():\n    yield 1\nfor x in [*g()]: f(x)\n");
    }
}
