use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef, Ranged, TokenKind,
        ast::{TypeParam, TypeParams},
        rows::RowKind,
    },
};

pass! {
    /// Removes type parameters, their bounds and their defaults.
    ///
    /// ```python before
    /// def f[T: int, *U](x): ...
    /// ```
    /// ```python after
    /// def f(x): ...
    /// ```
    pub(crate) static DROP_TYPE_PARAMETERS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        if row.kind == RowKind::TypeParameters {
            for (item, range) in row.with_ids().rev() {
                let note = format!("type parameter `{}`", cx.program.excerpt(range));
                out.remove(item, Prior::Likely, note);
            }
        }
    }
    out.next_group();
    for node in cx.program.tree().nodes.iter().rev() {
        if let AnyNodeRef::TypeParams(parameters) = node.node {
            drop_details(cx, parameters, out);
        }
    }
}

fn drop_details(cx: &PassContext<'_>, parameters: &TypeParams, out: &mut Proposals) {
    // A parameter without a default cannot follow one that has one: each default is removed with
    // those before it.
    let mut defaults = EditSet::default();
    for parameter in &parameters.type_params {
        if let Some(default) = parameter.default()
            && let Some(range) = cx.program.tail(TokenKind::Equal, default.range())
        {
            defaults.edit(crate::rewrite::edit::Edit::delete(range));
            let note = format!("default of type parameter `{}`", parameter.name());
            out.propose(defaults.clone(), Prior::Likely, note);
        }
        if let TypeParam::TypeVar(variable) = parameter
            && let Some(bound) = &variable.bound
            && let Some(range) = cx.program.tail(TokenKind::Colon, bound.range())
        {
            out.delete(
                range,
                Prior::Likely,
                format!("bound of type parameter `{}`", variable.name),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_TYPE_PARAMETERS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_brackets_go_with_the_last() {
        check_edits(
            &DROP_TYPE_PARAMETERS,
            "class A[T: (int, str), U = (V)]: pass\n",
            &[
                "class A[T: (int, str)]: pass\n",
                "class A[U = (V)]: pass\n",
                "class A[T, U = (V)]: pass\n",
                "class A[T: (int, str), U]: pass\n",
            ],
        );
        check_edits(
            &DROP_TYPE_PARAMETERS,
            "type A[**P] = B[P]\n",
            &["type A = B[P]\n"],
        );
    }

    #[test]
    fn subscripts_are_no_type_parameters() {
        check_none(&DROP_TYPE_PARAMETERS, "def f(x): return x[T]\n");
    }
}
