use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::{as_primary, tuple},
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, ExprCall},
    },
    torch::names::Torch,
};

pass! {
    /// Calls a function or module directly instead of through PyTorch, and reads a data set without
    /// a loader.
    ///
    /// ```python before
    /// import torch
    /// from functools import partial
    /// from torch.utils.checkpoint import checkpoint
    /// from torch.utils.data import DataLoader, TensorDataset
    /// y = checkpoint(f, x, use_reentrant=False)
    /// z = partial(checkpoint, g, use_reentrant=False)(y)
    /// for a, b in DataLoader(TensorDataset(y, z), batch_size=4):
    ///     f(a)
    /// ```
    /// ```python after
    /// import torch
    /// from functools import partial
    /// from torch.utils.checkpoint import checkpoint
    /// from torch.utils.data import DataLoader, TensorDataset
    /// y = f(x)
    /// z = checkpoint(g, y, use_reentrant=False)
    /// for a, b in [(y, z)]:
    ///     f(a)
    /// ```
    pub(crate) static UNWRAP_CALLS = Pass { stage: Stage::Shape, propose };
}

/// Arguments of `torch.utils.checkpoint.checkpoint` that it does not pass on.
const CHECKPOINT: &[&str] = &[
    "use_reentrant",
    "preserve_rng_state",
    "context_fn",
    "determinism_check",
    "debug",
    "early_stop",
];

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(text) = unwrapped(cx.program, &torch, call) else {
            continue;
        };
        let edits = EditSet::one(Edit::replace(call.range, text));
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("`{}` called directly", cx.program.excerpt(call.range)),
            );
            out.next_group();
        }
    }
}

/// A call without the code around it.
fn unwrapped(program: &Program, torch: &Torch<'_>, call: &ExprCall) -> Option<String> {
    let text = |expr: &Expr| program.slice(expr.range());
    if let Expr::Call(inner) = &*call.func
        && torch.path(&inner.func).as_deref() == Some("functools.partial")
    {
        let (called, given) = inner.arguments.args.split_first()?;
        let mut arguments: Vec<&str> = given.iter().chain(&call.arguments.args).map(text).collect();
        let keywords = inner
            .arguments
            .keywords
            .iter()
            .chain(&call.arguments.keywords);
        arguments.extend(keywords.map(|keyword| program.slice(keyword.range)));
        return Some(format!(
            "{}({})",
            as_primary(called, text(called)),
            arguments.join(", ")
        ));
    }
    let path = torch.path(&call.func)?;
    let (first, rest) = call.arguments.args.split_first()?;
    match path.as_str() {
        "torch.utils.checkpoint.checkpoint" => {
            let mut arguments: Vec<&str> = rest.iter().map(text).collect();
            let own = |name: &str| CHECKPOINT.contains(&name);
            let others = call.arguments.keywords.iter();
            let others =
                others.filter(|keyword| keyword.arg.as_ref().is_none_or(|name| !own(name)));
            arguments.extend(others.map(|keyword| program.slice(keyword.range)));
            Some(format!(
                "{}({})",
                as_primary(first, text(first)),
                arguments.join(", ")
            ))
        }
        "torch.func.functional_call" | "torch.nn.utils.stateless.functional_call" => {
            let arguments = match rest.get(1)? {
                Expr::Tuple(it) => it.elts.iter().map(text).collect::<Vec<_>>().join(", "),
                other => text(other).to_owned(),
            };
            Some(format!("{}({arguments})", as_primary(first, text(first))))
        }
        "torch.utils.data.DataLoader" => Some(match first {
            // The data set as a whole is a batch.
            Expr::Call(set)
                if torch.path(&set.func).as_deref() == Some("torch.utils.data.TensorDataset") =>
            {
                let row: Vec<&str> = set.arguments.args.iter().map(text).collect();
                format!("[{}]", tuple(&row))
            }
            other => text(other).to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::UNWRAP_CALLS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_callee_gets_its_own_arguments() {
        check_edits(
            &UNWRAP_CALLS,
            "import torch.utils.checkpoint as c\nc.checkpoint(lambda x: x, y, use_reentrant=False, k=1)\n",
            &["import torch.utils.checkpoint as c\n(lambda x: x)(y, k=1)\n"],
        );
        check_edits(
            &UNWRAP_CALLS,
            "import torch\ntorch.func.functional_call(model, parameters, (x, y))\n",
            &["import torch\nmodel(x, y)\n"],
        );
        check_edits(
            &UNWRAP_CALLS,
            "import torch\nfor x in torch.utils.data.DataLoader(rows, 4, shuffle=True):\n    pass\n",
            &["import torch\nfor x in rows:\n    pass\n"],
        );
    }

    #[test]
    fn other_calls_stay() {
        check_none(
            &UNWRAP_CALLS,
            "from functools import partial\npartial(f, 1)(2)\n",
        );
        check_none(
            &UNWRAP_CALLS,
            "import torch\ncheckpoint(f, x)\npartial(f, 1)\n",
        );
    }
}
