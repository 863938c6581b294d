use crate::{
    analysis::{calls::call_of, statements::Statements},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::as_primary,
    },
    syntax::{
        Program, Ranged, TextRange, Tree,
        ast::{ArgOrKeyword, Decorator, Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef},
        scope::Variable,
    },
};

pass! {
    /// Replaces uses of a function that only calls another function, or that only returns an
    /// expression and has no parameters, with that function or expression, and objects that do
    /// nothing but keep a value with that value.
    ///
    /// A decorated function that is used once is replaced with the function that it calls,
    /// decorated in place.
    ///
    /// ```python before
    /// def f(x, y):
    ///     return g(x, y)
    /// print(f(1, 2))
    /// ```
    /// ```python after
    /// print(g(1, 2))
    /// ```
    pub(crate) static INLINE_WRAPPERS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for variable in cx.program.scopes().variables.iter().rev() {
        if let Some(edits) = unheld(cx.program, &statements, tree, variable)
            && cx.scales.gains(&edits)
        {
            out.propose(
                edits,
                Prior::Even,
                format!("what `{}` holds", variable.name),
            );
            out.next_group();
            continue;
        }
        let is_used = !variable.uses.is_empty();
        let Some(def) = variable.only_function(tree).filter(|_| is_used) else {
            continue;
        };
        let is_recursive = variable
            .uses
            .iter()
            .any(|usage| def.range.contains_range(usage.range));
        let Some(place) = statements.place(def.range).filter(|_| !is_recursive) else {
            continue;
        };
        let removal = EditSet::removal(place);
        if let [only] = variable.uses.as_slice()
            && let Some((range, text)) = decorated(cx.program, tree, def, only.range)
        {
            let mut edits = removal.clone();
            edits.edit(Edit::replace(range, text.as_str()));
            if cx.scales.gains(&edits) {
                out.propose(
                    edits,
                    Prior::Even,
                    format!("`{text}` instead of `{}`", def.name),
                );
            }
        }
        let uses = variable.uses.iter().map(|usage| usage.range);
        let found = match (wrapped(def), parameterless(def)) {
            (Some(function), _) => Some((function, uses.collect::<Vec<TextRange>>())),
            (None, Some(value)) => uses
                .map(|usage| bare_call_of(tree, usage))
                .collect::<Option<_>>()
                .map(|call| (value, call)),
            (None, None) => None,
        };
        let Some((inner, replaced)) = found else {
            continue;
        };
        let mut edits = removal;
        let text = cx.program.slice(inner.range());
        for range in replaced {
            edits.edit(Edit::replace(range, text));
        }
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("`{text}` instead of `{}`", def.name),
            );
        }
        out.next_group();
    }
}

/// The edits that replace every object of a class with the value that is its only attribute.
fn unheld(
    program: &Program,
    statements: &Statements<'_>,
    tree: &Tree<'_>,
    variable: &Variable,
) -> Option<EditSet> {
    let class = variable.only_class(tree)?;
    let value = held(class)?;
    let text = as_primary(value, program.slice(value.range()));
    let mut edits = EditSet::removal(statements.place(class.range)?);
    let mut objects = variable
        .uses
        .iter()
        .filter(|usage| !class.range.contains_range(usage.range))
        .map(|usage| bare_call_of(tree, usage.range))
        .peekable();
    objects.peek()?;
    for object in objects {
        edits.edit(Edit::replace(object?, text.as_str()));
    }
    Some(edits)
}

/// The value of the only attribute of a class's objects, if the class does nothing else.
fn held(class: &StmtClassDef) -> Option<&Expr> {
    let [Stmt::FunctionDef(init)] = class.body.as_slice() else {
        return None;
    };
    let [Stmt::Assign(stmt)] = init.body.as_slice() else {
        return None;
    };
    let ([Expr::Attribute(attribute)], [own]) =
        (stmt.targets.as_slice(), init.parameters.args.as_slice())
    else {
        return None;
    };
    let object = attribute.value.as_name_expr()?;
    let is_plain = init.name.as_str() == "__init__"
        && init.parameters.len() == 1
        && object.id == own.name().id
        && class.decorator_list.is_empty();
    is_plain.then_some(&*stmt.value)
}

/// The replacement for the only use of a decorated function: the function that it calls, decorated
/// in place.
fn decorated(
    program: &Program,
    tree: &Tree<'_>,
    def: &StmtFunctionDef,
    used: TextRange,
) -> Option<(TextRange, String)> {
    let (range, inner, arguments) = if let Some(function) = wrapped(def) {
        (used, function, "")
    } else {
        let Expr::Call(call) = result(def)? else {
            return None;
        };
        let is_plain = def.parameters.is_empty() && !def.is_async;
        (
            bare_call_of(tree, used).filter(|_| is_plain)?,
            &*call.func,
            program.slice(call.arguments.range),
        )
    };
    let decorate = |inner: String, decorator: &Decorator| {
        format!("{}({inner})", program.slice(decorator.expression.range()))
    };
    let is_decorated = !def.decorator_list.is_empty();
    let dressed = def
        .decorator_list
        .iter()
        .rev()
        .fold(program.slice(inner.range()).to_owned(), decorate);
    is_decorated.then(|| (range, dressed + arguments))
}

