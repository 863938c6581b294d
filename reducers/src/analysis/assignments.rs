//! The values that a program assigns to variables. Goes by names, and ignores the order of
//! execution. Called by the analyses that follow a value to where it is written out.

use crate::syntax::{
    AnyNodeRef, Program, Ranged,
    ast::Expr,
    scope::{Binding, BindingKind, Variable},
};

/// Whether an expression is a display or a text without anything in it.
pub(crate) fn is_empty(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(it) => it.value.is_empty(),
        Expr::BytesLiteral(it) => it.value.is_empty(),
        Expr::Dict(it) => it.items.is_empty(),
        Expr::List(it) => it.elts.is_empty(),
        Expr::Tuple(it) => it.elts.is_empty(),
        _ => false,
    }
}

/// The values that a program assigns to the first variable of a name; none if there is no such
/// variable, or it is also bound in another way: by a loop, as a parameter, by unpacking what is not
/// written out.
pub(crate) fn assigned_values<'a>(program: &'a Program, name: &str) -> Option<Vec<&'a Expr>> {
    values_of(program, program.scopes().named(name).next()?)
}

/// The values that assignments give to a variable alone; likewise.
pub(crate) fn values_of<'a>(program: &'a Program, variable: &Variable) -> Option<Vec<&'a Expr>> {
    let values = variable.bindings.iter().map(|binding| {
        let is_value = binding.kind == BindingKind::Value;
        assigned(program, binding).filter(|_| is_value)
    });
    let values: Option<Vec<&Expr>> = values.collect();
    values.filter(|values| !values.is_empty())
}

/// The value that a statement gives to a name, alone or with others that get theirs from the same
/// display.
fn assigned<'a>(program: &'a Program, binding: &Binding) -> Option<&'a Expr> {
    let statement = binding.statement;
    let nodes = &program.tree().nodes;
    // They stand in the order of the text.
    let first = nodes.partition_point(|node| node.node.start() < statement.start());
    let same_start = nodes[first..]
        .iter()
        .take_while(|node| node.node.start() == statement.start());
    let mut assignments = same_start.filter_map(|node| match node.node {
        AnyNodeRef::StmtAssign(assign) if assign.range == statement => Some(assign),
        _ => None,
    });
    let assign = assignments.next()?;
    let [target] = assign.targets.as_slice() else {
        return None;
    };
    if target.is_name_expr() {
        return Some(&assign.value);
    }
    // What is unpacked may be written out all the same.
    let (targets, values) = (elements(target)?, elements(&assign.value)?);
    let mut all = targets.iter().chain(values);
    let is_plain = targets.len() == values.len() && !all.any(Expr::is_starred_expr);
    let mut pairs = targets.iter().zip(values).filter(|_| is_plain);
    pairs.find_map(|(target, value)| (target.range() == binding.range).then_some(value))
}

/// The elements of a tuple or a list that is written out.
pub(crate) fn elements(display: &Expr) -> Option<&[Expr]> {
    match display {
        Expr::Tuple(tuple) => Some(&tuple.elts),
        Expr::List(list) => Some(&list.elts),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_if_a_variable_is_only_assigned() {
        let text =
            "x = 1\ndef f(y):\n    x = g(2)\n    y = 3\na, b = 4, 5\n*c, d = 6, 7\nx = g(6)\n";
        let program = Program::parse(text).unwrap();
        let of = |name: &str| {
            let values = assigned_values(&program, name)?.into_iter();
            Some(
                values
                    .map(|value| program.slice(value.range()))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of("x"), Some(vec!["1", "g(6)"]));
        assert_eq!(of("b"), Some(vec!["5"]));
        assert_eq!(["y", "d", "f", "z"].map(of), [None, None, None, None]);
    }
}
