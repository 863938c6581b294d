//! Which attributes gave the `None` that a failure is about. If a script stored something else
//! there, the bug is that it was lost. Goes by names, through any alias. Called by the judge;
//! proposes nothing.

use crate::{
    analysis::{
        cpython,
        statement_tree::{Statement, StatementTree},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{CmpOp, Expr, ExprCompare, Stmt, StmtClassDef},
    },
    trace::evidence::SourceLine,
};

/// How the interpreter calls a value that is `None`.
const NONE: &str = "NoneType";

/// How a test framework says that a value is `None`.
const UNEXPECTED: &str = "unexpectedly None";

/// The attributes that may have given the `None` that a failure reports, by its class, its message
/// and the line of the program on which it failed, counted from 1. Those of the program's own
/// objects do not count: nobody else had these in hands.
pub fn lost_values(program: &Program, class: &str, message: &str, line: u32) -> Vec<String> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return Vec::new();
    };
    let statement = &tree.statements[at];
    let expressions = expressions(program, statement.range);
    let suspects: Vec<&Expr> = match class.rsplit('.').next().unwrap_or(class) {
        "AttributeError" if message.starts_with(&format!("'{NONE}'")) => {
            let sought = cpython::missing_attribute(message);
            let attributes = expressions.iter().filter_map(|node| match node {
                AnyNodeRef::ExprAttribute(attribute) => Some(attribute),
                _ => None,
            });
            attributes
                .filter(|attribute| Some(attribute.attr.as_str()) == sought)
                .map(|attribute| &*attribute.value)
                .collect()
        }
        "TypeError" if message.contains(NONE) => values(&expressions).collect(),
        "AssertionError" if message.starts_with(UNEXPECTED) => values(&expressions).collect(),
        _ => {
            let condition = condition(&tree, statement);
            compared_with_none(program, condition).collect()
        }
    };
    let mut names: Vec<String> = Vec::new();
    for suspect in suspects {
        let name = attribute_behind(program, suspect);
        names.extend(name.filter(|name| !is_own(program, name)));
    }
    names.dedup();
    names
}

/// The nodes within a range.
fn expressions(program: &Program, range: TextRange) -> Vec<AnyNodeRef<'_>> {
    program.tree().within(range).collect()
}

