use std::collections::BTreeMap;

use crate::{
    analysis::dependents::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{edit::EditSet, gain::gains, unwrap::keep_part},
    syntax::{
        AnyNodeRef, Ranged,
        ast::{Expr, ExprCall, ExprContext},
        rows::ItemId,
    },
    torch::names::Torch,
};

pass! {
    /// Removes parts of a PyTorch module, and lets what they are called with take the place of
    /// their results.
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

/// An attribute of the modules: where it is made, and the calls of it.
#[derive(Default)]
struct Part<'a> {
    made: Vec<ItemId>,
    calls: Vec<&'a ExprCall>,
    /// How often it is used otherwise.
    other: usize,
    /// Whether it gives back what has the shape of what it is given.
    keeps_shape: bool,
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let statements = Statements::of(cx.program);
    let mut parts: BTreeMap<&str, Part<'_>> = BTreeMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let AnyNodeRef::ExprAttribute(it) = node.node else {
            continue;
        };
        if !it.value.is_name_expr() || torch.path(&it.value).is_some() {
            continue;
        }
        let part = parts.entry(it.attr.as_str()).or_default();
        match tree.ancestors(index as u32).next() {
            Some(AnyNodeRef::StmtAssign(assign)) if it.ctx == ExprContext::Store => {
                let is_made = matches!(&*assign.value, Expr::Call(_)) && assign.targets.len() == 1;
                match statements.place(assign.range).filter(|_| is_made) {
                    Some(place) => part.made.push(place),
                    None => part.other += 1,
                }
                part.keeps_shape = keeps_shape(&torch, &assign.value);
            }
            Some(AnyNodeRef::ExprCall(call)) if call.func.range() == it.range => {
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
                .filter(|it| !it.is_starred_expr())?;
            edits.extend(&keep_part(cx.program, call.range, first)?);
            Some(())
        });
        if passed_on.is_some() && gains(cx.program, &edits) {
            let prior = if part.keeps_shape {
                Prior::Likely
            } else {
                Prior::Even
            };
            out.propose(edits, prior, format!("module `{name}`"));
        }
    }
}

/// Whether a value is a layer that keeps the shape of what it is given.
fn keeps_shape(torch: &Torch<'_>, value: &Expr) -> bool {
    let Expr::Call(call) = value else {
        return false;
    };
    let Some(path) = torch.path(&call.func) else {
        return false;
    };
    let name = path.rsplit('.').next().unwrap_or_default();
    path.starts_with("torch.nn.")
        && (["Norm", "Drop"].iter().any(|it| name.contains(it))
            || name.ends_with("LU")
            || matches!(
                name,
                "Identity" | "Sigmoid" | "Tanh" | "Softmax" | "Hardswish" | "Mish"
            ))
}

#[cfg(test)]
mod tests {
    use super::DROP_SUBMODULES;
    use crate::testing::{check_all, check_none};

    #[test]
    fn nested_calls_go_together() {
        check_all(
            &DROP_SUBMODULES,
            "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        self.a = A(1)\n        self.b = torch.nn.ReLU()\n    def forward(self, x):\n        return self.b(self.a(x + 1, 2))\n",
            "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        pass\n    def forward(self, x):\n        return x + 1\n",
        );
    }

    #[test]
    fn parts_of_other_use_stay() {
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
