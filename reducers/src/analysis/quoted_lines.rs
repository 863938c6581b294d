//! Lines of a program that its own texts quote, as a script does that looks for its code in what a
//! library prints. Without the line, the text is not found for a reason of its own. Called by the
//! judge, which compares a candidate with the script.

use std::collections::BTreeSet;

use crate::syntax::{AnyNodeRef, Program};

/// Shorter lines stand in texts by chance.
const SHORT: usize = 12;

/// The lines of code that stand in a text of the program, without their indentation.
pub fn quoted_lines(program: &Program) -> BTreeSet<String> {
    let texts = texts(program);
    let lines = program.text().lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= SHORT);
    let is_quoted = |line: &&str| texts.iter().any(|text| text.contains(line));
    lines.filter(is_quoted).map(str::to_owned).collect()
}

/// Whether a candidate still has those of some lines that its own texts quote.
pub fn has_quoted(candidate: &Program, quoted: &BTreeSet<String>) -> bool {
    if quoted.is_empty() {
        return true;
    }
    let texts = texts(candidate);
    let lines: BTreeSet<&str> = candidate.text().lines().map(str::trim).collect();
    quoted.iter().all(|line| {
        lines.contains(line.as_str()) || !texts.iter().any(|text| text.contains(line.as_str()))
    })
}

/// The texts that a program writes out.
fn texts(program: &Program) -> Vec<&str> {
    let nodes = program.tree().nodes.iter();
    let texts = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprStringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_a_text_quotes_stays_as_long_as_the_text() {
        let script = "def f(x):\n    return x + g(x)\nassert 'code: return x + g(x)' in show(f)\n";
        let of = |text: &str| Program::parse(text).unwrap();
        let quoted = quoted_lines(&of(script));
        assert_eq!(quoted.len(), 1);
        let without = script.replace("    return x + g(x)\n", "    pass\n");
        assert!(has_quoted(&of(script), &quoted) && !has_quoted(&of(&without), &quoted));
        assert!(has_quoted(&of("assert 'code' in show(f)\n"), &quoted));
        assert!(quoted_lines(&of("x = 'a text of its own'\n")).is_empty());
    }
}