/// The attributes and variables among them that are read.
fn values<'a>(expressions: &'a [AnyNodeRef<'a>]) -> impl Iterator<Item = &'a Expr> {
    let assigned = |expr: &&Expr| match expr {
        Expr::Attribute(attribute) => attribute.ctx.is_load(),
        Expr::Name(name) => name.ctx.is_load(),
        _ => false,
    };
    let called = expressions.iter().flat_map(|node| match node {
        AnyNodeRef::ExprCall(call) => call.arguments.args.iter().collect(),
        AnyNodeRef::ExprBinOp(operation) => vec![&*operation.left, &*operation.right],
        AnyNodeRef::ExprSubscript(item) => vec![&*item.value],
        AnyNodeRef::StmtFor(each) => vec![&*each.iter],
        AnyNodeRef::StmtAssign(assign) => vec![&*assign.value],
        _ => Vec::new(),
    });
    called.filter(assigned)
}

/// Where a statement says under which condition it fails: itself, or the `if` around it.
fn condition(tree: &StatementTree<'_>, statement: &Statement<'_>) -> Option<TextRange> {
    match statement.node {
        AnyNodeRef::StmtAssert(assert) => Some(assert.test.range()),
        AnyNodeRef::StmtRaise(_) => match tree.statements[statement.parent?].node {
            AnyNodeRef::StmtIf(branch) => Some(branch.test.range()),
            _ => None,
        },
        _ => None,
    }
}

/// The values that a condition compares with `None`.
fn compared_with_none(
    program: &Program,
    condition: Option<TextRange>,
) -> impl Iterator<Item = &Expr> {
    let nodes = program.tree().nodes.iter().map(|node| node.node);
    let within = nodes.filter(move |node| {
        condition.is_some_and(|condition| condition.contains_range(node.range()))
    });
    within.filter_map(|node| match node {
        AnyNodeRef::ExprCompare(ExprCompare {
            left,
            ops,
            comparators,
            ..
        }) => match (&**ops, &**comparators) {
            ([CmpOp::Is | CmpOp::IsNot], [other]) if other.is_none_literal_expr() => Some(&**left),
            _ => None,
        },
        _ => None,
    })
}

/// The attribute that gave a value: the value's own, or the one that a variable was set to.
fn attribute_behind(program: &Program, value: &Expr) -> Option<String> {
    match value {
        Expr::Attribute(attribute) => Some(attribute.attr.to_string()),
        Expr::Name(name) => {
            let nodes = program.tree().nodes.iter().map(|node| node.node);
            let assigned = nodes.filter_map(|node| match node {
                AnyNodeRef::StmtAssign(assign) => Some(assign),
                _ => None,
            });
            let mut given = assigned.filter_map(|assign| {
                let [Expr::Name(target)] = assign.targets.as_slice() else {
                    return None;
                };
                let attribute = assign.value.as_attribute_expr()?;
                (target.id == name.id).then(|| attribute.attr.to_string())
            });
            given.next()
        }
        _ => None,
    }
}

/// Whether one of the program's own classes, which inherits from no others, stores an attribute.
fn is_own(program: &Program, name: &str) -> bool {
    let names = program.defined_names();
    let is_plain = |class: &&StmtClassDef| {
        class.bases().iter().all(|base| {
            base.as_name_expr().is_some_and(|base| {
                base.id.as_str() == "object" || names.contains(base.id.as_str())
            })
        })
    };
    let nodes = || program.tree().nodes.iter().map(|node| node.node);
    let mut plain = nodes()
        .filter_map(|node| match node {
            AnyNodeRef::StmtClassDef(class) => Some(class),
            _ => None,
        })
        .filter(is_plain);
    plain.any(|class| {
        let is_field = |statement: &Stmt| match statement {
            Stmt::Assign(assign) => assign.targets.iter().any(|target| is_named(target, name)),
            Stmt::AnnAssign(assign) => is_named(&assign.target, name),
            _ => false,
        };
        let within = program.tree().within(class.range);
        let mut stores = within.filter_map(|node| match node {
            AnyNodeRef::ExprAttribute(attribute) => Some(attribute),
            _ => None,
        });
        class.body.iter().any(is_field)
            || stores.any(|store| !store.ctx.is_load() && store.attr.as_str() == name)
    })
}

fn is_named(target: &Expr, name: &str) -> bool {
    target
        .as_name_expr()
        .is_some_and(|target| target.id.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, class: &str, message: &str, line: u32, expected: &[&str]) {
        let program = Program::parse(text).unwrap();
        assert_eq!(
            lost_values(&program, class, message, line),
            expected,
            "{text}"
        );
    }

    #[test]
    fn the_attribute_is_the_one_that_gave_none() {
        let message = "'NoneType' object has no attribute 'norm'";
        let of =
            |text: &str, expected: &[&str]| check(text, "AttributeError", message, 1, expected);
        of("print(x.y.grad.norm(), z.other)\n", &["grad"]);
        of("f().norm()\n", &[]);
        check(
            "g = x.grad\ng.norm()\n",
            "AttributeError",
            message,
            2,
            &["grad"],
        );
        let message = "'NoneType' object is not subscriptable";
        check("x.meta['a']\n", "TypeError", message, 1, &["meta"]);
        let message = "unsupported operand type(s) for +: 'NoneType' and 'int'";
        check("y = x.count + 1\n", "TypeError", message, 1, &["count"]);
        let message = "f(): argument 'a' (position 1) must be Tensor, not NoneType";
        check("f(x.weight)\n", "TypeError", message, 1, &["weight"]);
    }

    #[test]
    fn claims_compare_with_none() {
        check(
            "assert x.tag is not None, 'lost'\n",
            "AssertionError",
            "lost",
            1,
            &["tag"],
        );
        let text = "if x.tag is None:\n    raise ValueError('lost')\n";
        check(text, "ValueError", "lost", 2, &["tag"]);
        check(
            "t.assertIsNotNone(x.tag)\n",
            "AssertionError",
            "unexpectedly None",
            1,
            &["tag"],
        );
        check("assert x.tag == 1\n", "AssertionError", "", 1, &[]);
    }

    #[test]
    fn attributes_of_own_classes_are_not_lost_by_others() {
        let message = "'NoneType' object has no attribute 'f'";
        let own = "class A:\n    def __init__(self):\n        self.next = None\nA().next.f\n";
        check(own, "AttributeError", message, 4, &[]);
        let field = "class A:\n    next = None\nA().next.f\n";
        check(field, "AttributeError", message, 3, &[]);
        let foreign = "class A(m.B):\n    next = None\nA().next.f\n";
        check(foreign, "AttributeError", message, 3, &["next"]);
    }
}
