//! The polarity of a reporting statement: whether it reports if its condition holds or if it does
//! not. A program that reports where another is silent shows the opposite, in the same words.
//! Called by the judge; proposes nothing.

use crate::{
    analysis::{
        dependence_check::{Nodes, ReportSite, Rest, told},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{CmpOp, Expr, UnaryOp},
    },
};

/// Whether the nearest condition reports if its question is answered by no, where `x == y` and
/// `x != y` ask the same question. None if it asks several questions, or if several statements may
/// have reported.
pub fn reports_failure(program: &Program, report_site: &ReportSite) -> Option<bool> {
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        of_frames(tree, nodes, &frames)
    });
    match found.as_slice() {
        [one] => *one,
        _ => None,
    }
}

fn of_frames(tree: &StatementTree<'_>, nodes: &Nodes<'_>, frames: &[usize]) -> Option<bool> {
    let reporting = tree.statements[*frames.last()?].range;
    let nearest = *Rest::of(tree, nodes).conditions_of(frames).first()?;
    match tree.statements[nearest].node {
        AnyNodeRef::StmtAssert(assert) => Some(!negates(&assert.test)?),
        AnyNodeRef::StmtIf(branch) => {
            let clauses = branch.elif_else_clauses.as_slice();
            let is_in_body = branch
                .body
                .iter()
                .any(|statement| statement.range().contains_range(reporting));
            match clauses {
                _ if is_in_body => negates(&branch.test),
                [] => Some(!negates(&branch.test)?),
                [last] if last.test.is_none() => Some(!negates(&branch.test)?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a test is true if its question is answered by no; none if it asks several questions.
fn negates(test: &Expr) -> Option<bool> {
    match test {
        Expr::BoolOp(_) => None,
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
            Some(!negates(&operation.operand)?)
        }
        Expr::Compare(compare) => {
            let [operator] = &*compare.ops else {
                return None;
            };
            let is_negative = matches!(
                operator,
                CmpOp::NotEq | CmpOp::GtE | CmpOp::LtE | CmpOp::NotIn | CmpOp::IsNot
            );
            let is_false = |side: &Expr| {
                let constant = side.as_boolean_literal_expr();
                constant.is_some_and(|constant| !constant.value)
            };
            let mut sides = std::iter::once(&*compare.left).chain(&compare.comparators);
            Some(is_negative != sides.any(is_false))
        }
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<bool>) {
        let program = Program::parse(text).unwrap();
        let line = text
            .lines()
            .position(|line| line.contains("raise") || line.contains("assert"));
        let site = ReportSite::Raised(vec![line.unwrap() as u32 + 1]);
        assert_eq!(reports_failure(&program, &site), expected, "{text}");
    }

    #[test]
    fn what_is_asked_fails_or_holds() {
        check("assert f(x)\n", Some(true));
        check("if not f(x):\n    raise E\n", Some(true));
        check("if f(x) == False:\n    raise E\n", Some(true));
        check("if x != y:\n    raise E\n", Some(true));
        check("assert x == y\n", Some(true));
        check("if f(x):\n    pass\nelse:\n    raise E\n", Some(true));
        check(
            "def g():\n    if f(x):\n        return\n    raise E\ng()\n",
            Some(true),
        );
        check("if f(x):\n    raise E\n", Some(false));
        check("assert x != y\n", Some(false));
        check("if x < y:\n    raise E\n", Some(false));
        check("assert f(x) and g(x)\n", None);
        check("raise E\n", None);
    }
}
