//! Comparisons of a thing with itself. A check of what was before with what is now says something
//! if anything happened between the two; a thing and itself at one moment are always the same.
//! Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_check::{ReportSite, Rest, told},
        statement_tree::StatementTree,
        watch::nearest_operands,
    },
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::Expr},
};

/// Through how many variables a value is followed.
const DEPTH: usize = 4;

/// A value that is read, not computed, and when.
#[derive(Debug, PartialEq, Eq)]
struct StateRead<'a> {
    text: &'a str,
    /// The statement that reads it.
    statement: usize,
}

/// Whether the nearest condition of a report compares the same attribute, element or state of the
/// same object, and nothing that may change it runs between the two readings.
pub fn compares_with_itself(program: &Program, report_site: &ReportSite) -> bool {
    let [one, other] = *nearest_operands(program, report_site) else {
        return false;
    };
    let tree = StatementTree::untraced(program);
    let (Some(one), Some(other)) = (reading(&tree, one, DEPTH), reading(&tree, other, DEPTH))
    else {
        return false;
    };
    one.text == other.text && nothing_runs_between(&tree, one.statement, other.statement)
}

/// Whether a report compares results of the same function with each other, and nothing else:
/// `hash(a) != hash(b)`. One of them compared with something else differs without any bug.
pub fn compares_alike(program: &Program, report_site: &ReportSite) -> bool {
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let conditions = Rest::of(tree, nodes).conditions_of(&frames);
        let reporting = frames.last().copied();
        let statements: BTreeSet<usize> = conditions.into_iter().chain(reporting).collect();
        let mut sides = Vec::new();
        for statement in statements {
            for compare in nodes[statement]
                .iter()
                .filter_map(AnyNodeRef::as_expr_compare)
            {
                let all = std::iter::once(&*compare.left).chain(&compare.comparators);
                let called: Vec<Option<&str>> =
                    all.map(|side| called(tree, statement, side)).collect();
                sides.push(called);
            }
        }
        let is_alike = |sides: &Vec<Option<&str>>| sides.iter().all(|side| *side == sides[0]);
        sides.iter().all(is_alike) && sides.iter().flatten().any(Option::is_some)
    });
    !found.is_empty() && found.into_iter().all(|is_alike| is_alike)
}

/// The function whose result an expression is, or the variable that it is.
fn called<'a>(tree: &StatementTree<'a>, statement: usize, value: &'a Expr) -> Option<&'a str> {
    let call = match value {
        Expr::Call(call) => call,
        Expr::Name(name) => {
            let range = assigned(tree, statement, &name.id)?;
            let nodes = tree.program.tree().within(range);
            let mut calls = nodes.filter_map(|node| node.as_expr_call().copied());
            calls.find(|call| call.range() == range)?
        }
        _ => return None,
    };
    match &*call.func {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(method) => Some(&method.attr),
        _ => None,
    }
}

/// The value of an expression, if it is only read: of a variable, the one that it was assigned.
fn reading<'a>(tree: &StatementTree<'a>, range: TextRange, depth: usize) -> Option<StateRead<'a>> {
    let statement = tree.around(range)?;
    let nodes = || tree.program.tree().within(range);
    let name = nodes()
        .find(|node| node.range() == range)
        .and_then(|node| node.as_expr_name().copied());
    let assigned = name.and_then(|name| assigned(tree, statement, &name.id));
    if let (Some(value), Some(depth)) = (assigned, depth.checked_sub(1)) {
        return reading(tree, value, depth);
    }
    nodes().all(is_read).then(|| StateRead {
        text: tree.program.slice(range),
        statement,
    })
}

