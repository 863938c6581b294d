use crate::{
    analysis::{
        calls::{Site, class_around, only_call, site},
        statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::substituted,
        edit::{Edit, EditSet, rewritten},
        parenthesize::{is_atom, one_logical_line, parentheses},
        reindent::reindented,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{self, Expr, ExprContext, Stmt},
    },
};

pass! {
    /// Inlines a function, method or property that is used once.
    ///
    /// ```python before
    /// def main(n):
    ///     x = f(n, n)
    ///     return g(x)
    ///
    /// result = h(main(3))
    /// ```
    /// ```python after
    ///
    /// x = f(3, 3)
    /// result = h(g(x))
    /// ```
    pub(crate) static INLINE_FUNCTIONS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let parent = node.parent.map(|parent| tree.nodes[parent as usize].node);
        let is_method = matches!(parent, Some(AnyNodeRef::StmtClassDef(_)));
        let site = if is_method {
            method_site(tree, index, def)
        } else {
            function_site(cx, tree, def)
        };
        let Some(site) = site.filter(|site| !def.range.contains_range(site.whole)) else {
            continue;
        };
        let Some(statement) = statement_of(tree, site.whole) else {
            continue;
        };
        if let (Some(mut edits), Some(place)) = (
            inlined(cx.program, tree, def, &site, statement),
            statements.place(def.range),
        ) {
            edits.remove(place);
            if cx.scales.gains(&edits) {
                out.propose(edits, Prior::Even, format!("`{}` inlined", def.name));
            }
        }
        out.next_group();
    }
}

/// The only use of a function that has no decorators.
fn function_site<'a>(
    cx: &PassContext<'_>,
    tree: &Tree<'a>,
    def: &ast::StmtFunctionDef,
) -> Option<Site<'a>> {
    def.decorator_list
        .is_empty()
        .then(|| only_call(cx.program, tree, def))?
}

/// The only use of a method, if no other class has a method and no object an attribute of that
/// name.
fn method_site<'a>(tree: &Tree<'a>, at: usize, def: &ast::StmtFunctionDef) -> Option<Site<'a>> {
    let name = def.name.as_str();
    if name.starts_with("__") && name.ends_with("__") {
        return None;
    }
    let mut found = None;
    for (index, node) in tree.nodes.iter().enumerate() {
        match node.node {
            AnyNodeRef::StmtFunctionDef(other)
                if index != at
                    && other.name.as_str() == name
                    && class_around(tree, node.parent).is_some() =>
            {
                return None;
            }
            AnyNodeRef::ExprAttribute(it)
                if it.attr.as_str() == name
                    && (it.ctx != ExprContext::Load || found.replace((index, it)).is_some()) =>
            {
                return None;
            }
            _ => {}
        }
    }
    let (index, attribute) = found?;
    let receiver = Some(&*attribute.value);
    match def.decorator_list.as_slice() {
        [] => {
            let parent = tree.nodes[index].parent? as usize;
            match tree.nodes[parent].node {
                AnyNodeRef::ExprCall(call) if call.func.range() == attribute.range => {
                    site(tree, parent, def, receiver)
                }
                _ => None,
            }
        }
        [only] if matches!(&only.expression, Expr::Name(it) if it.id == "property") => Some(Site {
            whole: attribute.range,
            call: None,
            receiver,
        }),
        _ => None,
    }
}

/// The innermost statement around a place, if statements before it run exactly as often as the
/// place.
fn statement_of<'a>(tree: &Tree<'a>, place: TextRange) -> Option<AnyNodeRef<'a>> {
    let around = tree
        .nodes
        .iter()
        .rfind(|node| node.node.is_statement() && node.node.range().contains_range(place))?
        .node;
    let is_header = match around {
        AnyNodeRef::StmtFor(stmt) => stmt.iter.range().contains_range(place),
        AnyNodeRef::StmtIf(stmt) => stmt.test.range().contains_range(place),
        AnyNodeRef::StmtWith(stmt) => stmt
            .items
            .iter()
            .any(|item| item.range.contains_range(place)),
        AnyNodeRef::StmtMatch(stmt) => stmt.subject.range().contains_range(place),
        AnyNodeRef::StmtWhile(_)
        | AnyNodeRef::StmtTry(_)
        | AnyNodeRef::StmtFunctionDef(_)
        | AnyNodeRef::StmtClassDef(_) => false,
        _ => true,
    };
    is_header.then_some(around)
}

