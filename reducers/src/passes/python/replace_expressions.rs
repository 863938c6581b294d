use std::collections::BTreeSet;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{CmpOp, Expr, ExprContext, Operator},
    },
};

pass! {
    /// Replaces an expression with a plain literal of a fitting type.
    ///
    /// Arithmetic on integers is replaced with its result. A size of a tensor becomes 1, other
    /// numbers become 0.
    ///
    /// ```python before
    /// x = f(a, b) + g(c)
    /// ```
    /// ```python after
    /// x = 0
    /// ```
    pub(crate) static REPLACE_EXPRESSIONS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    // Replacing a name is worth a run only if its definition becomes unused.
    let variables = &cx.program.scopes().variables;
    let only_uses: BTreeSet<TextSize> = variables
        .iter()
        .filter(|variable| variable.uses.len() == 1)
        .map(|variable| variable.uses[0].range.start())
        .collect();
    let values = values(cx.program);
    let mut computed: Vec<TextRange> = Vec::new();
    for (expr, _) in &values {
        let is_inside = computed
            .iter()
            .any(|range| range.contains_range(expr.range()));
        let Some(number) = integer(expr).filter(|_| expr.is_bin_op_expr() && !is_inside) else {
            continue;
        };
        computed.push(expr.range());
        let edits = EditSet::one(Edit::replace(expr.range(), number.to_string()));
        if cx.scales.lightens(&edits) {
            let short = cx.program.excerpt(expr.range());
            out.propose(
                edits,
                Prior::Likely,
                format!("`{short}` replaced with `{number}`"),
            );
        }
    }
    out.next_group();
    let objects = objects(cx.program);
    let sizes = cx.sizes();
    for (expr, _) in values {
        let is_object = objects.contains(&expr.start());
        let Some(literal) = literal_for(expr).filter(|text| *text != "0" || !is_object) else {
            continue;
        };
        let is_size = literal == "0" && sizes.contains(&expr.start());
        let literal = if is_size { "1" } else { literal };
        let text = cx.program.slice(expr.range());
        let is_statement = statements.place(expr.range()).is_some();
        let is_shared_name = expr.is_name_expr() && !only_uses.contains(&expr.start());
        if text.len() <= literal.len() || is_statement || is_shared_name {
            continue;
        }
        let short: String = text
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect();
        let edits = EditSet::one(Edit::replace(expr.range(), literal));
        // A 1 weighs a little more than a name, a 0 does not.
        if is_size && !cx.scales.lightens(&edits) {
            continue;
        }
        out.propose(
            edits,
            Prior::Unlikely,
            format!("`{short}` replaced with `{literal}`"),
        );
        out.next_group();
    }
}

/// The starts of expressions that no number can replace: bases of classes, and whatever is
/// unpacked, iterated over, entered, raised, awaited or searched.
fn objects(program: &Program) -> BTreeSet<TextSize> {
    let is_row = |expr: &Expr| matches!(expr, Expr::Tuple(_) | Expr::List(_));
    let mut found: BTreeSet<TextSize> = BTreeSet::new();
    for node in &program.tree().nodes {
        let one = match node.node {
            AnyNodeRef::StmtAssign(it) if it.targets.iter().any(is_row) => Some(&*it.value),
            AnyNodeRef::StmtFor(it) => Some(&*it.iter),
            AnyNodeRef::Comprehension(it) => Some(&it.iter),
            AnyNodeRef::WithItem(it) => Some(&it.context_expr),
            AnyNodeRef::StmtRaise(it) => it.exc.as_deref(),
            AnyNodeRef::ExprAwait(it) => Some(&*it.value),
            AnyNodeRef::ExprYieldFrom(it) => Some(&*it.value),
            AnyNodeRef::ExprStarred(it) => Some(&*it.value),
            AnyNodeRef::StmtClassDef(it) => {
                found.extend(it.bases().iter().map(Ranged::start));
                None
            }
            AnyNodeRef::ExprCompare(it) => {
                let pairs = it.ops.iter().zip(&it.comparators);
                let searched = pairs.filter(|(op, _)| matches!(op, CmpOp::In | CmpOp::NotIn));
                found.extend(searched.map(|(_, range)| range.start()));
                None
            }
            _ => None,
        };
        found.extend(one.map(Ranged::start));
    }
    found
}

