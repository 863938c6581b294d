use std::collections::{BTreeSet, VecDeque};

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::unwrap::keep_part,
    syntax::{
        AnyNodeRef, Program, Ranged, TextSize,
        ast::{self, Expr},
        positions::{Role, expressions},
        scope::BindingKind,
    },
};

pass! {
    /// Replaces an expression with a part of it: a call with its receiver or an argument, an
    /// operation with an operand.
    ///
    /// ```python before
    /// x = f(a) + b
    /// ```
    /// ```python after
    /// x = f(a)
    /// ```
    pub(crate) static HOIST_EXPRESSIONS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let modules = modules(cx.program);
    for place in expressions(cx.program) {
        for part in parts(place.expr, place.role) {
            let is_module = modules.contains(&part.start()) && part.is_name_expr();
            // A number has no elements and cannot be called.
            let is_number =
                place.role == Role::Base && (part.is_number_literal_expr() || is_constant(part));
            if is_module || is_number {
                continue;
            }
            let is_doubled_brace =
                place.behind_brace && cx.program.slice(part.range()).starts_with('{');
            if let Some(edits) = keep_part(cx.program, place.expr.range(), part)
                && !is_doubled_brace
            {
                let note = format!("reduced to `{}`", cx.program.excerpt(part.range()));
                out.propose(edits, Prior::Unlikely, note);
                out.next_group();
            }
        }
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_)
    )
}

/// The starts of names of modules: imported, and used only for their attributes. A module never
/// replaces one of its attributes.
fn modules(program: &Program) -> BTreeSet<TextSize> {
    let looked_into: BTreeSet<TextSize> = program
        .tree()
        .nodes
        .iter()
        .filter_map(|node| match node.node {
            AnyNodeRef::ExprAttribute(it) if it.value.is_name_expr() => Some(it.value.start()),
            _ => None,
        })
        .collect();
    let variables = program.scopes().variables.iter();
    variables
        .filter(|variable| {
            variable
                .bindings
                .iter()
                .all(|binding| binding.kind == BindingKind::Import)
        })
        .filter(|variable| {
            variable
                .uses
                .iter()
                .all(|usage| looked_into.contains(&usage.range.start()))
        })
        .flat_map(|variable| variable.uses.iter().map(|usage| usage.range.start()))
        .collect()
}

/// The parts that can replace the whole, the most promising first.
fn parts(expr: &Expr, role: Role) -> Vec<&Expr> {
    let mut parts: Vec<&Expr> = match expr {
        Expr::Call(call) => of_call(call, role),
        Expr::BinOp(_) => of_arithmetic(expr)
            .into_iter()
            .chain(operands(expr))
            .collect(),
        Expr::BoolOp(it) => it.values.iter().collect(),
        Expr::Compare(it) => std::iter::once(&*it.left).chain(&it.comparators).collect(),
        Expr::UnaryOp(_) => operands(expr),
        Expr::If(it) => vec![&it.body, &it.orelse, &it.test],
        Expr::Subscript(it) => looked_up(it)
            .into_iter()
            .chain([&*it.value, &it.slice])
            .collect(),
        // An inner attribute can hardly ever be left out: `a.b.c()` is no chain of calls.
        Expr::Attribute(it) if role != Role::Base => vec![&it.value],
        Expr::Named(it) => vec![&it.value],
        Expr::Lambda(it) => vec![&it.body],
        Expr::Await(ast::ExprAwait { value, .. })
        | Expr::YieldFrom(ast::ExprYieldFrom { value, .. }) => {
            vec![value]
        }
        Expr::Yield(it) => it.value.as_deref().into_iter().collect(),
        Expr::Slice(it) => [&it.lower, &it.upper, &it.step]
            .into_iter()
            .filter_map(|bound| bound.as_deref())
            .collect(),
        Expr::ListComp(it) => of_comprehension(&it.generators),
        Expr::SetComp(it) => of_comprehension(&it.generators),
        Expr::DictComp(it) => of_comprehension(&it.generators),
        Expr::Generator(it) => of_comprehension(&it.generators),
        // If there are several elements, another pass removes all but one first.
        Expr::List(it) if it.elts.len() == 1 => it.elts.iter().collect(),
        Expr::Set(it) if it.elts.len() == 1 => it.elts.iter().collect(),
        Expr::Tuple(it) if it.elts.len() <= 2 => it.elts.iter().collect(),
        Expr::Dict(it) if it.items.len() == 1 => it
            .items
            .iter()
            .flat_map(|item| [Some(&item.value), item.key.as_ref()])
            .flatten()
            .collect(),
        Expr::FString(it) => {
            let fields = it
                .value
                .elements()
                .filter_map(ast::InterpolatedStringElement::as_interpolation);
            fields.map(|field| &*field.expression).collect()
        }
        _ => Vec::new(),
    };
    let holds_slice = |tuple: &ast::ExprTuple| tuple.elts.iter().any(Expr::is_slice_expr);
    parts.retain(|part| match part {
        Expr::Starred(_) | Expr::Slice(_) => false,
        Expr::Tuple(tuple) => !holds_slice(tuple),
        _ => true,
    });
    parts
}

