use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, ExprCall, ExprDict},
    },
};

pass! {
    /// Writes a class that a call of `type` or of a metaclass creates as a `class` statement.
    ///
    /// ```python before
    /// cls = type("Point", (Base,), {"x": 0, "y": 0})
    /// ```
    /// ```python after
    /// class Point:
    ///     x = 0
    ///     y = 0
    /// ```
    pub(crate) static WRITE_CLASSES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for node in cx.program.tree().nodes.iter().rev() {
        let value = match node.node {
            AnyNodeRef::StmtExpr(it) => &*it.value,
            AnyNodeRef::StmtAssign(it) => &*it.value,
            _ => continue,
        };
        let Expr::Call(call) = value else { continue };
        let Some(text) = class(cx.program, node.node.range(), call) else {
            continue;
        };
        let edits = EditSet::one(Edit::replace(node.node.range(), text));
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("class statement for `{}`", cx.program.excerpt(call.range)),
            );
        }
    }
}

/// The class statement for a call with a name, bases and a namespace as its last arguments.
fn class(program: &Program, statement: TextRange, call: &ExprCall) -> Option<String> {
    let is_maker = match &*call.func {
        Expr::Name(it) => it.id == "type",
        Expr::Attribute(it) => it.attr.as_str() == "__new__",
        _ => false,
    };
    let [.., name, _, Expr::Dict(members)] = &*call.arguments.args else {
        return None;
    };
    let name = match name {
        Expr::StringLiteral(it) => it.value.to_str(),
        Expr::Name(it) => it.id.as_str(),
        _ => return None,
    };
    let indent = program.indentation(statement).filter(|_| is_maker)?;
    // Any name will do for a class that has none.
    let name = if name.is_empty() { "_" } else { name };
    let lines = lines(program, members)?;
    let newline = format!("{}{indent}    ", program.newline());
    Some(format!("class {name}:{newline}{}", lines.join(&newline)))
}

fn lines(program: &Program, members: &ExprDict) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    for item in &members.items {
        let Some(Expr::StringLiteral(key)) = &item.key else {
            return None;
        };
        lines.push(format!(
            "{} = {}",
            key.value.to_str(),
            program.slice(item.value.range())
        ));
    }
    if lines.is_empty() {
        lines.push("pass".to_owned());
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::WRITE_CLASSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn calls_of_metaclasses_are_classes() {
        check_edits(
            &WRITE_CLASSES,
            "def f(m, name):\n    super().__new__(m, name, (), {'__slots__': ('a',)})\n",
            &["def f(m, name):\n    class name:\n        __slots__ = ('a',)\n"],
        );
    }

    #[test]
    fn other_calls_stay() {
        check_none(
            &WRITE_CLASSES,
            "x = type(y)\nz = f('A', (), {'b': 1})\nw = type('A', (), {k: 1})\n",
        );
    }
}
