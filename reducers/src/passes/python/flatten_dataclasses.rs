use crate::{
    analysis::calls::{Calls, Movable, fields, given},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::Places,
        edit::{Edit, EditSet},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, ExprCall, StmtClassDef},
        rows::RowKind,
    },
};

pass! {
    /// Turns a dataclass or named tuple into a plain class whose attributes have the values that a
    /// call passes.
    ///
    /// ```python before
    /// @dataclass
    /// class Point:
    ///     x: int
    ///     tags: list = field(default_factory=list)
    /// p = Point(3)
    /// ```
    /// ```python after
    /// class Point:
    ///     x = 3
    ///     tags = []
    /// p = Point()
    /// ```
    pub(crate) static FLATTEN_DATACLASSES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let calls = Calls::of(tree);
    let places = Places::of(cx.program);
    let movable = Movable::of(cx.program, tree);
    for node in tree.nodes.iter().rev() {
        let AnyNodeRef::StmtClassDef(class) = node.node else {
            continue;
        };
        let calls = calls.of_class(class.name.as_str());
        if let Some(edits) = flatten(cx.program, class, &calls, &places, &movable)
            && cx.scales.gains(&edits)
        {
            out.propose(edits, Prior::Even, format!("plain class {}", class.name));
        }
    }
}

fn flatten(
    program: &Program,
    class: &StmtClassDef,
    calls: &[&ExprCall],
    places: &Places<'_>,
    movable: &Movable<'_>,
) -> Option<EditSet> {
    let fields = fields(class);
    if fields.is_empty() {
        return None;
    }
    let mut edits = EditSet::default();
    for (position, (name, field)) in fields.into_iter().enumerate() {
        // If there are several calls, the first sets the attribute.
        let argument = calls
            .iter()
            .find_map(|call| given(call, name, position).argument())
            .map(|(_, value)| value);
        let text = match argument.filter(|value| movable.allows(value, 1)) {
            Some(value) => program.slice(value.range()).to_owned(),
            None => default(program, field.value.as_deref()),
        };
        if text.contains('\n') {
            return None;
        }
        edits.edit(Edit::replace(
            TextRange::new(field.target.end(), field.end()),
            format!(" = {text}"),
        ));
        places.drop_arguments(calls, name, position, &mut edits);
    }
    // The decorators and bases that make it more than a plain class.
    for (id, row, range) in program.items() {
        let makes_fields = match row.kind {
            RowKind::Decorators => class
                .decorator_list
                .iter()
                .any(|decorator| decorator.range == range),
            RowKind::Arguments => class.bases().iter().any(|base| base.range() == range),
            _ => false,
        };
        if makes_fields
            && ["dataclass", "NamedTuple"]
                .iter()
                .any(|name| program.slice(range).contains(name))
        {
            edits.remove(id);
        }
    }
    Some(edits)
}

/// The default of a field: that of `field(default_factory=list)` is a list.
fn default(program: &Program, value: Option<&Expr>) -> String {
    let keyword = |call: &ExprCall, name: &str| {
        let keyword = call.arguments.find_keyword(name)?;
        Some(program.slice(keyword.value.range()).to_owned())
    };
    match value {
        Some(Expr::Call(call)) if program.slice(call.func.range()).ends_with("field") => {
            keyword(call, "default").unwrap_or_else(|| {
                match keyword(call, "default_factory").as_deref() {
                    Some("list") => "[]".to_owned(),
                    Some("dict") => "{}".to_owned(),
                    Some(factory) if !factory.starts_with("lambda") => format!("{factory}()"),
                    _ => "0".to_owned(),
                }
            })
        }
        Some(value) => program.slice(value.range()).to_owned(),
        None => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::FLATTEN_DATACLASSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn calls_say_what_the_attributes_are() {
        check_edits(
            &FLATTEN_DATACLASSES,
            "@dataclass(frozen=True)\nclass A:\n    x: int\n    y: 'str' = 'a'\n    def f(self): pass\nA(y=B, x=1).f()\n",
            &["class A:\n    x = 1\n    y = B\n    def f(self): pass\nA().f()\n"],
        );
        check_edits(
            &FLATTEN_DATACLASSES,
            "class A(typing.NamedTuple):\n    x: int\nfor i in []: A(i)\n",
            &["class A():\n    x = i\nfor i in []: A()\n"],
        );
    }

    #[test]
    fn plain_classes_are_plain() {
        check_none(&FLATTEN_DATACLASSES, "@other\nclass A:\n    x: int\nA(1)\n");
    }
}
