//! The rows of numbers that a program writes out as data: lists and tuples of numbers, and single
//! numbers of which an array is made. Called by the judge; proposes nothing.

use crate::{
    analysis::watch::is_maker,
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, UnaryOp},
    },
};

/// The numbers of each row, as they are written.
pub fn number_rows(program: &Program) -> Vec<Vec<String>> {
    let numbers = |elements: &[Expr]| {
        let are_numbers = !elements.is_empty() && elements.iter().all(is_number);
        let text = |element: &Expr| program.slice(element.range()).to_owned();
        are_numbers.then(|| elements.iter().map(text).collect())
    };
    let nodes = program.tree().nodes.iter();
    let rows = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprList(list) => numbers(&list.elts),
        AnyNodeRef::ExprTuple(tuple) => numbers(&tuple.elts),
        AnyNodeRef::ExprCall(call) if is_maker(call) => numbers(&call.arguments.args),
        _ => None,
    });
    rows.collect()
}

/// How many zeros a program writes out; those that are keys only name something.
pub fn zeros(program: &Program) -> usize {
    let is_key = |node: AnyNodeRef<'_>, parent: AnyNodeRef<'_>| {
        parent.as_expr_dict().is_some_and(|dict| {
            let mut keys = dict.items.iter().filter_map(|item| item.key.as_ref());
            keys.any(|key| key.range() == node.range())
        })
    };
    count_zeros(program, |node, parent| !is_key(node, parent))
}

/// How many zeros are operands of an arithmetic operation: the result is the other operand, or
/// nothing.
pub fn zero_operands(program: &Program) -> usize {
    count_zeros(program, |_, parent| parent.is_expr_bin_op())
}

/// How many zeros with such a parent a program writes out.
fn count_zeros(
    program: &Program,
    counts: impl Fn(AnyNodeRef<'_>, AnyNodeRef<'_>) -> bool,
) -> usize {
    let tree = program.tree();
    let is_zero = |node: AnyNodeRef<'_>| {
        node.is_expr_number_literal() && program.slice(node.range()).parse() == Ok(0.0)
    };
    let nodes = tree.nodes.iter().filter(|node| is_zero(node.node));
    let counted = nodes.filter(|node| {
        let parent = node.parent.map(|parent| tree.nodes[parent as usize].node);
        parent.is_none_or(|parent| counts(node.node, parent))
    });
    counted.count()
}

/// Whether a row is what is left of another after some of its numbers were removed.
pub fn is_left_of(row: &[String], whole: &[String]) -> bool {
    let mut rest = whole.iter();
    row.iter().all(|number| rest.any(|other| other == number))
}

fn is_number(element: &Expr) -> bool {
    match element {
        Expr::NumberLiteral(_) => true,
        Expr::UnaryOp(operation) => operation.op == UnaryOp::USub && is_number(&operation.operand),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_operands() {
        let count = |text: &str| zero_operands(&Program::parse(text).unwrap());
        assert_eq!(count("abs(0 - x) + 0.0\n"), 2);
        assert_eq!(count("f(0, x[0] - 1)\nx = 0\nx == 0\n"), 0);
    }

    #[test]
    fn rows_are_found_and_compared() {
        let text = "x = torch.tensor([[3.0, -1], [2, a]])\ny = torch.tensor(2.5)\nf(4)\n";
        let rows = number_rows(&Program::parse(text).unwrap());
        assert_eq!(rows, [vec!["3.0", "-1"], vec!["2.5"]]);
        assert_eq!(
            zeros(&Program::parse("f(0, [0.0], 10, '0', {0: 1})\n").unwrap()),
            2
        );
        let row = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_left_of(&row("3 5"), &row("3 1 5")));
        assert!(!is_left_of(&row("5 3"), &row("3 1 5")));
        assert!(!is_left_of(&row("1 1 1"), &row("3 1 3")));
    }
}
