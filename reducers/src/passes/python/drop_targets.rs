use std::collections::{BTreeMap, BTreeSet};

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Expr, ExprContext, ExprTuple, StmtAssign, StmtAugAssign},
        rows::{Row, RowKind, widened},
        scope::BindingKind,
    },
};

pass! {
    /// Removes targets of assignments and `del`, and names of `global` and `nonlocal`; an
    /// assignment without targets becomes its value.
    ///
    /// ```python before
    /// a = b, c = f(x)
    /// ```
    /// ```python after
    /// a = f(x)
    /// ```
    pub(crate) static DROP_TARGETS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let only_bindings = only_bindings(cx.program);
    let effects = Effects::of(cx.program);
    for row in cx.program.rows().iter().rev() {
        let worth = match row.kind {
            RowKind::Names => row.items.len() > 1,
            RowKind::Targets => row.items.len() > 1 || effects.of_value(row.inner.end()),
            _ => continue,
        };
        for (item, range) in row.with_ids().rev() {
            if worth && !(row.kind == RowKind::Targets && only_bindings.contains(&range.start())) {
                let note = format!("target `{}`", cx.program.excerpt(range));
                out.remove(item, Prior::Even, note);
            }
        }
        out.next_group();
    }
    for node in cx.program.tree().nodes.iter().rev() {
        let elements = match node.node {
            AnyNodeRef::StmtAssign(stmt) => {
                pair_off(cx.program, stmt, out);
                continue;
            }
            AnyNodeRef::StmtAugAssign(stmt) => {
                simplify(cx.program, stmt, &effects, out);
                continue;
            }
            AnyNodeRef::StmtFor(stmt) => {
                pair_off_iterables(cx.program, &stmt.target, &stmt.iter, out);
                continue;
            }
            AnyNodeRef::Comprehension(clause) => {
                pair_off_iterables(cx.program, &clause.target, &clause.iter, out);
                continue;
            }
            AnyNodeRef::ExprTuple(it) if it.ctx == ExprContext::Store => &it.elts,
            AnyNodeRef::ExprList(it) if it.ctx == ExprContext::Store => &it.elts,
            _ => continue,
        };
        for element in elements {
            let element = if let Expr::Starred(it) = element {
                &it.value
            } else {
                element
            };
            if let Some(edits) = keep_part(cx.program, node.node.range(), element) {
                let note = format!("only target `{}`", cx.program.excerpt(element.range()));
                out.propose(edits, Prior::Unlikely, note);
                out.next_group();
            }
        }
    }
}

/// Names that are used and bound nowhere else: without the binding their uses would fail.
fn only_bindings(program: &Program) -> BTreeSet<TextSize> {
    let variables = program
        .scopes()
        .variables
        .iter()
        .filter(|variable| !variable.uses.is_empty());
    variables
        .filter_map(|variable| {
            let mut strong = variable
                .bindings
                .iter()
                .filter(|binding| binding.kind != BindingKind::Weak);
            strong
                .next()
                .filter(|_| strong.next().is_none())
                .map(|binding| binding.range.start())
        })
        .collect()
}

/// The assigned values that do more than name or write something: the bug may depend on them.
struct Effects {
    /// The values of assignments, parentheses included, by where they start.
    values: BTreeMap<TextSize, TextRange>,
    /// The starts of the expressions that compute something.
    active: Vec<TextRange>,
}

impl Effects {
    fn of(program: &Program) -> Self {
        let mut effects = Self {
            values: BTreeMap::new(),
            active: Vec::new(),
        };
        for node in &program.tree().nodes {
            let (statement, value) = match node.node {
                AnyNodeRef::StmtAssign(stmt) => (stmt.range, &stmt.value),
                AnyNodeRef::StmtAugAssign(stmt) => (stmt.range, &stmt.value),
                other => {
                    if computes(other) {
                        effects.active.push(other.range());
                    }
                    continue;
                }
            };
            let value = widened(program, statement, value.range());
            effects.values.insert(value.start(), value);
        }
        effects
    }

