//! The texts that the calls of a program print, each with its statement. The words of a bug that only
//! shows in what the program prints may be values, which stand in no text of the program: then only
//! a run shows which statement prints them. Called by the judge; proposes nothing.

use std::collections::BTreeMap;

use crate::{
    analysis::observation::{Observation, marked},
    syntax::{AnyNodeRef, Program, Ranged, TextSize, ast::Expr},
};

/// The beginning of a printing call's name.
const MARK: &str = "printed ";

/// What makes a program write down what each statement prints that calls something and drops the
/// result, unless it calls the program's own function: that prints by statements of its own.
pub fn printing(program: &Program) -> Observation {
    let own = program.defined_names();
    let is_own = |called: &Expr| match called {
        Expr::Name(name) => own.contains(name.id.as_str()),
        Expr::Attribute(method) => own.contains(method.attr.as_str()),
        _ => true,
    };
    let mut observation = Observation::default();
    for node in &program.tree().nodes {
        let AnyNodeRef::StmtExpr(stmt) = node.node else {
            continue;
        };
        if let Some(call) = stmt.value.as_call_expr().filter(|call| !is_own(&call.func)) {
            let start = stmt.start().to_u32();
            observation.prints_of(call.func.range(), &format!("{MARK}{start}"));
        }
    }
    observation
}

/// The texts that such a program wrote down, one a call, by the beginning of their statement.
pub fn printed(stderr: &str) -> BTreeMap<TextSize, Vec<String>> {
    let mut found: BTreeMap<TextSize, Vec<String>> = BTreeMap::new();
    for (name, text) in marked(stderr) {
        if let Some(start) = name.strip_prefix(MARK)
            && let Ok(start) = start.parse::<u32>()
        {
            let texts = found.entry(start.into()).or_default();
            texts.push(text.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::observation::readable;

    #[test]
    fn calls_for_nothing_else_are_asked_what_they_print() {
        let text = "import sys\ndef f(x):\n    print(x)\n    return x\nf(1)\ny = f(2)\nsys.stdout.write(y)\n";
        let program = Program::parse(text).unwrap();
        let expected = "import sys\ndef f(x):\n    show(\"printing\", \"printed 25\", print)(x)\n    return \
                        x\nf(1)\ny = f(2)\nshow(\"printing\", \"printed 61\", sys.stdout.write)(y)\n";
        let found = printing(&program).text(&program).unwrap();
        assert_eq!(readable(&found), expected);
    }

    #[test]
    fn texts_are_read_by_statement() {
        let found = printed(
            "\u{1e}printed 3\u{1f}a\n\u{1e}\u{1e}value\u{1f}7\u{1e}\u{1e}printed 3\u{1f}b\u{1e}",
        );
        assert_eq!(
            found,
            BTreeMap::from([(3.into(), vec!["a\n".to_owned(), "b".to_owned()])])
        );
    }
}
