//! Whether anything decides that a report is made: a condition, or the filter of what it loops
//! over; and whether it is made whatever happens. Called by the judge; proposes nothing.

use crate::{
    analysis::{
        assignments::assigned_values,
        calls::callee_name,
        dependence_check::{Nodes, ReportSite, Rest, told},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, ExprCall},
    },
};

/// Through how many variables the iterable of a loop is followed.
const DEPTH: usize = 4;

/// Whether a condition decides that a program makes its report, or the report is made for each
/// element of something that a comprehension filters: `for x in [y for y in z if y > 1]: print(x)`.
pub fn is_decided(program: &Program, report_site: &ReportSite) -> bool {
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let around = |&frame: &usize| tree.ancestors(frame).collect::<Vec<_>>();
        let loops = frames.iter().flat_map(around);
        let mut loops = loops.filter_map(|at| tree.statements[at].node.as_stmt_for());
        // A check that is called, a choice within the statement, and an exit status decide by
        // themselves.
        let decides = |&frame: &usize| {
            let node = tree.statements[frame].node;
            let is_said = matches!(report_site, ReportSite::Words(_))
                || node.is_stmt_raise()
                || nodes[frame].iter().any(is_plain_exit);
            let mut nodes = nodes[frame].iter();
            !is_said
                || nodes.any(|node| {
                    node.is_expr_if() || node.is_expr_bool_op() || node.is_expr_compare()
                })
        };
        frames.last().is_some_and(decides)
            || !Rest::of(tree, nodes).conditions_of(&frames).is_empty()
            || loops.any(|stmt| is_filtered(program, &stmt.iter, DEPTH))
    });
    found.contains(&true)
}

/// Whether a node ends the program with a status that is written out.
fn is_plain_exit(node: &AnyNodeRef<'_>) -> bool {
    const ENDING: [&str; 4] = ["exit", "_exit", "quit", "SystemExit"];
    node.as_expr_call().is_some_and(|call| {
        let mut arguments = call.arguments.args.iter();
        callee_name(&call.func).is_some_and(|name| ENDING.contains(&name))
            && arguments.all(Expr::is_literal_expr)
    })
}

/// Whether each statement that makes a report is no more than the print of a text, which the
/// program comes to whatever happens: no condition, loop or handler is around it or around a call of
/// its function, and nothing before it ends the program. Then a sound program prints it as well.
pub fn is_made_anyway(program: &Program, report_site: &ReportSite) -> bool {
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let [statement] = frames[..] else {
            return false;
        };
        let stmt = tree.statements[statement].node.as_stmt_expr();
        let call = stmt.and_then(|stmt| stmt.value.as_call_expr());
        call.is_some_and(prints) && is_reached_anyway(tree, nodes, statement, DEPTH)
    });
    !found.is_empty() && !is_decided(program, report_site) && !found.contains(&false)
}

/// Whether a call prints a text that stands in it.
fn prints(call: &ExprCall) -> bool {
    let is_print = match &*call.func {
        Expr::Name(name) => name.id == "print",
        Expr::Attribute(method) => method.attr.as_str() == "write",
        _ => false,
    };
    let mut given = call.arguments.args.iter();
    is_print && given.any(|value| value.is_string_literal_expr() || value.is_f_string_expr())
}

/// Whether a program comes to a statement if nothing fails before it. What a package calls is
/// reached as the package decides.
fn is_reached_anyway(
    tree: &StatementTree<'_>,
    nodes: &Nodes<'_>,
    statement: usize,
    depth: usize,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let rest = Rest::of(tree, nodes);
    let conditions = rest.conditions(statement);
    let mut conditions = conditions.iter().map(|&at| tree.statements[at].node);
    let is_plain = conditions
        .all(|node| node.is_stmt_with() || node.is_stmt_try() || node.is_stmt_class_def());
    if !is_plain || !rest.passed(&[statement]).is_empty() || rest.is_in_handler(statement) {
        return false;
    }
    let Some(function) = tree.function_of(statement) else {
        return true;
    };
    let name = tree.statements[function].node.as_stmt_function_def();
    let Some(name) = name.map(|function| function.name.as_str()) else {
        return false;
    };
    let calls = |statement: &usize| {
        let mut calls = nodes[*statement]
            .iter()
            .filter_map(AnyNodeRef::as_expr_call);
        calls.any(|call| match &*call.func {
            Expr::Name(called) => called.id == name,
            Expr::Attribute(method) => method.attr.as_str() == name,
            _ => false,
        })
    };
    let callers: Vec<usize> = (0..tree.statements.len()).filter(calls).collect();
    let mut reached = callers.iter();
    !callers.is_empty() && reached.all(|&caller| is_reached_anyway(tree, nodes, caller, depth))
}

