use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Ranged, TextRange, Tree,
        ast::{MatchCase, Pattern},
        rows::RowKind,
    },
};

pass! {
    /// Removes alternatives of patterns, and replaces patterns with a part of them or with `_`.
    ///
    /// ```python before
    /// match x:
    ///     case A(b=[1, 2]) | B(): f()
    /// ```
    /// ```python after
    /// match x:
    ///     case B(): f()
    /// ```
    pub(crate) static DROP_PATTERNS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        if row.kind == RowKind::Alternatives {
            for (item, range) in row.with_ids().rev() {
                let note = format!("alternative `{}`", cx.program.excerpt(range));
                out.remove(item, Prior::Even, note);
            }
            out.next_group();
        }
    }
    let tree = cx.program.tree();
    for (index, node) in tree.nodes.iter().enumerate() {
        let Some(parts) = parts(node.node) else {
            continue;
        };
        let may_match_all = may_match_all(tree, index as u32);
        let whole = node.node.range();
        let mut replace = |text: &str| {
            let edits = EditSet::one(Edit::replace(whole, text));
            if cx.scales.gains(&edits) {
                let note = format!("`{}` replaced with `{text}`", cx.program.excerpt(whole));
                out.propose(edits, Prior::Unlikely, note);
                out.next_group();
            }
        };
        if may_match_all {
            replace("_");
        }
        for part in parts {
            if may_match_all || !part.is_irrefutable() {
                replace(cx.program.slice(part.range()));
            }
        }
        if let AnyNodeRef::PatternMatchAs(pattern) = node.node
            && let (Some(_), Some(name)) = (&pattern.pattern, &pattern.name)
            && may_match_all
        {
            replace(name.as_str());
        }
    }
}

/// The patterns within a pattern that can replace it; `None` if the node is no pattern or cannot be
/// simpler.
fn parts(node: AnyNodeRef<'_>) -> Option<Vec<&Pattern>> {
    Some(match node {
        AnyNodeRef::PatternMatchValue(_)
        | AnyNodeRef::PatternMatchSingleton(_)
        | AnyNodeRef::PatternMatchOr(_) => Vec::new(),
        AnyNodeRef::PatternMatchSequence(it) => it
            .patterns
            .iter()
            .filter(|pattern| !pattern.is_match_star())
            .collect(),
        AnyNodeRef::PatternMatchMapping(it) => it.patterns.iter().collect(),
        AnyNodeRef::PatternMatchClass(it) => it
            .arguments
            .patterns
            .iter()
            .chain(it.arguments.keywords.iter().map(|keyword| &keyword.pattern))
            .collect(),
        AnyNodeRef::PatternMatchAs(it) => vec![it.pattern.as_deref()?],
        _ => return None,
    })
}

/// Whether CPython accepts a pattern that matches everything here: no other pattern may follow it.
fn may_match_all(tree: &Tree<'_>, index: u32) -> bool {
    let mut range = tree.nodes[index as usize].node.range();
    for (node, at) in tree.ancestors(index).zip(ancestor_indices(tree, index)) {
        match node {
            AnyNodeRef::PatternMatchOr(it) => {
                if it
                    .patterns
                    .last()
                    .is_none_or(|last| !covers(last.range(), range))
                {
                    return false;
                }
            }
            AnyNodeRef::PatternMatchAs(_) => {}
            AnyNodeRef::MatchCase(case) => return case.guard.is_some() || is_last(tree, at, case),
            _ => return true,
        }
        range = node.range();
    }
    false
}

fn ancestor_indices<'t>(tree: &'t Tree<'_>, index: u32) -> impl Iterator<Item = u32> + 't {
    std::iter::successors(tree.nodes[index as usize].parent, |&at| {
        tree.nodes[at as usize].parent
    })
}

fn covers(outer: TextRange, inner: TextRange) -> bool {
    outer.contains_range(inner)
}

fn is_last(tree: &Tree<'_>, at: u32, case: &MatchCase) -> bool {
    let parent = tree.nodes[at as usize]
        .parent
        .map(|parent| tree.nodes[parent as usize].node);
    matches!(parent, Some(AnyNodeRef::StmtMatch(stmt)) if stmt.cases.last().is_some_and(|last| last.range == case.range))
}

#[cfg(test)]
mod tests {
    use super::DROP_PATTERNS;
    use crate::testing::{check_edits, check_none};

    #[track_caller]
    fn check(pattern: &str, expected: &[&str]) {
        let program = |pattern: &str| format!("match a:\n    case {pattern}: b\n");
        let expected: Vec<_> = expected.iter().map(|text| program(text)).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check_edits(&DROP_PATTERNS, &program(pattern), &expected);
    }

    #[test]
    fn patterns_become_their_parts() {
        check("[c, *d]", &["_", "c"]);
        check(
            "A(1) as b",
            &["_", "A(1)", "b", "_ as b", "1 as b", "A(_) as b"],
        );
        check("{'k': A()}", &["_", "A()", "{'k': _}"]);
        check("(1) | (2)", &["(1)", "(2)", "_", "(1) | (_)"]);
    }

    #[test]
    fn nothing_follows_what_matches_all() {
        check_edits(
            &DROP_PATTERNS,
            "match a:\n    case [b]: c\n    case d: e\n",
            &[],
        );
    }

    #[test]
    fn names_stay() {
        check_none(&DROP_PATTERNS, "match a:\n    case _: c\n");
    }
}
