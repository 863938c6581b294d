//! Lines of a program that its own texts quote: a script may search for its code in a library's
//! output, or for the words of an exception that it raises itself. Without the line, the text is not
//! found for another reason than the bug. Called by the judge.

use crate::{
    analysis::{dependence_check::tests, statement_tree::StatementTree},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, InterpolatedStringElement},
    },
    trace::evidence::SourceLine,
};

/// Shorter lines stand in texts by chance.
const SHORT: usize = 12;

/// The lines of code, without their indentation, that stand in a text of the statement on a line,
/// counted from 1, or of the condition around it, and those that raise an exception with words that
/// stand there.
pub fn quoted_lines(program: &Program, line: u32) -> Vec<String> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return Vec::new();
    };
    let around = tree
        .ancestors(at)
        .flat_map(|around| tests(tree.statements[around].node));
    let around = around.map(Expr::range);
    let ranges: Vec<TextRange> = around.chain([tree.statements[at].range]).collect();
    let nodes = &program.tree().nodes;
    let texts = nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprStringLiteral(literal)
            if ranges
                .iter()
                .any(|range| range.contains_range(literal.range)) =>
        {
            Some(literal.value.to_str())
        }
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    let lines = program.text().lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= SHORT);
    let is_quoted = |line: &&str| texts.iter().any(|text| text.contains(line));
    let raising = nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::StmtRaise(raise)
            if !ranges.iter().any(|range| range.contains_range(raise.range)) =>
        {
            let parts = written(program, raise.range);
            let is_long = parts.iter().map(|part| part.len()).sum::<usize>() >= SHORT;
            let is_found = is_long && texts.iter().any(|text| stand_in(text, &parts));
            is_found.then(|| program.slice(raise.range))
        }
        _ => None,
    });
    lines
        .filter(is_quoted)
        .chain(raising)
        .map(str::to_owned)
        .collect()
}

/// The written parts of the first formatted string of a statement, in order.
fn written(program: &Program, statement: TextRange) -> Vec<&str> {
    let mut within = program.tree().within(statement);
    let strings = within.find_map(|node| node.as_expr_f_string().copied());
    let elements = strings
        .into_iter()
        .flat_map(|string| string.value.elements());
    let literals = elements.filter_map(InterpolatedStringElement::as_literal);
    literals.map(|literal| &*literal.value).collect()
}

/// Whether some parts stand in a text one after the other.
fn stand_in(text: &str, parts: &[&str]) -> bool {
    let mut rest = Some(text);
    for part in parts {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_statement_quote_lines() {
        let script = "def f(x):\n    return x + g(x)\nassert 'code: return x + g(x)' in show(f)\n";
        let program = Program::parse(script).unwrap();
        assert_eq!(quoted_lines(&program, 3), ["return x + g(x)"]);
        assert!(quoted_lines(&program, 2).is_empty());
        let script = r#"
def f(x):
    raise KeyError(f"no entry '{x}' in {y}")
if "no entry 'a' in b" not in g(f):
    raise ValueError("wrong words")
"#;
        let program = Program::parse(script).unwrap();
        assert_eq!(
            quoted_lines(&program, 5),
            [r#"raise KeyError(f"no entry '{x}' in {y}")"#]
        );
        let other = Program::parse("x = 'a text of its own'\n").unwrap();
        assert!(quoted_lines(&other, 1).is_empty());
    }
}