    /// Whether the value that starts here computes something.
    fn of_value(&self, start: TextSize) -> bool {
        let first = self.active.partition_point(|range| range.start() < start);
        let value = self.values.get(&start);
        value
            .zip(self.active.get(first))
            .is_some_and(|(value, active)| value.contains_range(*active))
    }
}

fn computes(node: AnyNodeRef<'_>) -> bool {
    matches!(
        node,
        AnyNodeRef::ExprCall(_)
            | AnyNodeRef::ExprAttribute(_)
            | AnyNodeRef::ExprSubscript(_)
            | AnyNodeRef::ExprBinOp(_)
            | AnyNodeRef::ExprUnaryOp(_)
            | AnyNodeRef::ExprCompare(_)
            | AnyNodeRef::ExprAwait(_)
            | AnyNodeRef::ExprYield(_)
            | AnyNodeRef::ExprYieldFrom(_)
            | AnyNodeRef::Comprehension(_)
            | AnyNodeRef::InterpolatedElement(_)
            | AnyNodeRef::ExprStarred(_)
    )
}

/// `a, b = c, d` as one of `a = c` and `b = d`; with more targets, all but one with their values.
fn pair_off(program: &Program, stmt: &StmtAssign, out: &mut Proposals) {
    if let ([Expr::Tuple(targets)], Expr::Tuple(values)) = (stmt.targets.as_slice(), &*stmt.value) {
        drop_pairs(program, targets, values.range, &values.elts, out);
    }
}

/// `for a, b in zip(c, d)` as one of `for a in c` and `for b in d`, with more targets as all but one
/// with their iterables; `for i, a in enumerate(c)` as `for a in c`.
fn pair_off_iterables(program: &Program, target: &Expr, iter: &Expr, out: &mut Proposals) {
    let (Expr::Tuple(targets), Expr::Call(call)) = (target, iter) else {
        return;
    };
    let arguments = &call.arguments.args;
    match call.func.as_name_expr().map(|name| name.id.as_str()) {
        Some("zip") if call.arguments.keywords.is_empty() => {
            drop_pairs(program, targets, call.range, arguments, out);
        }
        Some("enumerate") => {
            if let ([_, target], Some(iterable)) = (targets.elts.as_slice(), arguments.first())
                && !target.is_starred_expr()
                && !iterable.is_starred_expr()
            {
                keep_pair(
                    program,
                    (targets.range, target),
                    (call.range, iterable),
                    out,
                );
            }
        }
        _ => {}
    }
}

/// Drops each target with the value of the same place; `whole` is the range of all values.
fn drop_pairs(
    program: &Program,
    targets: &ExprTuple,
    whole: TextRange,
    values: &[Expr],
    out: &mut Proposals,
) {
    let mut all = targets.elts.iter().chain(values);
    if targets.elts.len() != values.len() || all.any(Expr::is_starred_expr) {
        return;
    }
    let row = |range: TextRange| {
        program.rows().iter().find(|row| {
            matches!(row.kind, RowKind::TupleElements { .. } | RowKind::Arguments)
                && range.contains_range(row.inner)
        })
    };
    let rows = row(targets.range).zip(row(whole));
    for (at, (target, value)) in targets.elts.iter().zip(values).enumerate() {
        if values.len() == 2 {
            keep_pair(program, (targets.range, target), (whole, value), out);
        } else if let Some((targets, values)) = rows.filter(|_| values.len() > 2) {
            let removal = |row: &Row| EditSet::removal(row.id(at));
            let note = format!("target `{}` and its value", program.excerpt(target.range()));
            let edits = removal(targets).union(&removal(values));
            out.propose(edits, Prior::Even, note);
            out.next_group();
        }
    }
}

