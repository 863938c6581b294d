use std::cmp::Reverse;

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef,
        ast::{Expr, ExprCall},
    },
    torch::{
        dimensions::whole_number,
        names::{Torch, keyword},
    },
};

pass! {
    /// Creates a tensor of fixed sizes directly in its final shape.
    ///
    /// Random numbers become others, and fixed ones become ones: a result that fails by chance is
    /// none.
    ///
    /// ```python before
    /// import torch
    /// x = torch.arange(24).reshape(2, 12)
    /// y = torch.randn(8, 4, 2).transpose(1, 2)
    /// ```
    /// ```python after
    /// import torch
    /// x = torch.ones(2, 12)
    /// y = torch.randn(8, 2, 4)
    /// ```
    pub(crate) static PLAIN_TENSORS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let mut found: Vec<(&ExprCall, Made)> = Vec::new();
    for node in &tree.nodes {
        if let AnyNodeRef::ExprCall(call) = node.node
            && let Some(made) = shape(&torch, call).filter(|shape_made| shape_made.steps > 0)
        {
            found.push((call, made));
        }
    }
    // The latest first, but all steps of one chain before some of them.
    found.sort_by_key(|(call, _)| Reverse(call.range.start()));
    for (call, made) in found {
        let sizes: Vec<String> = made.sizes.iter().map(u64::to_string).collect();
        let edits = EditSet::one(Edit::replace(
            call.range,
            format!("{}({})", made.maker, sizes.join(", ")),
        ));
        if cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("`{}` created directly", cx.program.excerpt(call.range)),
            );
        }
    }
}

/// The tensor that an expression makes.
struct Made {
    /// The function that makes such a tensor, as this program names it.
    maker: String,
    sizes: Vec<u64>,
    /// The number of calls that one call of the maker saves.
    steps: u32,
}

/// The shape that a call gives a tensor, if all its sizes are written out.
fn shape(torch: &Torch<'_>, call: &ExprCall) -> Option<Made> {
    if let Some(path) = torch.path(&call.func) {
        let name = path.strip_prefix("torch.")?;
        let module = name_of(&call.func.as_attribute_expr()?.value)?;
        let mut is_random = matches!(name, "randn" | "rand" | "empty" | "randint");
        let arguments = &call.arguments.args;
        let (sizes, steps) = match name {
            "randn" | "rand" | "zeros" | "ones" | "empty" => (sizes(arguments)?, 0),
            "arange" => (sizes(arguments).filter(|sizes| sizes.len() == 1)?, 1),
            "randint" => (sizes(std::slice::from_ref(arguments.last()?))?, 1),
            "full" => (sizes(std::slice::from_ref(arguments.first()?))?, 1),
            "from_numpy" | "tensor" | "as_tensor" => {
                let (sizes, is_drawn) = of_array(torch, arguments.first()?)?;
                is_random = is_drawn;
                (sizes, 1)
            }
            _ => return None,
        };
        // The maker's tensor has the default type and device.
        let is_plain = ["dtype", "device"]
            .iter()
            .all(|name| keyword(call, name).is_none());
        let function = if is_random { "randn" } else { "ones" };
        return is_plain.then(|| Made {
            maker: format!("{module}.{function}"),
            sizes,
            steps,
        });
    }
    let Expr::Attribute(method) = &*call.func else {
        return None;
    };
    let Expr::Call(inner) = &*method.value else {
        return None;
    };
    let mut made = shape(torch, inner)?;
    let arguments = &call.arguments.args;
    match method.attr.as_str() {
        "view" | "reshape" | "expand" => made.sizes = sizes(arguments)?,
        "transpose" => {
            let [one, other] = axes(arguments, made.sizes.len())?.try_into().ok()?;
            made.sizes.swap(one, other);
        }
        "permute" => {
            let order = axes(arguments, made.sizes.len())?;
            if order.len() != made.sizes.len() {
                return None;
            }
            made.sizes = order.iter().map(|&axis| made.sizes[axis]).collect();
        }
        "contiguous" | "float" | "clone" | "detach" if arguments.is_empty() => {}
        _ => return None,
    }
    made.steps += 1;
    call.arguments.keywords.is_empty().then_some(made)
}

/// The sizes of `numpy.random.rand(2, 3)`, and whether its numbers are random.
fn of_array(torch: &Torch<'_>, array: &Expr) -> Option<(Vec<u64>, bool)> {
    let Expr::Call(call) = array else { return None };
    let path = torch.path(&call.func)?;
    let is_random = match path.as_str() {
        "numpy.random.rand" | "numpy.random.randn" => true,
        "numpy.zeros" | "numpy.ones" => false,
        _ => return None,
    };
    Some((sizes(&call.arguments.args)?, is_random))
}

/// Sizes that are written out, as arguments of their own or in one tuple or list.
fn sizes(arguments: &[Expr]) -> Option<Vec<u64>> {
    let elements = match arguments {
        [Expr::Tuple(it)] => &it.elts,
        [Expr::List(it)] => &it.elts,
        _ => arguments,
    };
    let size = |expr| whole_number(expr).map(|(number, _)| number);
    let sizes: Option<Vec<u64>> = elements.iter().map(size).collect();
    sizes.filter(|sizes| !sizes.is_empty())
}

/// The axes that arguments name.
fn axes(arguments: &[Expr], count: usize) -> Option<Vec<usize>> {
    let axis = |expr: &Expr| {
        let (number, is_negative) = match expr {
            Expr::UnaryOp(minus) if minus.op.as_str() == "-" => (&*minus.operand, true),
            expr => (expr, false),
        };
        let number = usize::try_from(whole_number(number)?.0).ok()?;
        let axis = if is_negative {
            count.checked_sub(number)?
        } else {
            number
        };
        (axis < count).then_some(axis)
    };
    arguments.iter().map(axis).collect()
}

/// The text of a name.
fn name_of(expr: &Expr) -> Option<&str> {
    expr.as_name_expr().map(|name| name.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::PLAIN_TENSORS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn all_steps_become_one() {
        check_edits(
            &PLAIN_TENSORS,
            "import torch as t\nf(t.zeros((2, 3, 4)).permute(-1, 0, 1).contiguous(), t.randint(0, 9, (5, 6)))\n",
            &[
                "import torch as t\nf(t.zeros((2, 3, 4)).permute(-1, 0, 1).contiguous(), t.randn(5, 6))\n",
                "import torch as t\nf(t.ones(4, 2, 3), t.randint(0, 9, (5, 6)))\n",
                "import torch as t\nf(t.ones(4, 2, 3).contiguous(), t.randint(0, 9, (5, 6)))\n",
            ],
        );
    }

    #[test]
    fn arrays_are_tensors() {
        check_edits(
            &PLAIN_TENSORS,
            "import torch, numpy as np\nx = torch.from_numpy(np.random.rand(2, 3)).float()\n",
            &[
                "import torch, numpy as np\nx = torch.randn(2, 3)\n",
                "import torch, numpy as np\nx = torch.randn(2, 3).float()\n",
            ],
        );
    }

    #[test]
    fn plain_and_unknown_tensors_stay() {
        check_none(
            &PLAIN_TENSORS,
            "import torch\nx = torch.randn(2, 3)\ny = torch.zeros(2, n).view(2)\n",
        );
        check_none(
            &PLAIN_TENSORS,
            "import torch\nx = torch.zeros(4, dtype=torch.int64).view(2, -1)\n",
        );
        check_none(
            &PLAIN_TENSORS,
            "import numpy\nx = numpy.arange(4).reshape(2, 2)\n",
        );
    }
}
