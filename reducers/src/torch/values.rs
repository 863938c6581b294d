//! Substitutes for recorded PyTorch values, for places where their numbers or gradients must not
//! matter. Called by the passes and slices that put recorded values into programs.

use crate::{
    rewrite::edit::{Edit, EditSet},
    syntax::{AnyNodeRef, Program, Ranged, ast::ExprCall},
    torch::names::{Torch, keyword, removed_argument},
    trace::value::Expression,
};

/// A value whose random tensors are tensors of ones: the same each time, and for any seed.
pub(crate) fn with_ones(program: &Program, value: &Expression) -> Expression {
    let Some(torch) = Torch::of(program, program.tree()) else {
        return value.clone();
    };
    changed(value, |_, call| {
        let path = torch.path(&call.func)?;
        let name = call.func.as_attribute_expr()?.attr.range();
        let is_random = matches!(path.as_str(), "torch.rand" | "torch.randn");
        is_random.then(|| EditSet::one(Edit::replace(name, "ones")))
    })
}

/// A value whose tensors have no gradients.
pub(crate) fn without_gradients(value: &Expression) -> Expression {
    changed(value, |expression, call| {
        let argument = keyword(call, "requires_grad")?;
        removed_argument(expression, argument.range())
    })
}

/// An expression with its calls edited.
fn changed(
    value: &Expression,
    edit: impl Fn(&Program, &ExprCall) -> Option<EditSet>,
) -> Expression {
    let Some(expression) = value.program() else {
        return value.clone();
    };
    let mut edits = EditSet::default();
    for node in &expression.tree().nodes {
        if let AnyNodeRef::ExprCall(call) = node.node
            && let Some(edit) = edit(expression, call)
        {
            edits.extend(&edit);
        }
    }
    let text = edits.apply(expression);
    text.map_or_else(|_| value.clone(), Expression::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_and_gradients_go() {
        let program = Program::parse("import torch as t\nfrom torch import nn\n").unwrap();
        let of = |text: &str| Expression::from(text.to_owned());
        let value = of("[t.rand(2), nn.rand(3), t.randn(4, requires_grad=True).clone()]");
        let ones = with_ones(&program, &value);
        assert_eq!(
            ones.text(),
            "[t.ones(2), nn.rand(3), t.ones(4, requires_grad=True).clone()]"
        );
        assert_eq!(
            without_gradients(&ones).text(),
            "[t.ones(2), nn.rand(3), t.ones(4).clone()]"
        );
        let plain = of("'torch.rand(requires_grad=True)'");
        assert_eq!(without_gradients(&plain), plain);
        assert_eq!(
            with_ones(&Program::parse("t = 1\n").unwrap(), &value),
            value
        );
    }
}
