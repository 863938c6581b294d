use std::collections::BTreeMap;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{edit::EditSet, unwrap::keep_part},
    syntax::{
        AnyNodeRef, Ranged,
        ast::{Expr, ExprCall, ExprContext},
        rows::ItemId,
    },
    torch::names::Torch,
};

pass! {
    /// Removes submodules of a PyTorch module and replaces their calls with the first argument.
    ///
    /// ```python before
    /// from torch import nn
    /// class Block(nn.Module):
    ///     def __init__(self):
    ///         super().__init__()
    ///         self.norm = nn.LayerNorm(8)
    ///         self.linear = nn.Linear(8, 8)
    ///     def forward(self, x):
    ///         return x + self.linear(self.norm(x))
    /// ```
    /// ```python after
    /// from torch import nn
    /// class Block(nn.Module):
    ///     def __init__(self):
    ///         super().__init__()
    ///         self.linear = nn.Linear(8, 8)
    ///     def forward(self, x):
    ///         return x + self.linear(x)
    /// ```
    pub(crate) static DROP_SUBMODULES = Pass { stage: Stage::Shape, propose };
}

/// A submodule: where it is made, and its calls.
#[derive(Default)]
struct Submodule<'a> {
    made: Vec<ItemId>,
    calls: Vec<&'a ExprCall>,
    /// The number of its other uses.
    other: usize,
    /// Whether its output has the shape of its input.
    keeps_shape: bool,
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let statements = Statements::of(cx.program);
    let mut parts: BTreeMap<&str, Submodule<'_>> = BTreeMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let AnyNodeRef::ExprAttribute(attribute) = node.node else {
            continue;
        };
        if !attribute.value.is_name_expr() || torch.path(&attribute.value).is_some() {
            continue;
        }
        let part = parts.entry(attribute.attr.as_str()).or_default();
        match tree.ancestors(index as u32).next() {
            Some(AnyNodeRef::StmtAssign(assign)) if attribute.ctx == ExprContext::Store => {
                let is_made = matches!(&*assign.value, Expr::Call(_)) && assign.targets.len() == 1;
                match statements.place(assign.range).filter(|_| is_made) {
                    Some(place) => part.made.push(place),
                    None => part.other += 1,
                }
                part.keeps_shape = keeps_shape(&torch, &assign.value);
            }
            Some(AnyNodeRef::ExprCall(call)) if call.func.range() == attribute.range => {
                part.calls.push(call);
            }
            _ => part.other += 1,
        }
    }
    for (name, part) in parts.iter().rev() {
        if part.made.is_empty() || part.calls.is_empty() || part.other > 0 {
            continue;
        }
        let mut edits = EditSet::default();
        for place in &part.made {
            edits.remove(*place);
        }
        let passed_on = part.calls.iter().try_for_each(|call| {
            let first = call
                .arguments
                .args
                .first()
                .filter(|argument| !argument.is_starred_expr())?;
            edits.extend(&keep_part(cx.program, call.range, first)?);
            Some(())
        });
        if passed_on.is_some() && cx.scales.gains(&edits) {
            let prior = if part.keeps_shape {
                Prior::Likely
            } else {
                Prior::Even
            };
            out.propose(edits, prior, format!("module `{name}`"));
        }
    }
}

/// Activations of `torch.nn` that work on each element, and the layer that does nothing. PyTorch's
/// documentation gives the same shape for their input and output; `GLU` halves it.
const ELEMENTWISE: &[&str] = &[
    "CELU",
    "ELU",
    "GELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
];

/// Whether a value is a layer that keeps the shape of its input: an elementwise activation, a
/// normalization or a dropout. The rest of a model still fits when such a layer is removed, so its
/// removal is more likely to be accepted.
fn keeps_shape(torch: &Torch<'_>, value: &Expr) -> bool {
    let Expr::Call(call) = value else {
        return false;
    };
    let path = torch.path(&call.func);
    let layer = path
        .as_deref()
        .and_then(|path| path.strip_prefix("torch.nn."))
        .and_then(|path| path.rsplit('.').next());
    layer.is_some_and(|layer| {
        ELEMENTWISE.contains(&layer) || layer.contains("Norm") || layer.contains("Dropout")
    })
}

#[cfg(test)]
mod tests {
    use super::DROP_SUBMODULES;
    use crate::testing::{check_all, check_none};

    #[test]
    fn nested_calls_are_removed_together() {
        check_all(
            &DROP_SUBMODULES,
            "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        self.a = A(1)\n        self.b = torch.nn.ReLU()\n    def forward(self, x):\n        return self.b(self.a(x + 1, 2))\n",
            "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        pass\n    def forward(self, x):\n        return x + 1\n",
        );
    }

    #[test]
    fn submodules_with_other_uses_stay() {
        let head = "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        self.a = A(1)\n";
        check_none(
            &DROP_SUBMODULES,
            &format!("{head}    def f(self, x): return self.a(x) + self.a.weight\n"),
        );
        check_none(
            &DROP_SUBMODULES,
            &format!("{head}    def f(self, x): return self.a()\n"),
        );
        check_none(
            &DROP_SUBMODULES,
            "class M:\n    def __init__(self):\n        self.a = A(1)\n    def f(self, x): return self.a(x)\n",
        );
    }
}
