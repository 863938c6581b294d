//! The polarity of conditions: whether a statement reports, or does what a report depends on, if
//! its question is answered by yes or by no. A program that reports where another is silent shows
//! the opposite, in the same words. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        dependence_check::{Nodes, ReportSite, Rest, told},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{CmpOp, Expr, Stmt, UnaryOp},
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

/// What a program does if questions are answered by yes, by no, or in either case.
pub type Answers = BTreeMap<String, BTreeSet<bool>>;

/// What a program does by the answers to questions. A question is named by the function or the
/// operators that answer it, so that it may be asked about other things.
pub fn answers(program: &Program) -> Answers {
    let mut found = Answers::new();
    let mut add = |test: &Expr, holds: bool, done: Option<String>| {
        let Some(done) = done else {
            return;
        };
        for (question, is_negative) in questions(program, test, false) {
            let answers = found.entry(format!("{question}: {done}")).or_default();
            answers.insert(is_negative != holds);
        }
    };
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::StmtIf(branch) => {
                let mut test = &*branch.test;
                for stmt in &branch.body {
                    add(test, true, done(program, stmt));
                }
                for clause in &branch.elif_else_clauses {
                    let holds = clause.test.is_some();
                    test = clause.test.as_ref().unwrap_or(test);
                    for stmt in &clause.body {
                        add(test, holds, done(program, stmt));
                    }
                }
            }
            AnyNodeRef::ExprIf(choice) => {
                for (value, holds) in [(&choice.body, true), (&choice.orelse, false)] {
                    let is_constant = value.is_literal_expr();
                    let text = program.slice(value.range()).to_owned();
                    add(&choice.test, holds, is_constant.then_some(text));
                }
            }
            AnyNodeRef::StmtAssign(assign) => {
                let target = program.slice(assign.targets[0].range());
                add(&assign.value, true, Some(format!("{target} =")));
            }
            _ => {}
        }
    }
    found
}

/// What a simple statement does, without its values.
fn done(program: &Program, stmt: &Stmt) -> Option<String> {
    let text = |expr: &Expr| program.slice(expr.range()).to_owned();
    let constant = |value: &Expr| {
        if value.is_literal_expr() {
            text(value)
        } else {
            String::new()
        }
    };
    match stmt {
        Stmt::Assign(assign) => Some(format!(
            "{} = {}",
            text(&assign.targets[0]),
            constant(&assign.value)
        )),
        Stmt::AugAssign(assign) => Some(text(&assign.target)),
        Stmt::Expr(stmt) => Some(text(&stmt.value.as_call_expr()?.func)),
        Stmt::Return(stmt) => {
            let value = stmt.value.as_deref().map(constant);
            Some(format!("return {}", value.unwrap_or_default()))
        }
        Stmt::Raise(_) => Some("raise".to_owned()),
        Stmt::Continue(_) => Some("continue".to_owned()),
        Stmt::Break(_) => Some("break".to_owned()),
        _ => None,
    }
}

/// The questions of a test, each with whether it is asked in the negative; none if it asks nothing
/// that could be.
fn questions(program: &Program, test: &Expr, is_negated: bool) -> Vec<(String, bool)> {
    match test {
        Expr::BoolOp(operation) => {
            let parts = operation.values.iter();
            parts
                .flat_map(|part| questions(program, part, is_negated))
                .collect()
        }
        Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
            questions(program, &operation.operand, !is_negated)
        }
        Expr::Compare(_) | Expr::Call(_) | Expr::Name(_) | Expr::Attribute(_) => {
            let is_negative = negates(test).map(|negates| negates != is_negated);
            let question = question(program, test);
            is_negative
                .map(|is_negative| (question, is_negative))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a question: the function or the operators that answer it, or its text.
fn question(program: &Program, asked: &Expr) -> String {
    match asked {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => method.attr.to_string(),
            func => program.slice(func.range()).to_owned(),
        },
        Expr::Compare(compare) => {
            let operators = compare.ops.iter().map(|operator| positive(*operator));
            operators.collect::<Vec<_>>().join(" ")
        }
        _ => program.slice(asked.range()).to_owned(),
    }
}

/// The operator that asks the same without a negation.
fn positive(operator: CmpOp) -> &'static str {
    match operator {
        CmpOp::NotEq => CmpOp::Eq,
        CmpOp::GtE => CmpOp::Lt,
        CmpOp::LtE => CmpOp::Gt,
        CmpOp::NotIn => CmpOp::In,
        CmpOp::IsNot => CmpOp::Is,
        other => other,
    }
    .as_str()
}

/// Whether a candidate answers no question the other way round.
pub fn are_kept(known: &Answers, candidate: &Answers) -> bool {
    candidate.iter().all(|(what, answers)| {
        let known = known.get(what);
        known.is_none_or(|known| answers.is_subset(known))
    })
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
    fn questions_are_answered_as_before() {
        let of = |text: &str| answers(&Program::parse(text).unwrap());
        let script = "for v in x:\n    if v.n == 0:\n        ok = False\n    elif not close(v, w):\n        ok = False\n    else:\n        print(v)\nprint('fine' if ok else 'BUG')\nbad = a != b or not f(c)\n";
        let keeps = |from: &str, to: &str| {
            let other = script.replace(from, to);
            assert_ne!(other, script);
            are_kept(&of(script), &of(&other))
        };
        assert!(
            keeps("v.n == 0", "n == f(0)") && keeps("a != b or ", "") && keeps("close(v, w)", "v")
        );
        assert!(keeps("'fine' if ok else ", "") && keeps("not f(c)", "a != b"));
        assert!(!keeps("not close", "close") && !keeps("v.n ==", "v.n !="));
        assert!(
            !keeps("if ok", "if not ok")
                && !keeps("'fine' if ok else 'BUG'", "'BUG' if ok else ''")
        );
        assert!(!keeps("not f", "f") && !keeps("a != b", "a == b"));
        assert!(!keeps(
            "        ok = False\n    else:\n        print(v)",
            "        print(v)"
        ));
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
