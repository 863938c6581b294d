//! Tensors that a program makes without elements, or without the sizes that it writes out. Goes by
//! names alone. Called by the judge, which compares a candidate with the script.

use crate::{
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, ExprCall},
    },
    torch::names::Torch,
};

/// Functions that make tensors or arrays of data or sizes, which their arguments write out.
/// `torch.empty` is none: who writes it may well mean a tensor without elements.
const MAKERS: &[&str] = &[
    "torch.as_tensor",
    "torch.full",
    "torch.ones",
    "torch.rand",
    "torch.randint",
    "torch.randn",
    "torch.sparse_bsc_tensor",
    "torch.sparse_bsr_tensor",
    "torch.sparse_compressed_tensor",
    "torch.sparse_coo_tensor",
    "torch.sparse_csc_tensor",
    "torch.sparse_csr_tensor",
    "torch.tensor",
    "torch.zeros",
    "numpy.array",
    "numpy.ones",
    "numpy.zeros",
];

/// Whether a program writes out data or sizes of a tensor and leaves them empty. Such a tensor is a
/// special case to most functions, which then fail, or do not, for reasons of their own.
pub fn makes_empty_tensors(program: &Program) -> bool {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return false;
    };
    let makes_empty = |call: &ExprCall| {
        let path = torch.path(&call.func);
        let is_maker = path.is_some_and(|path| MAKERS.contains(&path.as_str()));
        let arguments = &call.arguments;
        let named = arguments.keywords.iter().map(|keyword| &keyword.value);
        is_maker && arguments.args.iter().chain(named).any(has_empty_display)
    };
    tree.nodes
        .iter()
        .any(|node| matches!(node.node, AnyNodeRef::ExprCall(call) if makes_empty(call)))
}

/// Whether an expression is a list or tuple without elements, or one that holds such a one.
fn has_empty_display(expr: &Expr) -> bool {
    let elements = match expr {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return false,
    };
    elements.is_empty() || elements.iter().any(has_empty_display)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let program = Program::parse(format!(
            "import torch as t, numpy as np\nx = {expression}\n"
        ))
        .unwrap();
        assert_eq!(makes_empty_tensors(&program), expected, "{expression}");
    }

    #[test]
    fn data_and_sizes_can_be_empty() {
        check("t.sparse_coo_tensor([[], []], [1.0])", true);
        check("t.sparse_coo_tensor(i, v, size=())", true);
        check("np.array([])", true);
        check("t.tensor([[1], [2]])", false);
        check("t.tensor(0)", false);
        check("t.empty(())", false);
        check("t.cat([])", false);
        check("f([])", false);
    }
}