fn of_call(call: &ast::ExprCall, role: Role) -> Vec<&Expr> {
    let receiver = match &*call.func {
        Expr::Attribute(attribute) => Some(&*attribute.value),
        _ => None,
    };
    // The expression that is called may fail itself.
    let is_made = !matches!(*call.func, Expr::Name(_) | Expr::Attribute(_));
    let func = (role == Role::Callable || is_made).then_some(&*call.func);
    let arguments = call
        .arguments
        .args
        .iter()
        .chain(call.arguments.keywords.iter().map(|keyword| &keyword.value));
    let mut parts: Vec<&Expr> = func.into_iter().chain(receiver).chain(arguments).collect();
    // Calls further down the chain: `a()` in `a().b().c()`.
    let mut below = receiver.and_then(receiver_of);
    while let Some(expr) = below {
        if expr.is_call_expr() {
            parts.push(expr);
        }
        below = receiver_of(expr);
    }
    parts
}

/// The object that an expression calls a method of or looks into.
fn receiver_of(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(it) => match &*it.func {
            Expr::Attribute(attribute) => Some(&*attribute.value),
            _ => None,
        },
        Expr::Attribute(it) => Some(&*it.value),
        Expr::Subscript(it) => Some(&*it.value),
        _ => None,
    }
}

/// The element of a display, or the keyword argument of a call, that a literal key looks up.
fn looked_up(subscript: &ast::ExprSubscript) -> Option<&Expr> {
    let is_key = |key: &str| matches!(&*subscript.slice, Expr::StringLiteral(it) if it.value.to_str() == key);
    let at = |row: &'_ [Expr]| match &*subscript.slice {
        Expr::NumberLiteral(it) => {
            Some(it.value.as_int()?.as_usize()?).filter(|at| *at < row.len())
        }
        _ => None,
    };
    match &*subscript.value {
        Expr::Tuple(it) => it.elts.get(at(&it.elts)?),
        Expr::List(it) => it.elts.get(at(&it.elts)?),
        Expr::Dict(it) => {
            let has_key = |item: &&ast::DictItem| matches!(&item.key, Some(Expr::StringLiteral(it)) if is_key(it.value.to_str()));
            it.items.iter().find(has_key).map(|item| &item.value)
        }
        Expr::Call(call) => {
            let is_named = |keyword: &&ast::Keyword| {
                keyword
                    .arg
                    .as_ref()
                    .is_some_and(|name| is_key(name.as_str()))
            };
            call.arguments
                .keywords
                .iter()
                .find(is_named)
                .map(|keyword| &keyword.value)
        }
        _ => None,
    }
}

/// The variables that operands are calculated from, each once.
fn of_arithmetic(expr: &Expr) -> Vec<&Expr> {
    let mut found: Vec<&ast::ExprName> = Vec::new();
    let mut variables = Vec::new();
    let mut left: VecDeque<&Expr> = operands(expr).into_iter().flat_map(operands).collect();
    while let Some(expr) = left.pop_front() {
        if let Expr::Name(name) = expr
            && !found.iter().any(|known| known.id == name.id)
        {
            found.push(name);
            variables.push(expr);
        }
        left.extend(operands(expr));
    }
    variables
}

fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinOp(it) => vec![&it.left, &it.right],
        Expr::UnaryOp(it) => vec![&it.operand],
        _ => Vec::new(),
    }
}

