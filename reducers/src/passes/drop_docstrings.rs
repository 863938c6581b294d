use crate::{
    closure::Statements,
    edit::EditSet,
    pass::{Cx, Prior, Proposals, Stage, pass},
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

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    let bodies = tree.nodes.iter().rev().filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(def) => Some((def.body.as_slice(), def.name.as_str())),
        AnyNodeRef::StmtClassDef(def) => Some((def.body.as_slice(), def.name.as_str())),
        _ => None,
    });
    let is_read =
        tree.nodes.iter().any(|node| matches!(node.node, AnyNodeRef::ExprName(it) if it.id == "__doc__"));
    for (body, owner) in bodies.chain([(cx.program.body(), "the module")]) {
        if let Some(Stmt::Expr(stmt)) = body.first()
            && let Expr::StringLiteral(_) = &*stmt.value
            && let Some(place) = statements.place(stmt.range)
            && (body.len() > 1 || cx.program.slice(stmt.range).len() > "pass".len())
        {
            let edits = EditSet::removal(place.list, place.item);
            if is_read && owner == "the module" {
                out.next_group();
                out.propose(edits, Prior::Unlikely, "the docstring that the module reads");
            } else {
                out.propose(edits, Prior::Certain, format!("docstring of {owner}"));
            }
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
    fn what_the_module_reads_may_be_needed() {
        let program = Program::parse("'''Does.'''\ndef f():\n    'Why.'\n    return __doc__\n").unwrap();
        let priors: Vec<Prior> = DROP_DOCSTRINGS.proposals(&program).iter().map(|it| it.prior).collect();
        assert_eq!(priors, [Prior::Certain, Prior::Unlikely]);
    }

    #[test]
    fn other_strings_stay() {
        check_none(&DROP_DOCSTRINGS, "def f():\n    x = 1\n    'not a docstring'\n    f'{x}'\n");
    }
}
