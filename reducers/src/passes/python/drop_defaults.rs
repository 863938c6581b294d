use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Ranged, TokenKind,
        ast::{ParameterWithDefault, Parameters},
    },
};

pass! {
    /// Removes defaults of parameters.
    ///
    /// ```python before
    /// def f(a=1, *, b=2): ...
    /// ```
    /// ```python after
    /// def f(a, *, b): ...
    /// ```
    pub(crate) static DROP_DEFAULTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for node in cx.program.tree().nodes.iter().rev() {
        if let AnyNodeRef::Parameters(parameters) = node.node {
            drop(cx, parameters, out);
        }
    }
}

fn drop(cx: &PassContext<'_>, parameters: &Parameters, out: &mut Proposals) {
    let edit = |parameter: &ParameterWithDefault| {
        let default = parameter.default.as_deref()?;
        cx.program
            .tail(TokenKind::Equal, default.range())
            .map(Edit::delete)
    };
    let mut propose = |edits: EditSet, parameter: &ParameterWithDefault| {
        let note = format!("default of `{}`", parameter.parameter.name);
        out.propose(edits, Prior::Even, note);
    };
    // A parameter without a default cannot follow one that has one: each default is removed with
    // those before it.
    let mut before = EditSet::default();
    for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
        if let Some(edit) = edit(parameter) {
            before.edit(edit);
            propose(before.clone(), parameter);
        }
    }
    for parameter in &parameters.kwonlyargs {
        if let Some(edit) = edit(parameter) {
            propose(EditSet::one(edit), parameter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_DEFAULTS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn defaults_go_from_the_left() {
        check_edits(
            &DROP_DEFAULTS,
            "def f(a, b=(1), /, c: int = 2, *, d=3, e=4): pass\n",
            &[
                "def f(a, b, /, c: int = 2, *, d=3, e=4): pass\n",
                "def f(a, b, /, c: int, *, d=3, e=4): pass\n",
                "def f(a, b=(1), /, c: int = 2, *, d, e=4): pass\n",
                "def f(a, b=(1), /, c: int = 2, *, d=3, e): pass\n",
            ],
        );
        check_edits(&DROP_DEFAULTS, "lambda a=1: a\n", &["lambda a: a\n"]);
    }

    #[test]
    fn arguments_have_no_defaults() {
        check_none(&DROP_DEFAULTS, "def f(a, *b, **c): g(d=1)\n");
    }
}