/// The expression that a function of one statement returns or evaluates.
fn result(def: &StmtFunctionDef) -> Option<&Expr> {
    match def.body.as_slice() {
        [Stmt::Return(stmt)] => stmt.value.as_deref(),
        [Stmt::Expr(stmt)] => Some(&stmt.value),
        _ => None,
    }
}

/// The function, called by name, to which a function passes its parameters unchanged.
fn wrapped(def: &StmtFunctionDef) -> Option<&Expr> {
    let value = result(def)?;
    // An `async` function passes on only the result of an `await`.
    let call = match value {
        Expr::Await(it) if def.is_async => it.value.as_call_expr()?,
        _ if def.is_async => return None,
        other => other.as_call_expr()?,
    };
    let is_named = |mut expr: &Expr| {
        while let Expr::Attribute(it) = expr {
            expr = &it.value;
        }
        expr.is_name_expr() && !binds(&def.parameters, expr)
    };
    let arguments = &call.arguments;
    let parameters = def.parameters.iter_source_order();
    let hands_on = arguments.len() == def.parameters.len()
        && parameters
            .zip(arguments.arguments_source_order())
            .all(|(parameter, argument)| {
                let name = parameter.name();
                let (value, is_spread) = match argument {
                    ArgOrKeyword::Arg(Expr::Starred(it)) => (&*it.value, true),
                    ArgOrKeyword::Arg(value) => (value, false),
                    ArgOrKeyword::Keyword(keyword) => {
                        if keyword
                            .arg
                            .as_ref()
                            .is_some_and(|given| given.id != name.id)
                        {
                            return false;
                        }
                        (&keyword.value, keyword.arg.is_none())
                    }
                };
                value
                    .as_name_expr()
                    .is_some_and(|other| other.id == name.id)
                    && parameter.is_variadic() == is_spread
            });
    (hands_on && is_named(&call.func)).then_some(&*call.func)
}

/// The expression that a function without parameters returns or evaluates, if it can replace a call
/// of the function anywhere.
fn parameterless(def: &StmtFunctionDef) -> Option<&Expr> {
    let value = result(def)?;
    let is_plain = !def.is_async && def.parameters.is_empty() && def.decorator_list.is_empty();
    (is_plain
        && matches!(
            value,
            Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Name(_)
        ))
    .then_some(value)
}

/// The call without arguments whose callee stands at a range.
fn bare_call_of(tree: &Tree<'_>, callee: TextRange) -> Option<TextRange> {
    let call = call_of(tree, callee);
    call.filter(|call| call.arguments.is_empty())
        .map(|call| call.range)
}

fn binds(parameters: &Parameters, name: &Expr) -> bool {
    name.as_name_expr()
        .is_some_and(|name| parameters.includes(&name.id))
}

#[cfg(test)]
mod tests {
    use super::INLINE_WRAPPERS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn uses_name_what_is_wrapped() {
        check_edits(
            &INLINE_WRAPPERS,
            "def f(a, *b, k=1, **c): return m.g(a, *b, k=k, **c)\nmap(f, x)\nf(1)\n",
            &["map(m.g, x)\nm.g(1)\n"],
        );
        check_edits(
            &INLINE_WRAPPERS,
            "async def f(a): return await g(a)\nh(f)\n",
            &["h(g)\n"],
        );
    }

    #[test]
    fn calls_without_arguments_become_what_is_called() {
        check_edits(
            &INLINE_WRAPPERS,
            "def f(): g(1)\nf()\nwhile f(): f()\n",
            &["g(1)\nwhile g(1): g(1)\n"],
        );
        check_none(
            &INLINE_WRAPPERS,
            "def f(): g(1)\nh(f)\ndef i(): yield\ni()\n",
        );
    }

    #[test]
    fn decorators_go_to_what_is_called() {
        check_edits(
            &INLINE_WRAPPERS,
            "@a\n@b(k=1)\ndef f(): g.h(1, *x)\nf()\n",
            &["a(b(k=1)(g.h))(1, *x)\n"],
        );
        check_edits(
            &INLINE_WRAPPERS,
            "@a\ndef f(x): return g(x)\nprint(f(1))\n",
            &["print(a(g)(1))\n", "print(g(1))\n"],
        );
        check_none(&INLINE_WRAPPERS, "@a\ndef f(): g(1)\nf()\nf()\n");
    }

    #[test]
    fn objects_become_what_they_hold() {
        check_edits(
            &INLINE_WRAPPERS,
            "class C:\n    def __init__(self):\n        self.a = g(1)\nf(C())\nh(x, C())\n",
            &["f(g(1))\nh(x, g(1))\n"],
        );
        check_none(
            &INLINE_WRAPPERS,
            "class C:\n    def __init__(self):\n        self.a = g(1)\nf(C)\n\
             class D:\n    def __init__(self, b):\n        self.a = b\nf(D(1))\n\
             class E:\n    def __init__(self):\n        self.a = 1\n    def m(self): pass\nE()\n",
        );
    }

    #[test]
    fn what_does_more_stays() {
        check_none(
            &INLINE_WRAPPERS,
            "def f(a): return g(a, 1)\ndef h(a, b): return g(b, a)\ndef i(g): return g(g)\ndef j(a): return j(a)\nf, h, i, j\n",
        );
    }
}