/// Keeps one of several targets, and its value, each with the range of all.
fn keep_pair(
    program: &Program,
    (targets, target): (TextRange, &Expr),
    (values, value): (TextRange, &Expr),
    out: &mut Proposals,
) {
    let edits = keep_part(program, targets, target).zip(keep_part(program, values, value));
    if let Some((one, other)) = edits {
        let note = format!(
            "only target `{}` and its value",
            program.excerpt(target.range())
        );
        out.propose(one.union(&other), Prior::Even, note);
        out.next_group();
    }
}

/// `a += b` as `b`, then as `a = b`.
fn simplify(program: &Program, stmt: &StmtAugAssign, effects: &Effects, out: &mut Proposals) {
    let value = widened(program, stmt.range, stmt.value.range());
    if effects.of_value(value.start()) {
        let range = TextRange::new(stmt.start(), value.start());
        out.delete(
            range,
            Prior::Unlikely,
            format!("target `{}`", program.excerpt(stmt.target.range())),
        );
        out.next_group();
    }
    if let Some(operator) = program.previous_token(value.start()) {
        let edits = EditSet::one(Edit::replace(operator.range(), "="));
        out.propose(edits, Prior::Unlikely, "plain assignment");
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_TARGETS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn assignments_lose_their_targets() {
        check_edits(
            &DROP_TARGETS,
            "a = (b) = f()\n",
            &["a = f()\n", "(b) = f()\n"],
        );
        check_all(&DROP_TARGETS, "a = b.c = \\\n  (f())\n", "(f())\n");
        check_edits(&DROP_TARGETS, "a += f()\n", &["f()\n", "a = f()\n"]);
    }

    #[test]
    fn several_targets_become_one() {
        check_edits(
            &DROP_TARGETS,
            "for a, *b in c: pass\n",
            &["for a in c: pass\n", "for b in c: pass\n"],
        );
    }

    #[test]
    fn targets_go_with_their_values() {
        let texts = |text: &str| {
            let program = crate::syntax::Program::parse(text).unwrap();
            let proposals = crate::testing::proposals(&DROP_TARGETS, &program);
            let texts = proposals
                .iter()
                .filter(|proposal| proposal.note.ends_with("its value"));
            texts
                .map(|proposal| proposal.edits.apply(&program).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts("a, (b) = c + 1, (d)\n"), ["a = c + 1\n", "b = d\n"]);
        assert_eq!(
            texts("(a, b, c) = 1, 2, 3\n"),
            ["(b, c) = 2, 3\n", "(a, c) = 1, 3\n", "(a, b) = 1, 2\n"]
        );
        assert!(texts("a, *b = 1, 2\nc, d = e\n").is_empty());
        assert_eq!(
            texts("for (a, b) in zip(c, d.e()): pass\n"),
            ["for a in c: pass\n", "for b in d.e(): pass\n"]
        );
        assert_eq!(
            texts("[a for a, b, (c, d) in zip(e, f, g(h))]\n"),
            [
                "[a for b, (c, d) in zip(f, g(h))]\n",
                "[a for a, (c, d) in zip(e, g(h))]\n",
                "[a for a, b in zip(e, f)]\n"
            ]
        );
        assert_eq!(
            texts("for i, (a, b) in enumerate(c, 1): pass\n"),
            ["for (a, b) in c: pass\n"]
        );
        assert!(texts("for a, b in zip(*c): pass\nfor d, e in zip(f): pass\n").is_empty());
    }

    #[test]
    fn names_of_del_and_global() {
        check_edits(&DROP_TARGETS, "del a, (b)\n", &["del a\n", "del (b)\n"]);
        check_edits(
            &DROP_TARGETS,
            "def f():\n    global a, b\n",
            &["def f():\n    global a\n", "def f():\n    global b\n"],
        );
    }

    #[test]
    fn what_is_used_or_plain_keeps_its_target() {
        check_none(&DROP_TARGETS, "a = f()\nprint(a)\nb = 1\nc = [d, 'e']\n");
    }
}
