//! Whether anything decides that a report is made: a condition, or the filter of what it loops
//! over. Called by the judge; proposes nothing.

use crate::{
    analysis::{
        assignments::assigned_values,
        dependence_check::{ReportSite, Rest, told},
    },
    syntax::{AnyNodeRef, Program, Ranged, ast::Expr},
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
            let is_said = matches!(report_site, ReportSite::Words(_)) || node.is_stmt_raise();
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
    }
}
