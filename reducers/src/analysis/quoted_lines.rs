//! Lines of a program that its own texts quote: a script may search for its code in a library's
//! output. Without the line, the text is not found for another reason than the bug. Called by the
//! judge.

use crate::{
    analysis::statement_tree::StatementTree,
    syntax::{AnyNodeRef, Program},
    trace::evidence::SourceLine,
};

/// Shorter lines stand in texts by chance.
const SHORT: usize = 12;

/// The lines of code, without their indentation, that stand in a text of the statement on a line,
/// counted from 1.
pub fn quoted_lines(program: &Program, line: u32) -> Vec<String> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return Vec::new();
    };
    let range = tree.statements[at].range;
    let nodes = program.tree().nodes.iter();
    let texts = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprStringLiteral(literal) if range.contains_range(literal.range) => {
            Some(literal.value.to_str())
        }
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    let lines = program.text().lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= SHORT);
    let is_quoted = |line: &&str| texts.iter().any(|text| text.contains(line));
    lines.filter(is_quoted).map(str::to_owned).collect()
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
        let other = Program::parse("x = 'a text of its own'\n").unwrap();
        assert!(quoted_lines(&other, 1).is_empty());
    }
}