/// The integer that an expression of literals evaluates to.
fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::NumberLiteral(it) => it.value.as_int()?.as_i64(),
        Expr::BinOp(it) => {
            let (left, right) = (integer(&it.left)?, integer(&it.right)?);
            let is_divisible = left >= 0 && right > 0;
            match it.op {
                Operator::Add => left.checked_add(right),
                Operator::Sub => left
                    .checked_sub(right)
                    .filter(|difference| *difference >= 0),
                Operator::Mult => left.checked_mul(right),
                Operator::FloorDiv if is_divisible => Some(left / right),
                Operator::Mod if is_divisible => Some(left % right),
                Operator::Pow => left.checked_pow(u32::try_from(right).ok()?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The expressions of a program that stand for values, each with its depth of nesting: outer before
/// inner, later before earlier. Annotations, targets, patterns, decorators, docstrings, the inside
/// of f-strings, and expressions that are called or looked into are left out.
pub(crate) fn values(program: &Program) -> Vec<(&Expr, u32)> {
    let tree = program.tree();
    let mut depths: Vec<Option<u32>> = Vec::with_capacity(tree.nodes.len());
    let mut found: Vec<(&Expr, u32)> = Vec::new();
    for node in &tree.nodes {
        let parent = node.parent.map(|at| &tree.nodes[at as usize]);
        let above = node.parent.map_or(Some(0), |at| depths[at as usize]);
        let excluded = matches!(
            node.node,
            AnyNodeRef::FString(_)
                | AnyNodeRef::ExprFString(_)
                | AnyNodeRef::ExprTString(_)
                | AnyNodeRef::TString(_)
                | AnyNodeRef::MatchCase(_)
                | AnyNodeRef::Parameter(_)
                | AnyNodeRef::Decorator(_)
                | AnyNodeRef::TypeParams(_)
        ) || is_annotation(parent.map(|node| node.node), node.node);
        let is_body_of_case = parent
            .is_some_and(|node| matches!(node.node, AnyNodeRef::MatchCase(_)))
            && node.node.is_statement();
        let is_expression = node.node.is_expression();
        if is_expression
            && above.is_some()
            && let Some(expr) = as_expr(parent.map(|node| node.node), node.node)
        {
            found.push((expr, above.unwrap_or(0)));
        }
        let here = match above {
            _ if is_body_of_case => Some(0),
            Some(_) if node.node.is_statement() => Some(0),
            Some(depth) if !excluded => Some(depth + u32::from(is_expression)),
            // Expressions that are left out, such as a lambda's default, hold no statements.
            _ => None,
        };
        depths.push(here);
    }
    found.sort_by_key(|(expr, depth)| (*depth, std::cmp::Reverse(expr.start())));
    found
}

fn is_annotation(parent: Option<AnyNodeRef<'_>>, node: AnyNodeRef<'_>) -> bool {
    let is = |expr: Option<&Expr>| expr.is_some_and(|expr| expr.range() == node.range());
    match parent {
        Some(AnyNodeRef::StmtFunctionDef(def)) => is(def.returns.as_deref()),
        Some(AnyNodeRef::StmtAnnAssign(stmt)) => is(Some(&stmt.annotation)),
        Some(AnyNodeRef::StmtTypeAlias(_)) => true,
        _ => false,
    }
}

/// An expression in load context that may be replaced as a whole.
fn as_expr<'a>(parent: Option<AnyNodeRef<'a>>, node: AnyNodeRef<'a>) -> Option<&'a Expr> {
    let expr = expr_of(parent?, node.range())?;
    let is_load = match expr {
        Expr::Name(it) => it.ctx == ExprContext::Load,
        Expr::Attribute(it) => it.ctx == ExprContext::Load,
        Expr::Subscript(it) => it.ctx == ExprContext::Load,
        Expr::List(it) => it.ctx == ExprContext::Load,
        Expr::Tuple(it) => it.ctx == ExprContext::Load && it.parenthesized,
        Expr::Starred(_) | Expr::Slice(_) | Expr::Named(_) => false,
        _ => true,
    };
    is_load.then_some(expr)
}

/// The child expression of a node that has this range, where a literal may stand in its place.
fn expr_of(parent: AnyNodeRef<'_>, range: TextRange) -> Option<&Expr> {
    let mut children: Vec<&Expr> = Vec::new();
    match parent {
        AnyNodeRef::StmtAssign(it) => children.push(&it.value),
        AnyNodeRef::StmtAugAssign(it) => children.push(&it.value),
        AnyNodeRef::StmtAnnAssign(it) => children.extend(it.value.as_deref()),
        AnyNodeRef::StmtReturn(it) => children.extend(it.value.as_deref()),
        AnyNodeRef::StmtExpr(it) => children.push(&it.value),
        AnyNodeRef::StmtFor(it) => children.push(&it.iter),
        AnyNodeRef::StmtWhile(it) => children.push(&it.test),
        AnyNodeRef::StmtIf(it) => children.push(&it.test),
        AnyNodeRef::ElifElseClause(it) => children.extend(it.test.as_ref()),
        AnyNodeRef::StmtMatch(it) => children.push(&it.subject),
        AnyNodeRef::StmtAssert(it) => {
            children.push(&it.test);
            children.extend(it.msg.as_deref());
        }
        AnyNodeRef::StmtRaise(it) => children.extend(it.exc.as_deref()),
        AnyNodeRef::WithItem(it) => children.push(&it.context_expr),
        AnyNodeRef::ParameterWithDefault(it) => children.extend(it.default.as_deref()),
        AnyNodeRef::Arguments(it) => children.extend(&it.args),
        AnyNodeRef::Keyword(it) => children.push(&it.value),
        AnyNodeRef::Comprehension(it) => {
            children.push(&it.iter);
            children.extend(&it.ifs);
        }
        AnyNodeRef::ExprBoolOp(it) => children.extend(&it.values),
        AnyNodeRef::ExprNamed(it) => children.push(&it.value),
        AnyNodeRef::ExprBinOp(it) => children.extend([&*it.left, &*it.right]),
        AnyNodeRef::ExprUnaryOp(it) => children.push(&it.operand),
        AnyNodeRef::ExprLambda(it) => children.push(&it.body),
        AnyNodeRef::ExprIf(it) => children.extend([&*it.test, &*it.body, &*it.orelse]),
        AnyNodeRef::ExprDict(it) => {
            for item in &it.items {
                children.extend(item.key.as_ref());
                children.push(&item.value);
            }
        }
        AnyNodeRef::ExprSet(it) => children.extend(&it.elts),
        AnyNodeRef::ExprList(it) => children.extend(&it.elts),
        AnyNodeRef::ExprTuple(it) => children.extend(&it.elts),
        AnyNodeRef::ExprListComp(it) => children.push(&it.elt),
        AnyNodeRef::ExprSetComp(it) => children.push(&it.elt),
        AnyNodeRef::ExprDictComp(it) => children.extend([&*it.key, &*it.value]),
        AnyNodeRef::ExprGenerator(it) => children.push(&it.elt),
        AnyNodeRef::ExprAwait(it) => children.push(&it.value),
        AnyNodeRef::ExprYield(it) => children.extend(it.value.as_deref()),
        AnyNodeRef::ExprYieldFrom(it) => children.push(&it.value),
        AnyNodeRef::ExprCompare(it) => {
            children.push(&it.left);
            children.extend(&it.comparators);
        }
        // A literal cannot replace an expression that is called or looked into.
        AnyNodeRef::ExprSubscript(it) => children.push(&it.slice),
        AnyNodeRef::ExprStarred(it) => children.push(&it.value),
        _ => {}
    }
    children.into_iter().find(|child| child.range() == range)
}

/// The simplest literal of the type that an expression seems to have.
fn literal_for(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::List(_) | Expr::ListComp(_) => Some("[]"),
        Expr::Dict(_) | Expr::DictComp(_) => Some("{}"),
        Expr::Tuple(_) | Expr::Generator(_) | Expr::SetComp(_) => Some("()"),
        Expr::FString(_) => Some("''"),
        Expr::BinOp(_)
        | Expr::UnaryOp(_)
        | Expr::Compare(_)
        | Expr::BoolOp(_)
        | Expr::Call(_)
        | Expr::Attribute(_)
        | Expr::Subscript(_)
        | Expr::Name(_)
        | Expr::If(_)
        | Expr::Lambda(_)
        | Expr::Await(_) => Some("0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::REPLACE_EXPRESSIONS;
    use crate::syntax::Program;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn arithmetic_is_done() {
        let program = Program::parse("f(2 * 9 + 1, x + 1 - 1, 3 // 0, 2 ** 99)\n").unwrap();
        let first = &REPLACE_EXPRESSIONS.proposals(&program)[0];
        assert_eq!(
            first.edits.apply(&program).unwrap(),
            "f(19, x + 1 - 1, 3 // 0, 2 ** 99)\n"
        );
    }

    #[test]
    fn sizes_of_tensors_become_one() {
        let text = "import torch\nx = torch.ones(a.b, 2).sum(c.d)\n";
        let program = Program::parse(text).unwrap();
        let proposals = REPLACE_EXPRESSIONS.proposals(&program);
        let found: Vec<String> = proposals
            .iter()
            .map(|proposal| proposal.edits.apply(&program).unwrap())
            .collect();
        assert!(
            found.contains(&text.replace("a.b", "1")) && found.contains(&text.replace("c.d", "0")),
            "{found:#?}"
        );
    }

    #[test]
    fn numbers_do_not_stand_for_objects() {
        check_none(&REPLACE_EXPRESSIONS, "class A(b.c): pass\n");
        check_none(
            &REPLACE_EXPRESSIONS,
            "a, b = c()\nfor d in e(): pass\nwith f(): g in h()\nraise i()\n[*j()]\n",
        );
    }

    #[test]
    fn outer_expressions_come_first() {
        check_edits(
            &REPLACE_EXPRESSIONS,
            "x = f(a + b, [1, 2])\n",
            &["x = 0\n", "x = f(a + b, [])\n", "x = f(0, [1, 2])\n"],
        );
    }

    #[test]
    fn targets_annotations_and_patterns_stay() {
        check_none(
            &REPLACE_EXPRESSIONS,
            "def f(a: g(1)) -> h(2): pass\n[x.y, z[0]] = 1\nmatch 1:\n    case a.b: pass\nf'{x + 1}'\nf(a)\n",
        );
    }
}
