use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef,
        ast::{Expr, Stmt},
    },
};

pass! {
    /// Removes docstrings.
    ///
    /// ```python before
    /// def f(x):
    ///     """Doubles."""
    ///     return 2 * x
    /// ```
    /// ```python after
    /// def f(x):
    ///     return 2 * x
    /// ```
    pub(crate) static DROP_DOCSTRINGS = Pass { stage: Stage::Clutter, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    let bodies = tree.nodes.iter().rev().filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(def) => Some((def.body.as_slice(), Some(&def.name))),
        AnyNodeRef::StmtClassDef(def) => Some((def.body.as_slice(), Some(&def.name))),
        _ => None,
    });
    let reads = |is: fn(AnyNodeRef<'_>) -> bool| tree.nodes.iter().any(|node| is(node.node));
    let of_objects = reads(|node| {
        node.as_expr_attribute()
            .is_some_and(|attribute| attribute.attr.as_str() == "__doc__")
    });
    let of_module = reads(|node| node.as_expr_name().is_some_and(|node| node.id == "__doc__"));
    for (body, owner) in bodies.chain([(cx.program.body(), None)]) {
        if let Some(Stmt::Expr(stmt)) = body.first()
            && let Expr::StringLiteral(_) = &*stmt.value
            && let Some(place) = statements.place(stmt.range)
            && (body.len() > 1 || cx.program.slice(stmt.range).len() > "pass".len())
        {
            let edits = EditSet::removal(place);
            let is_read = of_objects || (of_module && owner.is_none());
            let prior = if is_read {
                Prior::Unlikely
            } else {
                Prior::Certain
            };
            let owner = owner.map_or("the module", |owner| owner.as_str());
            out.propose(edits, prior, format!("docstring of {owner}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_DOCSTRINGS;
    use crate::{
        pass::Prior,
        syntax::Program,
        testing::{check_all, check_none},
    };

    #[test]
    fn a_body_of_a_docstring_alone_becomes_pass() {
        check_all(
            &DROP_DOCSTRINGS,
            "'''Module.'''\nclass E(Exception):\n    'Why.'\ndef f(): 'doc'; return 1\n",
            "class E(Exception):\n    pass\ndef f(): return 1\n",
        );
    }

    #[test]
    fn what_is_read_may_be_needed() {
        let priors_of = |text: &str| -> Vec<Prior> {
            let program = Program::parse(text).unwrap();
            DROP_DOCSTRINGS
                .proposals(&program)
                .iter()
                .map(|proposal| proposal.prior)
                .collect()
        };
        let module = "'''Does.'''\ndef f():\n    'Why.'\n    return __doc__\n";
        assert_eq!(priors_of(module), [Prior::Certain, Prior::Unlikely]);
        let function = "def f():\n    'Why.'\n    return f.__doc__\n";
        assert_eq!(priors_of(function), [Prior::Unlikely]);
    }

    #[test]
    fn other_strings_stay() {
        check_none(
            &DROP_DOCSTRINGS,
            "def f():\n    x = 1\n    'not a docstring'\n    f'{x}'\n",
        );
    }
}