fn of_comprehension(generators: &[ast::Comprehension]) -> Vec<&Expr> {
    generators
        .iter()
        .take(1)
        .map(|clause| &clause.iter)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::HOIST_EXPRESSIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn calls_over_several_lines_need_no_parentheses() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = y(f(\n    1,\n).g - 0)\n",
            &[
                "x = f(\n    1,\n).g - 0\n",
                "x = y(f(\n    1,\n).g)\n",
                "x = y(0)\n",
                "x = y(f(\n    1,\n) - 0)\n",
            ],
        );
    }

    #[test]
    fn what_is_looked_up_where_it_is_written_comes_first() {
        for text in [
            "{'a': b, 'c': d}['c']",
            "dict(a=b, c=d)['c']",
            "(b, d)[1]",
            "[b, d, b][1]",
        ] {
            let program = crate::syntax::Program::parse(format!("x = {text}\n")).unwrap();
            let first = &HOIST_EXPRESSIONS.proposals(&program)[0];
            assert_eq!(first.edits.apply(&program).unwrap(), "x = d\n");
        }
    }

    #[test]
    fn parts_stand_for_the_whole() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = a.f(b, k=c)\n",
            &["x = a\n", "x = b\n", "x = c\n"],
        );
        check_edits(
            &HOIST_EXPRESSIONS,
            "y = a if b else c\n",
            &["y = a\n", "y = c\n", "y = b\n"],
        );
        check_edits(&HOIST_EXPRESSIONS, "y = lambda: a\n", &["y = a\n"]);
        check_edits(
            &HOIST_EXPRESSIONS,
            "y = a().b().c()\n",
            &["y = a().b()\n", "y = a()\n", "y = a().c()\n"],
        );
        check_edits(&HOIST_EXPRESSIONS, "y = [a for a in b]\n", &["y = b\n"]);
    }

    #[test]
    fn what_is_calculated_with_stands_for_the_whole_at_once() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = 1 + (n * -n) % 9\n",
            &[
                "x = n\n",
                "x = 1\n",
                "x = (n * -n) % 9\n",
                "x = 1 + n\n",
                "x = 1 + (n * -n)\n",
                "x = 1 + 9\n",
                "x = 1 + (n) % 9\n",
                "x = 1 + (n) % 9\n",
                "x = 1 + (-n) % 9\n",
                "x = 1 + (n * n) % 9\n",
            ],
        );
        check_edits(&HOIST_EXPRESSIONS, "x = a + b\n", &["x = a\n", "x = b\n"]);
    }

    #[test]
    fn chains_and_decorators() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = a.b().c()\n",
            &["x = a.b()\n", "x = a.c()\n"],
        );
        check_edits(
            &HOIST_EXPRESSIONS,
            "@a(b)\ndef f(): pass\n",
            &["@a\ndef f(): pass\n", "@b\ndef f(): pass\n"],
        );
    }

    #[test]
    fn what_is_called_may_be_made_by_a_call() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = f()(a)\n",
            &["x = f()\n", "x = a\n"],
        );
        check_edits(&HOIST_EXPRESSIONS, "x[0]()\n", &["x[0]\n", "x()\n"]);
    }

    #[test]
    fn formatted_strings() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "x = f'{-a}'\n",
            &["x = -a\n", "x = f'{a}'\n"],
        );
        check_edits(
            &HOIST_EXPRESSIONS,
            "f'{a.b({1: 2}.c)}'\n",
            &["a.b({1: 2}.c)\n", "f'{a}'\n", "f'{a.b({1: 2})}'\n"],
        );
    }

    #[test]
    fn modules_do_not_stand_for_what_is_in_them() {
        check_edits(
            &HOIST_EXPRESSIONS,
            "import a\nx = a.b(c)\n",
            &["import a\nx = c\n"],
        );
        check_none(&HOIST_EXPRESSIONS, "from a import b\nx = b.c\n");
        let text = "from a import b\nb()\nx = b.c\n";
        check_edits(&HOIST_EXPRESSIONS, text, &["from a import b\nb()\nx = b\n"]);
    }

    #[test]
    fn words_are_not_glued() {
        check_none(&HOIST_EXPRESSIONS, "def f(): return[a]\n");
    }

    #[test]
    fn a_plain_value_has_no_parts() {
        check_none(&HOIST_EXPRESSIONS, "x = a\ny = 1\nz = 'b'\n");
    }
}
