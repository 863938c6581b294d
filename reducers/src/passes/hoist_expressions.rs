use super::replace_expressions::values;
use crate::{
    edit::{Edit, EditSet},
    pass::{Cx, Prior, Proposals, Stage, pass},
    paste::parentheses,
    syntax::{
        Program, Ranged, TextRange,
        ast::{self, Expr},
    },
};

pass! {
    /// Replaces an expression by a part of it: a call by its receiver or an argument, an operation by an operand.
    ///
    /// ```python before
    /// x = f(a) + b
    /// ```
    /// ```python after
    /// x = f(a)
    /// ```
    pub(crate) static HOIST_EXPRESSIONS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    for (expr, _) in values(cx.program) {
        for part in parts(expr) {
            if let Some(edits) = keep(cx.program, expr.range(), part) {
                let short: String = cx.program.slice(part.range()).chars().take(40).collect();
                out.propose(edits, Prior::Unlikely, format!("down to `{short}`"));
                out.next_group();
            }
        }
    }
}

/// The parts that could stand for the whole, the most promising first.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Call(call) => {
            let receiver = match &*call.func {
                Expr::Attribute(attribute) => Some(&*attribute.value),
                _ => None,
            };
            let arguments =
                call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|it| &it.value));
            receiver.into_iter().chain(arguments.filter(|it| !it.is_starred_expr())).collect()
        }
        Expr::BinOp(it) => vec![&it.left, &it.right],
        Expr::BoolOp(it) => it.values.iter().collect(),
        Expr::Compare(it) => std::iter::once(&*it.left).chain(&it.comparators).collect(),
        Expr::UnaryOp(it) => vec![&it.operand],
        Expr::If(it) => vec![&it.body, &it.orelse],
        Expr::Subscript(it) => vec![&it.value],
        Expr::Attribute(it) => vec![&it.value],
        Expr::Await(ast::ExprAwait { value, .. }) | Expr::YieldFrom(ast::ExprYieldFrom { value, .. }) => {
            vec![value]
        }
        Expr::List(it) if it.elts.len() == 1 => it.elts.iter().filter(|it| !it.is_starred_expr()).collect(),
        _ => Vec::new(),
    }
}

/// The edits that leave a part of an expression, in parentheses where it needs them.
fn keep(program: &Program, whole: TextRange, part: &Expr) -> Option<EditSet> {
    let (open, close) = parentheses(program, part, whole);
    let mut edits = EditSet::default();
    edits.edit(Edit::replace(TextRange::new(whole.start(), part.start()), open));
    edits.edit(Edit::replace(TextRange::new(part.end(), whole.end()), close));
    let tokens = |range: TextRange| program.token_from(range.end()) - program.token_from(range.start());
    (tokens(part.range()) + open.len() + close.len() < tokens(whole)).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::HOIST_EXPRESSIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn parts_stand_for_the_whole() {
        check_edits(&HOIST_EXPRESSIONS, "x = a.f(b, k=c)\n", &["x = a\n", "x = b\n", "x = c\n"]);
        check_edits(&HOIST_EXPRESSIONS, "y = a if b else c\n", &["y = a\n", "y = c\n"]);
    }

    #[test]
    fn a_plain_value_has_no_parts() {
        check_none(&HOIST_EXPRESSIONS, "x = a\ny = 1\nz = 'b'\n");
    }
}
