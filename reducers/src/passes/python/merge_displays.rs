use std::collections::BTreeMap;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Expr, ExprCall, StmtAssign},
        scope::Variable,
    },
};

pass! {
    /// Moves the first element that is added to a new list, dict or set into its display.
    ///
    /// ```python before
    /// rows = []
    /// x = f()
    /// rows.append(x)
    /// ```
    /// ```python after
    /// x = f()
    /// rows = [x]
    /// ```
    pub(crate) static MERGE_DISPLAYS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    let nodes: BTreeMap<(TextSize, TextSize), AnyNodeRef<'_>> = tree
        .nodes
        .iter()
        .filter(|node| node.node.is_statement())
        .map(|node| ((node.node.start(), node.node.end()), node.node))
        .collect();
    let node = |range: TextRange| nodes.get(&(range.start(), range.end())).copied();
    for variable in cx.program.scopes().variables.iter().rev() {
        let [binding] = variable.bindings.as_slice() else {
            continue;
        };
        let Some(first) = first_use(variable) else {
            continue;
        };
        let Some(AnyNodeRef::StmtAssign(made)) = node(binding.statement) else {
            continue;
        };
        let places = statements.place(made.range).zip(statements.place(first));
        let Some((from, to)) =
            places.filter(|(from, to)| from.row == to.row && from.item < to.item)
        else {
            continue;
        };
        let Some(text) = node(first).and_then(|first| merged(cx.program, variable, made, first))
        else {
            continue;
        };
        let mut edits = EditSet::one(Edit::replace(cx.program.item(to), text));
        edits.remove(from);
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("first element of `{}` in its display", variable.name),
            );
        }
        out.next_group();
    }
}

/// The statement that uses a variable first.
fn first_use(variable: &Variable) -> Option<TextRange> {
    variable
        .uses
        .iter()
        .min_by_key(|usage| usage.range.start())
        .map(|binding| binding.statement)
}

/// The assignment of a display, extended by the element that a statement adds.
fn merged(
    program: &Program,
    variable: &Variable,
    made: &StmtAssign,
    adding: AnyNodeRef<'_>,
) -> Option<String> {
    let [Expr::Name(_)] = made.targets.as_slice() else {
        return None;
    };
    let (open, inside, close) = match &*made.value {
        Expr::List(it) => ("[", it.range, "]"),
        Expr::Dict(it) => ("{", it.range, "}"),
        Expr::Set(it) => ("{", it.range, "}"),
        Expr::Call(call) if call.arguments.is_empty() => {
            match call.func.as_name_expr()?.id.as_str() {
                "list" => ("[", call.range, "]"),
                "dict" | "set" => ("{", call.range, "}"),
                _ => return None,
            }
        }
        _ => return None,
    };
    let is_display = !made.value.is_call_expr();
    let held = if is_display {
        program.slice(within(inside)).trim().trim_end_matches(',')
    } else {
        ""
    };
    let is_dict = made.value.is_dict_expr() || program.slice(inside).starts_with("dict");
    let added = match adding {
        AnyNodeRef::StmtExpr(stmt) if !is_dict => {
            added_by_call(program, variable, stmt.value.as_call_expr()?)?
        }
        AnyNodeRef::StmtAssign(stmt) if is_dict => {
            let [Expr::Subscript(target)] = stmt.targets.as_slice() else {
                return None;
            };
            let name = target.value.as_name_expr()?;
            (name.id == variable.name).then_some(())?;
            format!(
                "{}: {}",
                program.slice(target.slice.range()),
                program.slice(stmt.value.range())
            )
        }
        _ => return None,
    };
    let comma = if held.is_empty() { "" } else { ", " };
    let text = format!("{} = {open}{held}{comma}{added}{close}", variable.name);
    // A comment would hide the code behind it, and a value that is consumed in between would
    // differ.
    (!text.contains('#')
        && variable
            .uses
            .iter()
            .filter(|usage| adding.range().contains_range(usage.range))
            .count()
            == 1)
        .then_some(text)
}

/// The argument of `x.append(…)` or `x.add(…)`.
fn added_by_call(program: &Program, variable: &Variable, call: &ExprCall) -> Option<String> {
    let method = call.func.as_attribute_expr()?;
    let is_ours = method
        .value
        .as_name_expr()
        .is_some_and(|name| name.id == variable.name)
        && matches!(method.attr.as_str(), "append" | "add");
    match call.arguments.args.as_ref() {
        [only] if is_ours && call.arguments.keywords.is_empty() && !only.is_starred_expr() => {
            Some(program.slice(only.range()).to_owned())
        }
        _ => None,
    }
}

fn within(range: TextRange) -> TextRange {
    TextRange::new(
        range.start() + TextSize::new(1),
        range.end() - TextSize::new(1),
    )
}

#[cfg(test)]
mod tests {
    use super::MERGE_DISPLAYS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn displays_hold_what_is_added() {
        check_edits(
            &MERGE_DISPLAYS,
            "a = {'b': 1,}\na[c] = d\nprint(a)\n",
            &["a = {'b': 1, c: d}\nprint(a)\n"],
        );
        check_edits(
            &MERGE_DISPLAYS,
            "def f():\n    a = set()\n    a.add(1)\n    a.add(2)\n",
            &["def f():\n    a = {1}\n    a.add(2)\n"],
        );
        check_edits(
            &MERGE_DISPLAYS,
            "a = [b]\na.append((c))\n",
            &["a = [b, c]\n"],
        );
    }

    #[test]
    fn what_is_used_before_or_elsewhere_stays() {
        check_none(&MERGE_DISPLAYS, "a = []\nprint(a)\na.append(1)\n");
        check_none(&MERGE_DISPLAYS, "a = []\nfor b in c: a.append(b)\n");
        check_none(
            &MERGE_DISPLAYS,
            "a = []\na.append(a)\nd = {}\nd[0][1] = 2\ne = []\ne[0] = 1\n",
        );
    }
}