/// Whether a function runs straight through: no generator, one `return` at its end, and no variadic
/// parameters.
fn is_simple(def: &ast::StmtFunctionDef, tree: &Tree<'_>) -> bool {
    let mut returns = 0;
    let is_within = |inner: TextRange| def.range.contains_range(inner) && def.range != inner;
    let nested = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(other) if is_within(other.range) => Some(other.range),
        AnyNodeRef::ExprLambda(other) if is_within(other.range) => Some(other.range),
        _ => None,
    });
    let nested: Vec<TextRange> = nested.collect();
    for node in tree.nodes.iter().filter(|node| {
        let range = node.node.range();
        is_within(range) && !nested.iter().any(|inner| inner.contains_range(range))
    }) {
        match node.node {
            AnyNodeRef::StmtReturn(_) => returns += 1,
            AnyNodeRef::ExprYield(_)
            | AnyNodeRef::ExprYieldFrom(_)
            | AnyNodeRef::StmtGlobal(_)
            | AnyNodeRef::StmtNonlocal(_) => return false,
            _ => {}
        }
    }
    let ends_in_return = matches!(def.body.last(), Some(Stmt::Return(_)));
    def.type_params.is_none()
        && def.parameters.vararg.is_none()
        && def.parameters.kwarg.is_none()
        && returns <= usize::from(ends_in_return)
}

/// The edits that put the body before the statement and replace the call with the value.
fn inlined(
    program: &Program,
    tree: &Tree<'_>,
    def: &ast::StmtFunctionDef,
    site: &Site<'_>,
    statement: AnyNodeRef<'_>,
) -> Option<EditSet> {
    if !is_simple(def, tree) {
        return None;
    }
    let indent = program.indentation(statement.range())?;
    let newline = program.newline();
    let (assigned, substituted) = substituted(program, def, site, 0)?;

    let (last, before) = def.body.split_last()?;
    let (body, value) = match last {
        Stmt::Return(it) => (before, it.value.as_deref()),
        Stmt::Pass(_) => (before, None),
        _ => (def.body.as_slice(), None),
    };
    let mut lines = assigned;
    if let (Some(first), Some(end)) = (body.first(), body.last()) {
        let range = TextRange::new(first.start(), end.end());
        lines.extend(reindented(program, range, &substituted, indent.is_empty())?);
    }
    let value_text = match value {
        Some(value) => Some(rewritten(program, value.range(), &substituted)?),
        None => None,
    };
    // What is computed for each element, or later, needs lines of its own.
    if !lines.is_empty() && is_within_expression_scope(tree, statement.range(), site.whole) {
        return None;
    }
    let alone = matches!(statement, AnyNodeRef::StmtExpr(it) if it.value.range() == site.whole);
    let mut edits = EditSet::default();
    let insert = |lines: &[String]| {
        lines
            .iter()
            .flat_map(|line| [line.as_str(), newline, indent])
            .collect::<String>()
    };
    if alone {
        if let (Some(text), Some(value)) = (&value_text, value)
            && !is_atom(value)
        {
            lines.push(one_logical_line(text));
        }
        if lines.is_empty() {
            lines.push("pass".to_owned());
        }
        edits.edit(Edit::replace(
            statement.range(),
            lines.join(&format!("{newline}{indent}")),
        ));
    } else {
        let text = match (&value_text, value) {
            (Some(text), Some(value)) => {
                let (open, close) = parentheses(program, value, site.whole);
                format!("{open}{text}{close}")
            }
            _ => "None".to_owned(),
        };
        edits.edit(Edit::replace(site.whole, text));
        if !lines.is_empty() {
            let at = TextRange::empty(statement.range().start());
            edits.edit(Edit::replace(at, insert(&lines)));
        }
    }
    Some(edits)
}

/// Whether a comprehension or a `lambda` of a statement stands around a place.
fn is_within_expression_scope(tree: &Tree<'_>, statement: TextRange, place: TextRange) -> bool {
    tree.nodes.iter().any(|node| {
        let range = node.node.range();
        statement.contains_range(range)
            && range.contains_range(place)
            && matches!(
                node.node,
                AnyNodeRef::ExprListComp(_)
                    | AnyNodeRef::ExprSetComp(_)
                    | AnyNodeRef::ExprDictComp(_)
                    | AnyNodeRef::ExprGenerator(_)
                    | AnyNodeRef::ExprLambda(_)
            )
    })
}

