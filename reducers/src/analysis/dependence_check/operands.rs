//! The packages on which each thing depends that a failing statement looks something up in.

use std::collections::BTreeSet;

use crate::{
    analysis::dependence_check::{Nodes, ReportSite, Rest, told},
    syntax::{AnyNodeRef, Program, Ranged, TextRange},
    trace::evidence::Evidence,
};

/// The packages on which each thing depends that is read from, by keys or indices, in a failing
/// statement, given the lines of its frames, outermost first. One that depends on none is the
/// program's own, whatever else the statement holds.
pub fn packages_of_operands(
    program: &Program,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> Vec<BTreeSet<String>> {
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, evidence, &|outline, nodes, frames| {
        let Some(&last) = frames.last() else {
            return Vec::new();
        };
        let operands = operands(nodes, last).into_iter();
        operands
            .map(|part| Rest::of(outline, nodes).origin(last, part, &frames).modules)
            .collect()
    });
    found.into_iter().flatten().collect()
}

/// What a statement reads from.
fn operands(nodes: &Nodes<'_>, statement: usize) -> Vec<TextRange> {
    let subscripts = nodes[statement]
        .iter()
        .filter_map(AnyNodeRef::as_expr_subscript);
    let read = subscripts.filter(|subscript| subscript.ctx.is_load());
    read.map(|subscript| subscript.value.range()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operand_has_its_own_packages() {
        let check = |text: &str, expected: &[&[&str]]| {
            let program = Program::parse(text).unwrap();
            let last = text.lines().count() as u32;
            let found = packages_of_operands(&program, &[last], None);
            let found: Vec<Vec<&str>> = found
                .iter()
                .map(|packages| packages.iter().map(String::as_str).collect())
                .collect();
            assert_eq!(found, expected);
        };
        check("import re\nm = re.match('a', 'b')\nm['x']\n", &[&["re"]]);
        check(
            "import re, collections\nc = collections.Counter()\nm = re.match('a', 'b')\nc[m['x']] += 1\n",
            &[&["re"]],
        );
        check(
            "import collections\ncollections.Counter()[None['x']] = 0\n",
            &[&[]],
        );
    }
}
