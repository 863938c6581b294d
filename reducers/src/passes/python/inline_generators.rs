use crate::{
    analysis::{calls::only_call, statements::Statements},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::substituted,
        edit::{Edit, EditSet, rewritten},
        reindent::reindented,
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange, Tree,
        ast::{Expr, Stmt, StmtExpr, StmtFunctionDef},
    },
};

pass! {
    /// Inlines a generator that one loop iterates over: its body replaces the loop, and the loop's
    /// body replaces its `yield`.
    ///
    /// Does the same for a generator that is used as a context manager and the `with` that enters
    /// it.
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

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for node in tree.nodes.iter().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let Some(place) = statements.place(def.range).filter(|_| !def.is_async) else {
            continue;
        };
        let Some((turned, text)) = inlined(cx, tree, def) else {
            continue;
        };
        let mut edits = EditSet::removal(place);
        edits.edit(Edit::replace(turned.range, text));
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("generator `{}` inlined", def.name),
            );
        }
        out.next_group();
    }
}

/// A loop over a generator, or a `with` of a context manager that one makes.
struct Turned<'a> {
    range: TextRange,
    target: Option<&'a Expr>,
    body: &'a [Stmt],
}

impl<'a> Turned<'a> {
    /// The `for` or `with` statement whose head is the call of the generator.
    fn of(tree: &Tree<'a>, def: &StmtFunctionDef, call: TextRange) -> Option<Self> {
        let is_manager = match def.decorator_list.as_slice() {
            [] => false,
            [only] if makes_manager(&only.expression) => true,
            _ => return None,
        };
        tree.nodes.iter().find_map(|node| match node.node {
            AnyNodeRef::StmtFor(it) if !is_manager && it.iter.range() == call => {
                let is_plain = it.orelse.is_empty() && !it.is_async;
                is_plain.then_some(Self {
                    range: it.range,
                    target: Some(&it.target),
                    body: &it.body,
                })
            }
            AnyNodeRef::StmtWith(it) if is_manager && !it.is_async => match it.items.as_slice() {
                [item] if item.context_expr.range() == call => Some(Self {
                    range: it.range,
                    target: item.optional_vars.as_deref(),
                    body: &it.body,
                }),
                _ => None,
            },
            _ => None,
        })
    }
}

fn makes_manager(decorator: &Expr) -> bool {
    match decorator {
        Expr::Name(it) => it.id.as_str() == "contextmanager",
        Expr::Attribute(it) => it.attr.as_str() == "contextmanager",
        _ => false,
    }
}

/// The only loop or `with` that uses a generator, and the text that replaces it.
fn inlined<'a>(
    cx: &PassContext<'_>,
    tree: &Tree<'a>,
    def: &StmtFunctionDef,
) -> Option<(Turned<'a>, String)> {
    let program = cx.program;
    let (yielding, value) = only_yield(tree, def)?;
    let site =
        only_call(program, tree, def).filter(|site| !def.range.contains_range(site.whole))?;
    let turned = Turned::of(tree, def, site.whole)?;
    let leaves = tree.nodes.iter().any(|node| {
        turned.range.contains_range(node.node.range())
            && matches!(
                node.node,
                AnyNodeRef::StmtBreak(_) | AnyNodeRef::StmtContinue(_)
            )
    });
    if leaves {
        return None;
    }
    let (mut lines, substituted) = substituted(program, def, &site, 0)?;
    let whole = |body: &[Stmt]| Some(TextRange::new(body.first()?.start(), body.last()?.end()));
    let outer = program.indentation(whole(&def.body)?)?;
    let inner = program.indentation(yielding.range)?;
    let deeper = inner.strip_prefix(outer)?;
    let value = match value {
        Some(value) => rewritten(program, value.range(), &substituted)?,
        None => "None".to_owned(),
    };
    let mut body = reindented(program, whole(turned.body)?, &[], false)?;
    match turned.target.map(|target| program.slice(target.range())) {
        Some(target) if value != target => body.insert(0, format!("{target} = {value}")),
        // A value that is not bound is evaluated all the same if that may have an effect.
        None if value.contains('(') => body.insert(0, value),
        _ => {}
    }
    let mut edits: Vec<Edit> = substituted
        .into_iter()
        .filter(|usage| !yielding.range.contains_range(usage.range))
        .collect();
    edits.push(Edit::replace(
        yielding.range,
        body.join(&format!("\n{deeper}")),
    ));
    lines.extend(reindented(program, whole(&def.body)?, &edits, false)?);
    let indent = program.indentation(turned.range)?;
    let text = lines.join(&format!("{}{indent}", program.newline()));
    Some((turned, text))
}

/// The only statement with which a generator yields, and the value. None if it also yields
/// elsewhere, or returns.
fn only_yield<'a>(
    tree: &Tree<'a>,
    def: &StmtFunctionDef,
) -> Option<(&'a StmtExpr, Option<&'a Expr>)> {
    let mut found = None;
    for node in tree
        .nodes
        .iter()
        .filter(|node| def.range.contains_range(node.node.range()))
    {
        match node.node {
            AnyNodeRef::StmtExpr(stmt) => {
                if let Expr::Yield(it) = &*stmt.value {
                    found = Some((stmt, it.value.as_deref()));
                }
            }
            AnyNodeRef::ExprYield(it)
                if found.is_none_or(|(stmt, _)| stmt.value.range() != it.range) =>
            {
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
        check_edits(
            &INLINE_GENERATORS,
            "def g(x):\n    yield x\nfor x in g(1): f(x)\n",
            &["x = 1\nf(x)\n"],
        );
    }

    #[test]
    fn what_a_context_manager_does_stands_where_it_is_entered() {
        check_edits(
            &INLINE_GENERATORS,
            "import contextlib\n@contextlib.contextmanager\ndef opened(name):\n    f = open(name)\n    try:\n        yield f\n    finally:\n        f.close()\nwith opened('a') as it:\n    g(it)\n    h()\n",
            &[
                "import contextlib\nf = open('a')\ntry:\n    it = f\n    g(it)\n    h()\nfinally:\n    f.close()\n",
            ],
        );
        check_edits(
            &INLINE_GENERATORS,
            "from contextlib import contextmanager\n@contextmanager\ndef quiet():\n    a()\n    yield\n    b()\ndef f():\n    with quiet(): c()\n",
            &["from contextlib import contextmanager\ndef f():\n    a()\n    c()\n    b()\n"],
        );
    }

    #[test]
    fn what_can_not_be_told_stays() {
        check_none(
            &INLINE_GENERATORS,
            "@cache\ndef g():\n    yield 1\nfor x in g(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "@contextmanager\ndef g():\n    yield 1\nwith g(), h(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    yield 1\nwith g(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    yield 1\n    yield 2\nfor x in g(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    x = yield 1\nfor x in g(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    yield 1\n    return\nfor x in g(): f(x)\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    yield 1\nfor x in g():\n    break\n",
        );
        check_none(
            &INLINE_GENERATORS,
            "def g():\n    yield 1\nfor x in [*g()]: f(x)\n",
        );
    }
}