#[cfg(test)]
mod tests {
    use super::INLINE_FUNCTIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_body_stands_where_the_call_stood() {
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(a, b=2):\n    if a:\n        g(b)\n\nif x:\n    f(1)\n",
            &["\nif x:\n    if 1:\n        g(2)\n"],
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(): return 1\nx = f()\n",
            &["x = 1\n"],
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(x):\n    g(x)\nf(x)\n",
            &["g(x)\n"],
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(a):\n    b = a + a\n    return b, a\nwith g(f(h())) as i:\n    j\n",
            &["a = h()\nb = a + a\nwith g((b, a)) as i:\n    j\n"],
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(a):\n    a.b = 1\n    return a\nf(c)\n",
            &["c.b = 1\n"],
        );
    }

    #[test]
    fn methods_and_properties_take_their_receiver() {
        check_edits(
            &INLINE_FUNCTIONS,
            "class A:\n    def f(self, x):\n        return self.g(x) + 1\n    @property\n    def h(self):\n        return self.i\ny = a.b.f(c.h)\n",
            &[
                "class A:\n    def f(self, x):\n        return self.g(x) + 1\ny = a.b.f(c.i)\n",
                "class A:\n    @property\n    def h(self):\n        return self.i\ny = a.b.g(c.h) + 1\n",
            ],
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "class A:\n    async def f(self):\n        await g(self)\nasync def h(a):\n    await a.f()\n",
            &["class A:\n    pass\nasync def h(a):\n    await g(a)\n"],
        );
    }

    #[test]
    fn a_function_of_the_same_name_is_no_method() {
        check_edits(
            &INLINE_FUNCTIONS,
            "class A:\n    def f(self): g()\ndef f(x):\n    x.f()\nf(1), f(2)\n",
            &["class A:\n    pass\ndef f(x):\n    g()\nf(1), f(2)\n"],
        );
    }

    #[test]
    fn attributes_stand_for_their_parameter_wherever_it_is_used() {
        check_edits(
            &INLINE_FUNCTIONS,
            "class A:\n    def f(self, x):\n        return self.g(x) + self.h(x)\ny = self.b.f(c.d)\n",
            &["class A:\n    pass\ny = self.b.g(c.d) + self.b.h(c.d)\n"],
        );
    }

    #[test]
    fn lines_stay_out_of_comprehensions() {
        check_none(
            &INLINE_FUNCTIONS,
            "def f(x):\n    g(x)\n    return h(x)\ny = [f(x) for x in z]\n",
        );
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(x):\n    return h(x)\ny = [f(x) for x in z]\n",
            &["y = [h(x) for x in z]\n"],
        );
    }

    #[test]
    fn nested_functions_return_for_themselves() {
        check_edits(
            &INLINE_FUNCTIONS,
            "def f():\n    def g(x):\n        if x: return 1\n        yield 2\n    return g\nh = f()\n",
            &["def g(x):\n    if x: return 1\n    yield 2\nh = g\n"],
        );
    }

    #[test]
    fn what_returns_early_yields_or_is_used_twice_stays() {
        check_none(
            &INLINE_FUNCTIONS,
            "def f(x):\n    if x: return 1\n    g()\nf(1)\n",
        );
        check_none(&INLINE_FUNCTIONS, "def f(): yield 1\nf()\n");
        check_none(&INLINE_FUNCTIONS, "def f(): g()\nf()\nf()\n");
        check_none(&INLINE_FUNCTIONS, "def f(n):\n    f(n - 1)\n");
        check_none(&INLINE_FUNCTIONS, "def f(*a): g(a)\nf(1)\n");
        check_none(&INLINE_FUNCTIONS, "def f(): g()\nwhile f(): pass\n");
        check_none(
            &INLINE_FUNCTIONS,
            "class A:\n    def f(self): g()\nx.f()\ny.f()\n",
        );
        check_none(
            &INLINE_FUNCTIONS,
            "class A:\n    def f(self): g()\nclass B:\n    def f(self): h()\nx.f()\n",
        );
    }
}
