//! Functions that a program leaves others to call and that these leave in the middle: they are
//! cancelled, or what they call raises something that others handle. One that comes to its end instead is
//! another case. Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::{calls::callee_name, statement_tree::StatementTree},
    syntax::{AnyNodeRef, Program},
    trace::evidence::{Evidence, SourceLine},
};

/// The functions that others called and left before their last statement, or that an exception left
/// which others handled, by name.
pub fn aborted(program: &Program, evidence: &Evidence) -> BTreeSet<String> {
    let tree = StatementTree::of(program, evidence);
    let failing = evidence
        .failure
        .iter()
        .chain(evidence.causes.iter().flatten());
    let failing: BTreeSet<usize> = failing
        .filter_map(|frame| tree.function_of(tree.on_line(frame.line)?))
        .collect();
    let calls = program.tree().nodes.iter();
    let calls = calls.filter_map(|node| callee_name(&node.node.as_expr_call()?.func));
    let called: BTreeSet<&str> = calls.collect();
    let functions = tree.statements.iter().enumerate();
    let found = functions.flat_map(|(at, statement)| {
        let Some(function) = statement.node.as_stmt_function_def() else {
            return Vec::new();
        };
        let ran = |child: &usize| tree.statements[*child].is_executed;
        let leaves = |within: usize| {
            let left = &tree.statements[within];
            let by_itself = matches!(
                left.node,
                AnyNodeRef::StmtReturn(_) | AnyNodeRef::StmtRaise(_) | AnyNodeRef::StmtAssert(_)
            );
            by_itself && left.is_executed
        };
        let Some(last) = statement.children.last() else {
            return Vec::new();
        };
        let first = SourceLine::of_program(program.line_of(statement.range.start()));
        let is_unwound = evidence.unwound.contains(&first);
        let is_left = is_unwound || !ran(last) && !tree.within(at).any(leaves);
        let is_entered = statement.children.iter().any(ran) && !failing.contains(&at);
        let is_called = called.contains(function.name.as_str());
        // What a context stores at its end is skipped, whoever opens it.
        let skipped = is_unwound.then(|| stored_after_yield(&tree, at));
        let skipped = skipped.unwrap_or_default().into_iter();
        let left = (is_entered && is_left && !is_called).then(|| function.name.to_string());
        left.into_iter().chain(skipped).collect::<Vec<_>>()
    });
    found.collect()
}

/// The attributes that a function stores after it last yields.
fn stored_after_yield(tree: &StatementTree<'_>, function: usize) -> Vec<String> {
    let children = &tree.statements[function].children;
    let within = |child: usize| std::iter::once(child).chain(tree.within(child));
    let yields = |child: &usize| within(*child).any(|at| tree.statements[at].yields);
    let last = children.iter().rposition(yields);
    let after = last.map_or(&[][..], |last| &children[last + 1..]);
    let stored = tree.stores.iter().filter(|(_, statements)| {
        let mut after = after.iter().flat_map(|&child| within(child));
        after.any(|at| statements.contains(&at))
    });
    stored.map(|(name, _)| format!("={name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(lines: &[u32]) -> Evidence {
        let mut evidence = Evidence::default();
        let lines = lines.iter().map(|&line| SourceLine::of_program(line));
        evidence.hits.extend(lines.map(|line| (line, 1)));
        evidence
    }

    #[test]
    fn functions_are_left_by_others() {
        let program = Program::parse(
            "async def f(x):\n    if x:\n        return\n    await sleep(1)\n    assert 0\nrun(f, 0)\n",
        )
        .unwrap();
        for (lines, expected) in [
            (&[1, 2, 4, 6][..], true),
            (&[1, 2, 3, 6], false),
            (&[1, 2, 4, 5, 6], false),
            (&[1, 6], false),
        ] {
            let evidence = ran(lines);
            assert_eq!(aborted(&program, &evidence).contains("f"), expected);
        }
        // All its lines ran, though not each time.
        let program = Program::parse("def f(x):\n    g(x)\nrun(f, 0)\n").unwrap();
        let mut evidence = ran(&[1, 2, 3]);
        assert!(aborted(&program, &evidence).is_empty());
        evidence.unwound.insert(SourceLine::of_program(1));
        assert!(aborted(&program, &evidence).contains("f"));
    }

    #[test]
    fn contexts_that_an_exception_leaves_skip_what_they_store() {
        let program =
            Program::parse("def f(x):\n    x.a = 1\n    yield\n    x.b = 2\nf(y)\n").unwrap();
        let mut evidence = ran(&[1, 2, 3, 4, 5]);
        assert!(aborted(&program, &evidence).is_empty());
        evidence.unwound.insert(SourceLine::of_program(1));
        assert_eq!(aborted(&program, &evidence), ["=b".to_owned()].into());
        let kept = Program::parse(
            "def f(x):\n    try:\n        yield\n    finally:\n        x.b = 2\nf(y)\n",
        )
        .unwrap();
        assert!(aborted(&kept, &evidence).is_empty());
    }
}
