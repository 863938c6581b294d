use crate::syntax::TokenKind;

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Decorator, Expr, StmtFunctionDef},
    },
};

pass! {
    /// Removes annotations of parameters, return values and assigned variables.
    ///
    /// ```python before
    /// def f(x: int) -> str:
    ///     y: list[int] = []
    /// ```
    /// ```python after
    /// def f(x):
    ///     y = []
    /// ```
    pub(crate) static DROP_ANNOTATIONS = Pass { stage: Stage::Clutter, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let mut drop = |from: TextSize, annotation: TextRange, prior: Prior| {
        let range = TextRange::new(from, closing(cx.program, from, annotation));
        let short: String = cx.program.slice(annotation).chars().take(40).collect();
        out.propose(
            EditSet::one(Edit::delete(range)),
            prior,
            format!("annotation `{short}`"),
        );
    };
    let tree = cx.program.tree();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        match node.node {
            AnyNodeRef::StmtFunctionDef(def) => {
                if let Some(returns) = &def.returns {
                    drop(def.parameters.range.end(), returns.range(), prior_in(def));
                }
            }
            AnyNodeRef::Parameter(parameter) => {
                if let Some(annotation) = &parameter.annotation {
                    // A lambda's have no annotation.
                    let function =
                        tree.ancestors(index as u32)
                            .find_map(|ancestor| match ancestor {
                                AnyNodeRef::StmtFunctionDef(def) => Some(def),
                                _ => None,
                            });
                    let prior = function.map_or(Prior::Likely, prior_in);
                    drop(parameter.name.range.end(), annotation.range(), prior);
                }
            }
            AnyNodeRef::StmtAnnAssign(stmt) if stmt.value.is_some() => {
                let from =
                    closing_of_target(cx.program, stmt.target.end(), stmt.annotation.start());
                // A class may be made of its annotated fields.
                let in_class = node.parent.is_some_and(|parent| {
                    matches!(
                        tree.nodes[parent as usize].node,
                        AnyNodeRef::StmtClassDef(_)
                    )
                });
                let prior = if in_class {
                    Prior::Unlikely
                } else {
                    Prior::Likely
                };
                drop(from, stmt.annotation.range(), prior);
            }
            _ => {}
        }
    }
}

/// Decorators that read no annotations.
const BLIND: [&str; 3] = ["staticmethod", "classmethod", "property"];

/// A decorator may read annotations, as those that register an operator or a command do.
fn prior_in(def: &StmtFunctionDef) -> Prior {
    let is_blind = |decorator: &Decorator| matches!(&decorator.expression, Expr::Name(it) if BLIND.contains(&it.id.as_str()));
    if def.decorator_list.iter().all(is_blind) {
        Prior::Likely
    } else {
        Prior::Even
    }
}

/// Where an annotation ends, with the parentheses that open between `from` and the annotation.
fn closing(program: &Program, from: TextSize, annotation: TextRange) -> TextSize {
    let opened = program.tokens()[program.token_from(from)..program.token_from(annotation.start())]
        .iter()
        .filter(|token| token.kind() == TokenKind::Lpar)
        .count();
    program.tokens()[program.token_from(annotation.end())..]
        .iter()
        .filter(|token| token.kind() == TokenKind::Rpar)
        .take(opened)
        .last()
        .map_or(annotation.end(), Ranged::end)
}

/// Where a target ends: `(x): int` has a parenthesis before the colon.
fn closing_of_target(program: &Program, target: TextSize, annotation: TextSize) -> TextSize {
    program.tokens()[program.token_from(target)..program.token_from(annotation)]
        .iter()
        .find(|token| token.kind() == TokenKind::Colon)
        .map_or(target, Ranged::start)
}

#[cfg(test)]
mod tests {
    use super::DROP_ANNOTATIONS;
    use crate::{
        pass::Prior,
        syntax::Program,
        testing::{check_all, check_none},
    };

    #[test]
    fn every_annotation_with_a_value_behind_it_goes() {
        check_all(
            &DROP_ANNOTATIONS,
            "class A:\n    x: int = 1\n    async def f(self, a: 'A' = 1, *b: (int), c: int, **d: str) -> (int):\n        pass\n(y): int = 2\n",
            "class A:\n    x = 1\n    async def f(self, a = 1, *b, c, **d):\n        pass\n(y) = 2\n",
        );
    }

    #[test]
    fn a_decorator_may_read_them() {
        let program =
            Program::parse("@op\ndef f(x: int): pass\n@property\ndef g(x: int): pass\n").unwrap();
        let priors: Vec<Prior> = DROP_ANNOTATIONS
            .proposals(&program)
            .iter()
            .map(|proposal| proposal.prior)
            .collect();
        assert_eq!(priors, [Prior::Likely, Prior::Even]);
    }

    #[test]
    fn a_bare_annotation_is_a_statement_of_its_own() {
        check_none(
            &DROP_ANNOTATIONS,
            "class A:\n    x: int\nlambda x: x\n{1: 2}\n",
        );
    }
}
