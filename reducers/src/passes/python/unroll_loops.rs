use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::{parentheses, tuple},
        unwrap::unwrap_block,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Comprehension, Expr, ExprCall, StmtFor},
    },
};

pass! {
    /// Replaces a loop or a comprehension over known elements with its first iteration.
    ///
    /// ```python before
    /// for name in ["a", "b"]:
    ///     f(name)
    /// ```
    /// ```python after
    /// name = "a"
    /// f(name)
    /// ```
    pub(crate) static UNROLL_LOOPS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    for node in tree.nodes.iter().rev() {
        let edits = match node.node {
            AnyNodeRef::StmtFor(stmt) if stmt.orelse.is_empty() => unroll(cx.program, stmt),
            AnyNodeRef::ExprListComp(it) => {
                one(cx.program, tree, it.range, it.elt.range(), &it.generators)
            }
            AnyNodeRef::ExprSetComp(it) => {
                one(cx.program, tree, it.range, it.elt.range(), &it.generators)
            }
            AnyNodeRef::ExprDictComp(it) => {
                let entry = it.key.range().cover(it.value.range());
                one(cx.program, tree, it.range, entry, &it.generators)
            }
            _ => continue,
        };
        if let Some(edits) = edits
            && cx.scales.gains(&edits)
        {
            let note = format!(
                "first iteration of `{}`",
                cx.program.excerpt(node.node.range())
            );
            out.propose(edits, Prior::Even, note);
        }
    }
}

/// The elements that a loop's first iteration binds: one, or several that make a tuple.
type First = Vec<String>;

/// The first element of an iterable, if the program tells it.
fn first(program: &Program, iter: &Expr) -> Option<First> {
    let elements = match iter {
        Expr::List(it) => &it.elts,
        Expr::Tuple(it) => &it.elts,
        Expr::Set(it) => &it.elts,
        Expr::Call(call) => return first_of_call(program, call),
        _ => return None,
    };
    let element = elements
        .first()
        .filter(|element| !element.is_starred_expr())?;
    Some(vec![program.slice(element.range()).to_owned()])
}

/// The first element of a `range`, an `enumerate` or a `zip`.
fn first_of_call(program: &Program, call: &ExprCall) -> Option<First> {
    let arguments = call.arguments.args.as_ref();
    if arguments.is_empty() || arguments.iter().any(Expr::is_starred_expr) {
        return None;
    }
    let text = |expr: &Expr| program.slice(expr.range()).to_owned();
    // The first element of an iterable that is iterated over together with others.
    let nested = |iter: &Expr| match first(program, iter)?.as_slice() {
        [element] => Some(element.clone()),
        elements => Some(tuple(elements)),
    };
    match call.func.as_name_expr()?.id.as_str() {
        "range" if arguments.len() == 1 => Some(vec!["0".to_owned()]),
        "range" => Some(vec![text(&arguments[0])]),
        "enumerate" => {
            let start = call.arguments.find_argument_value("start", 1);
            let start = start.map_or("0".to_owned(), text);
            Some(vec![start, nested(&arguments[0])?])
        }
        "zip" if arguments.len() > 1 => arguments.iter().map(nested).collect(),
        _ => None,
    }
}

/// The edits that bind the target to the first element and keep the body.
fn unroll(program: &Program, stmt: &StmtFor) -> Option<EditSet> {
    let first = first(program, &stmt.iter)?.join(", ");
    if first.contains('\n') {
        return None;
    }
    let target = program.slice(stmt.target.range());
    let binding = format!("{target} = {first}");
    let mut edits = unwrap_block(program, stmt.range, &stmt.body)?;
    let start = program.logical_start(stmt.start())?;
    let indent = program.slice(TextRange::new(start, stmt.start()));
    let newline = program.newline();
    let body = stmt.body.first()?;
    if program.logical_start(body.start()).is_some() {
        edits.edit(Edit::replace(
            TextRange::empty(start),
            format!("{indent}{binding}{newline}"),
        ));
    } else {
        edits.edit(Edit::replace(
            TextRange::empty(stmt.start()),
            format!("{binding}{newline}{indent}"),
        ));
    }
    Some(edits)
}

/// The edits that leave a comprehension one element, made of the first value.
fn one(
    program: &Program,
    tree: &Tree<'_>,
    whole: TextRange,
    element: TextRange,
    generators: &[Comprehension],
) -> Option<EditSet> {
    let ([clause], Some(last)) = (generators, generators.last()) else {
        return None;
    };
    let target = clause.target.as_name_expr()?;
    let uses: Vec<_> = tree
        .nodes
        .iter()
        .filter_map(|node| match node.node {
            AnyNodeRef::ExprName(name)
                if name.id == target.id && element.contains_range(name.range) =>
            {
                Some(name.range)
            }
            _ => None,
        })
        .collect();
    let end = program.previous_token(clause.start())?.end();
    let mut edits = EditSet::one(Edit::delete(TextRange::new(end, last.end())));
    if !uses.is_empty() {
        let elements = match &clause.iter {
            Expr::List(it) => &it.elts,
            Expr::Tuple(it) => &it.elts,
            _ => return None,
        };
        let value = elements
            .first()
            .filter(|element| !element.is_starred_expr())?;
        for place in uses {
            let (open, close) = parentheses(program, value, place);
            edits.edit(Edit::replace(
                place,
                format!("{open}{}{close}", program.slice(value.range())),
            ));
        }
    }
    (!program.slice(whole).contains('#')).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::UNROLL_LOOPS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn loops_turn_once() {
        check_edits(
            &UNROLL_LOOPS,
            "def f():\n    for i, j in [(1, 2), a]:\n        g(i)\n        h(j)\n    k()\n",
            &["def f():\n    i, j = (1, 2)\n    g(i)\n    h(j)\n    k()\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "for i in range(9): g(i); h()\nk()\n",
            &["i = 0\ng(i); h()\nk()\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "for i, a in enumerate([b], 1): c\n",
            &["i, a = 1, b\nc\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "for i, (a, b) in enumerate(zip([c], [d])): e\n",
            &["i, (a, b) = 0, (c, d)\ne\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "for a in zip((b, c), range(2)): d\n",
            &["a = b, 0\nd\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "for i in range(3, n):\r\n\tg(i)\r\n",
            &["i = 3\r\ng(i)\r\n"],
        );
    }

    #[test]
    fn comprehensions_have_one_element() {
        check_edits(
            &UNROLL_LOOPS,
            "a = {b: f(b) for b in [c, d] if b}\n",
            &["a = {c: f(c)}\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "x = [f(a) for b in c if d]\n",
            &["x = [f(a)]\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "x = {a.b for a in (c + d, e)}\n",
            &["x = {(c + d).b}\n"],
        );
        check_edits(
            &UNROLL_LOOPS,
            "x = {a: b[a] for a in ('c', 'd')}\n",
            &["x = {'c': b['c']}\n"],
        );
    }

    #[test]
    fn what_is_looped_over_must_be_known() {
        check_none(
            &UNROLL_LOOPS,
            "for a in b: c\nfor d in [*e]: f\nfor g in []: h\nx = [a for a in b]\n",
        );
    }
}