/// Whether a comprehension with a condition gives a value, or something that it is made of.
fn is_filtered(program: &Program, value: &Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    program.tree().within(value.range()).any(|node| match node {
        AnyNodeRef::Comprehension(clause) => !clause.ifs.is_empty(),
        AnyNodeRef::ExprName(name) => {
            let values = assigned_values(program, &name.id).unwrap_or_default();
            let mut values = values.into_iter();
            values.any(|value| is_filtered(program, value, depth))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_filters_decide() {
        let of = |text: &str| {
            let site = ReportSite::Words(["wrong".to_owned()].into());
            is_decided(&Program::parse(text).unwrap(), &site)
        };
        assert!(of("for x in y:\n    if x > 1: print('wrong')\n"));
        assert!(of("for x in [z for z in y if z > 1]: print('wrong')\n"));
        assert!(of(
            "bad = {k: z for k, z in y if z > 1}\nfor x in sorted(bad): print('wrong')\n"
        ));
        assert!(!of(
            "bad = {k: z for k, z in y}\nfor x in sorted(bad): print('wrong')\n"
        ));
        assert!(!of("for x in f(y): print('wrong')\n"));
        assert!(of("print('wrong' if x > 1 else 'right')\n"));
        let raised = |text: &str| {
            let site = ReportSite::Raised(vec![text.lines().count() as u32]);
            is_decided(&Program::parse(text).unwrap(), &site)
        };
        assert!(raised("if x:\n    raise E\n") && !raised("raise E\n"));
        assert!(raised("t.assertEqual(x, y)\n"));
        let exits = |text: &str| is_decided(&Program::parse(text).unwrap(), &ReportSite::Exit);
        assert!(exits("if x:\n    sys.exit(1)\n") && exits("sys.exit(x > 1)\n"));
        assert!(exits("x = 0\nif y: x = 1\nsys.exit(x)\n") && !exits("sys.exit(1)\n"));
    }

    #[test]
    fn a_text_is_printed_anyway_if_nothing_decides() {
        let of = |text: &str| {
            let site = ReportSite::Words(["wrong".to_owned()].into());
            is_made_anyway(&Program::parse(text).unwrap(), &site)
        };
        assert!(of("import lib\nlib.f()\nprint('wrong')\n"));
        assert!(of(
            "def f():\n    lib.g()\n    print('wrong')\nif __name__ == '__main__':\n    f()\n"
        ));
        assert!(of(
            "async def f():\n    await lib.g()\n    print(f'wrong {x}')\nasync def main():\n    \
                    await f()\nlib.run(main())\n"
        ));
        // A condition, a loop, a handler, what is tried before, or what ends the program.
        assert!(!of("if x > 1:\n    print('wrong')\n"));
        assert!(!of("for x in y:\n    print('wrong')\n"));
        assert!(!of("try:\n    lib.f()\nexcept E:\n    print('wrong')\n"));
        assert!(!of(
            "try:\n    lib.f()\n    print('wrong')\nexcept E:\n    print('right')\n"
        ));
        assert!(!of("if x:\n    raise E\nprint('wrong')\n"));
        assert!(!of("def f():\n    if x: return\n    print('wrong')\nf()\n"));
        assert!(!of("def f():\n    print('wrong')\nif x:\n    f()\n"));
        // A package decides whether it calls the function, and a function of the program's own what
        // it prints.
        assert!(!of("def hook():\n    print('wrong')\nlib.register(hook)\n"));
        assert!(!of(
            "def tell(text):\n    if x: print(text)\ntell('wrong')\n"
        ));
        assert!(!of("text = 'wrong' if x else 'right'\nprint(text)\n"));
    }
}
