//! The program without the calls that its failing call repeats. If a call fails only after another
//! one of the same function did not, the first left something behind. Goes by names. Called by the
//! judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::statement_tree::{Statement, StatementTree},
    rewrite::edit::EditSet,
    syntax::{Program, Ranged, ast::Expr},
    trace::evidence::SourceLine,
};

/// The program without the statements before a failing one, in the same function, that call what
/// it calls; with the names of what they call. `None` if there are none. What the program's own
/// functions leave behind, other statements may leave behind as well.
pub fn without_repeated_calls(
    program: &Program,
    failed_at: &[u32],
) -> Option<(String, BTreeSet<String>)> {
    let tree = StatementTree::untraced(program);
    let own = program.defined_names();
    let mut edits = EditSet::default();
    let mut names = BTreeSet::new();
    for &line in failed_at {
        let Some(failing) = tree.on_line(SourceLine::of_program(line)) else {
            continue;
        };
        let Some(name) = called(&own, program, &tree.statements[failing]) else {
            continue;
        };
        let function = tree.function_of(failing);
        for (index, before) in tree.statements[..failing].iter().enumerate() {
            if tree.function_of(index) == function && called(&own, program, before) == Some(name) {
                edits.remove(before.place);
                names.insert(name.to_owned());
            }
        }
    }
    (!edits.is_empty()).then(|| Some((edits.apply(program).ok()?, names)))?
}

/// Whether two statements of a function call the same.
pub fn repeats_calls(program: &Program) -> bool {
    let tree = StatementTree::untraced(program);
    let own = program.defined_names();
    let mut seen = BTreeSet::new();
    let mut statements = tree.statements.iter().enumerate();
    statements.any(|(index, statement)| {
        let name = called(&own, program, statement);
        name.is_some_and(|name| !seen.insert((tree.function_of(index), name)))
    })
}

/// The function that a statement calls first, as it is written: of a chain, the first call, and
/// of what is only printed, its own; none if it is the program's own.
fn called<'p>(
    own: &BTreeSet<String>,
    program: &'p Program,
    statement: &Statement<'p>,
) -> Option<&'p str> {
    let mut value = statement.value()?;
    loop {
        let call = match value {
            Expr::Await(awaited) => {
                value = &awaited.value;
                continue;
            }
            Expr::Subscript(part) => {
                value = &part.value;
                continue;
            }
            Expr::Call(call) => call,
            _ => return None,
        };
        let is_print = matches!(&*call.func, Expr::Name(name) if name.id == "print");
        value = match &*call.func {
            _ if is_print => call.arguments.args.iter().find(|arg| arg.is_call_expr())?,
            Expr::Attribute(method) if method.value.is_call_expr() => &method.value,
            inner @ Expr::Call(_) => inner,
            name => {
                let name = program.slice(name.range());
                let last = name.rsplit('.').next().unwrap_or(name);
                return (!own.contains(last)).then_some(name);
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[u32], expected: Option<&str>) {
        let program = Program::parse(text).unwrap();
        let found = without_repeated_calls(&program, lines);
        assert_eq!(found.map(|(text, _)| text).as_deref(), expected);
        if expected.is_some() {
            assert!(repeats_calls(&program));
        }
    }

    #[test]
    fn what_is_called_again_is_left_out_before() {
        check(
            "a = A()\nlib.script(a)\nprint('b:', lib.script(b).x(1))\nlib.script(c)(2)\nlib.script(d)\n",
            &[4],
            Some(
                "a = A()\nlib.script(d)\n"
                    .replace("lib.script(d)", "lib.script(c)(2)\nlib.script(d)")
                    .as_str(),
            ),
        );
        check(
            "def f():\n    lib.put(1)\n    with m:\n        lib.put(2)\nlib.put(3)\nf()\n",
            &[6, 4],
            Some("def f():\n    with m:\n        lib.put(2)\nlib.put(3)\nf()\n"),
        );
    }

    #[test]
    fn what_is_called_once_repeats_nothing() {
        check("x = lib.a()\ny = lib.b(x)\n", &[2], None);
        check("lib.a()\nx = 1 + lib.a()\n", &[2], None);
        for text in [
            "def f():\n    g()\ng()\n",
            "def f(): pass\nf()\nx.f()\nx.f()\n",
        ] {
            assert!(!repeats_calls(&Program::parse(text).unwrap()));
        }
    }
}