/// The only value that a function assigns to a variable.
fn assigned(tree: &StatementTree<'_>, statement: usize, name: &str) -> Option<TextRange> {
    let function = tree.function_of(statement);
    let is_here = |&at: &usize| tree.function_of(at) == function;
    let is_name = |target: &Expr| target.as_name_expr().is_some_and(|its| its.id == name);
    let mut values = Vec::new();
    for at in (0..tree.statements.len()).filter(is_here) {
        let Some(assign) = tree.statements[at].node.as_stmt_assign() else {
            continue;
        };
        match (&*assign.targets, &*assign.value) {
            ([target], value) if is_name(target) => values.push(value.range()),
            ([Expr::Tuple(targets)], Expr::Tuple(display)) => {
                let pairs = targets.elts.iter().zip(&display.elts);
                let its = pairs.filter(|(target, _)| is_name(target));
                values.extend(its.map(|(_, value)| value.range()));
            }
            _ => {}
        }
    }
    match *values {
        [value] => Some(value),
        _ => None,
    }
}

/// Whether a node may stand in a reading: names, attributes, elements, and methods that are asked
/// without an argument.
fn is_read(node: AnyNodeRef<'_>) -> bool {
    match node {
        AnyNodeRef::ExprCall(call) => call.func.is_attribute_expr() && call.arguments.is_empty(),
        AnyNodeRef::ExprName(_)
        | AnyNodeRef::ExprAttribute(_)
        | AnyNodeRef::ExprSubscript(_)
        | AnyNodeRef::ExprNumberLiteral(_)
        | AnyNodeRef::ExprStringLiteral(_)
        | AnyNodeRef::StringLiteral(_)
        | AnyNodeRef::Arguments(_)
        | AnyNodeRef::Identifier(_) => true,
        _ => false,
    }
}

/// Whether no statement between two of one function calls anything or changes a thing in place.
fn nothing_runs_between(tree: &StatementTree<'_>, one: usize, other: usize) -> bool {
    let acts = |node: AnyNodeRef<'_>| {
        matches!(
            node,
            AnyNodeRef::ExprCall(_) | AnyNodeRef::ExprAwait(_) | AnyNodeRef::StmtAugAssign(_)
        ) || matches!(node, AnyNodeRef::ExprSubscript(element) if !element.ctx.is_load())
            || matches!(node, AnyNodeRef::ExprAttribute(attribute) if !attribute.ctx.is_load())
    };
    tree.function_of(one) == tree.function_of(other)
        && (one.min(other) + 1..one.max(other)).all(|between| {
            let mut nodes = tree.program.tree().within(tree.own_range(between));
            !nodes.any(acts)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> bool {
        let site = ReportSite::Raised(vec![text.lines().count() as u32]);
        compares_with_itself(&Program::parse(text).unwrap(), &site)
    }

    #[test]
    fn a_thing_is_itself() {
        for text in [
            "assert m.g.clone() < m.g.clone()\n",
            "a = m.g.clone()\nb = m.g.clone()\nassert (a < b).all()\n",
            "a, b = m.g, m.g\nassert a != b\n",
            "a = x['k']\nassert a != x['k']\n",
        ] {
            assert!(of(text), "{text}");
        }
    }

    #[test]
    fn results_of_one_function_are_alike() {
        let of = |text: &str| {
            let site = ReportSite::Raised(vec![text.lines().count() as u32]);
            compares_alike(&Program::parse(text).unwrap(), &site)
        };
        assert!(of("assert a == b and hash(a) != hash(b)\n"));
        assert!(of("x = a.f()\ny = b.f(1)\nassert x == y\n"));
        assert!(!of("assert hash(a) != a\n") && !of("assert a == b\n"));
        assert!(!of("assert f(a) == f(b) == 1\n"));
    }

    #[test]
    fn what_happens_between_may_change_it() {
        for text in [
            "a = m.g.clone()\no.step()\nb = m.g.clone()\nassert a < b\n",
            "a = m.g\nm.g = 2\nassert a != m.g\n",
            "a = m.g\nb = m.h\nassert a != b\n",
            "assert f(x) == f(x)\n",
            "a = 1\na = m.g\nassert a != m.g\n",
        ] {
            assert!(!of(text), "{text}");
        }
    }
}
