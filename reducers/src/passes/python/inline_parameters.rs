use std::collections::BTreeMap;

use crate::{
    analysis::calls::{Calls, Movable, class_around, formatted_strings, given},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::{Places, put},
        edit::EditSet,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{self, Expr},
        scope::{BindingKind, Variable},
    },
};

pass! {
    /// Replaces a parameter with its value if every call passes the same one.
    ///
    /// ```python before
    /// def f(a, b=2):
    ///     return g(a, b)
    /// f(1)
    /// ```
    /// ```python after
    /// def f():
    ///     return g(1, 2)
    /// f()
    /// ```
    pub(crate) static INLINE_PARAMETERS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tree = program.tree();
    let calls = Calls::of(tree);
    let places = Places::of(program);
    let movable = Movable::of(program, tree);
    let strings = formatted_strings(tree);
    let variables: BTreeMap<TextSize, &Variable> = program
        .scopes()
        .variables
        .iter()
        .filter_map(|variable| match variable.bindings.as_slice() {
            [only] if only.kind == BindingKind::Parameter => Some((only.range.start(), variable)),
            _ => None,
        })
        .collect();
    for node in tree.nodes.iter().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let class = class_around(tree, node.parent);
        let calls = calls.of_function(def, class);
        let receiver = usize::from(class.is_some());
        for (position, parameter) in def
            .parameters
            .iter_non_variadic_params()
            .enumerate()
            .skip(receiver)
        {
            let name = parameter.name();
            let Some(variable) = variables
                .get(&name.start())
                .filter(|variable| !variable.uses.is_empty())
            else {
                continue;
            };
            let argument = common(program, parameter, &calls, position - receiver);
            let Some(value) = argument.filter(|value| movable.allows(value, variable.uses.len()))
            else {
                continue;
            };
            let Some(place) = places.parameter(name.start()) else {
                continue;
            };
            let mut edits = EditSet::removal(place);
            places.drop_arguments(&calls, name, position - receiver, &mut edits);
            let uses: Vec<TextRange> = variable.uses.iter().map(|usage| usage.range).collect();
            let fits = put(program, &strings, value, uses, &mut edits).is_some();
            if fits && cx.scales.lightens(&edits) {
                let note = format!(
                    "parameter `{name}` of {} by `{}`",
                    def.name,
                    program.excerpt(value.range())
                );
                out.propose(edits, Prior::Even, note);
            }
        }
    }
}

/// The value that all calls pass for a parameter.
fn common<'a>(
    program: &Program,
    parameter: &'a ast::ParameterWithDefault,
    calls: &[&'a ast::ExprCall],
    position: usize,
) -> Option<&'a Expr> {
    let mut values = calls
        .iter()
        .map(|call| given(call, parameter.name(), position).argument())
        .map(|argument| match argument {
            Some((_, value)) => Some(value),
            None => parameter.default.as_deref(),
        });
    let Some(first) = values.next() else {
        return parameter.default.as_deref();
    };
    let first = first?;
    let text = program.slice(first.range());
    values
        .all(|value| value.is_some_and(|value| program.slice(value.range()) == text))
        .then_some(first)
}

#[cfg(test)]
mod tests {
    use super::INLINE_PARAMETERS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn what_a_class_asks_of_its_base_is_another_call() {
        check_edits(
            &INLINE_PARAMETERS,
            "class A(B):\n    def __init__(self, n):\n        super().__init__()\n        f(n + 1)\nA(9)\n",
            &[
                "class A(B):\n    def __init__(self):\n        super().__init__()\n        f(9 + 1)\nA()\n",
            ],
        );
    }

    #[test]
    fn values_move_to_where_they_are_used() {
        check_edits(
            &INLINE_PARAMETERS,
            "def f(a, b):\n    return a.c(a, b)\nf('x' 'y', d + 1)\n",
            &[
                "def f(b):\n    return 'x' 'y'.c('x' 'y', b)\nf(d + 1)\n",
                "def f(a):\n    return a.c(a, d + 1)\nf('x' 'y')\n",
            ],
        );
    }

    #[test]
    fn methods_and_constructors() {
        check_all(
            &INLINE_PARAMETERS,
            "class A:\n    def __init__(self, x): self.x = x\n    def m(self, y): return y\nA(1).m(y=B)\nA(1)\n",
            "class A:\n    def __init__(self): self.x = 1\n    def m(self): return B\nA().m()\nA()\n",
        );
    }

    #[test]
    fn values_that_differ_or_mean_something_else_there_stay() {
        check_none(
            &INLINE_PARAMETERS,
            "def f(a, b, c): print(a, b, b, f'{c}')\ndef g(x):\n    f(x, h(), 'c')\n    f(x, h(), 'c')\n",
        );
    }
}
